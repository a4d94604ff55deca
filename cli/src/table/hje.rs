//! What the stages of the matrix products of Ho, Johnsson and Edelman 1991 take.

use super::{Cell, Definition};
use hypercoll::address::MAX_DIMENSION;

pub const DEFINITIONS: &[Definition] = &[Definition {
    name: "matrix-products",
    caption: "Stages of a product of P x P matrices on 2^n nodes, all ports; elements over P^2/N (Ho et al. 1991, theorems 1 and 2, section 4)",
    largest: MAX_DIMENSION,
    columns: &["n", "algorithm", "stage", "start-ups", "elements N/P^2", "blocks of A and B"],
    rows: |max_dim| (2..=max_dim).step_by(2).flat_map(stages).collect(),
}];

/// Alignment and multiplication of the three products whose storage is constant (a block here and one on its way, of A and of B), and
/// the all-to-all broadcasts, after which a node has sqrt(N) blocks of each.
fn stages(n: u32) -> Vec<Vec<Cell>> {
    let (half, others) = (n as usize / 2, (1usize << (n / 2)) - 1);
    let fraction = |whole: usize| Cell::Real(whole as f64 / half as f64);
    let mut rows = vec![
        ("DNS", "alignment", half, Cell::Real(half as f64), 4),
        ("DNS", "multiplication", others, Cell::Real(others as f64), 4),
        ("block", "alignment", half, Cell::Real(1.0), 4),
        ("block", "multiplication", others, fraction(others), 4),
        ("Cannon", "alignment", half, Cell::Real(1.0), 4),
        ("Cannon", "multiplication", others, fraction(others), 4),
        ("broadcasts", "broadcasts", half, fraction(others), 2 * (others + 1)),
    ];
    // Its rings are those of 2, 4, 16, 256 nodes.
    rows.retain(|(algorithm, ..)| *algorithm != "Cannon" || half.is_power_of_two());
    let row = |(algorithm, stage, start_ups, elements, blocks)| {
        let counts = [Cell::Count(start_ups), elements, Cell::Count(blocks)];
        [Cell::Count(n as usize), Cell::Text(algorithm), Cell::Text(stage)].into_iter().chain(counts).collect()
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use hypercoll::algorithm::{registry, Parameters, PortModel, Shape};
    use hypercoll::collective::{Call, Collective};
    use serde_json::json;

    #[test]
    fn by_hand() {
        // n = 4: a grid of 4 x 4, n' = 2.
        let expected = json!([
            [4, "DNS", "alignment", 2, 2.0, 4],
            [4, "DNS", "multiplication", 3, 3.0, 4],
            [4, "block", "alignment", 2, 1.0, 4],
            [4, "block", "multiplication", 3, 1.5, 4],
            [4, "Cannon", "alignment", 2, 1.0, 4],
            [4, "Cannon", "multiplication", 3, 1.5, 4],
            [4, "broadcasts", "broadcasts", 2, 1.5, 8]
        ]);
        assert_eq!(json!(rows("matrix-products", 5)[7..14]), expected);
    }

    /// The stages together are what the registry's formulas say, for a side that everything divides.
    #[test]
    fn stages_make_the_algorithms() {
        let rows = rows("matrix-products", 8);
        for n in [2u32, 4, 6, 8] {
            let side = 12 << (n / 2);
            let call = Call::new(Collective::MatrixMultiply, 1 << n, side);
            for (printed, name) in
                [("DNS", "dns"), ("block", "block"), ("Cannon", "cannon"), ("broadcasts", "broadcasts")]
            {
                if name == "cannon" && n == 6 {
                    continue;
                }
                let algorithm = registry::find(Collective::MatrixMultiply, name).expect(name);
                let ports = Parameters::new(PortModel::AllPorts);
                let symmetrized = algorithm.symmetrizes;
                let cost = (algorithm.formula)(&Shape::new(&call, &Parameters { symmetrized, ..ports }));
                let of_it = rows.iter().filter(|row| row[0] == n && row[1] == printed);
                let sum = |column: usize| of_it.clone().filter_map(|row| row[column].as_f64()).sum::<f64>();
                assert_eq!(sum(3), cost.rounds as f64, "{name} n = {n}");
                assert_eq!(sum(4) * ((side * side) >> n) as f64, cost.elements, "{name} n = {n}");
            }
        }
    }
}
