//! What the stages of the matrix products of Ho, Johnsson and Edelman 1991 take.

use super::{Cell, Definition};
use hypercoll::address::MAX_DIMENSION;
use hypercoll::algorithm::{registry, Algorithm, Parameters, PortModel, Shape};
use hypercoll::collective::{Call, Collective, MatrixProduct};

pub const DEFINITIONS: &[Definition] = &[
    Definition {
    name: "matrix-products",
    caption: "Stages of a product of P x P matrices on 2^n nodes, all ports; elements over P^2/N (Ho et al. 1991, theorems 1 and 2, section 4)",
    largest: MAX_DIMENSION,
    columns: &["n", "algorithm", "stage", "start-ups", "elements N/P^2", "blocks of A and B"],
    rows: |max_dim| (2..=max_dim).step_by(2).flat_map(stages).collect(),
    },
    Definition {
        name: "matrix-grids",
        caption: "Products of P x P matrices on each grid of N1 x N2 = 2^n nodes, all ports (Ho et al. 1991, section 4, names them; the \
                  walks are this library's)",
        // The formula of the block algorithm goes through all panels.
        largest: 16,
        columns: &["n", "N1", "N2", "algorithm", "start-ups", "elements N/P^2", "moved 1/P^2"],
        rows: |max_dim| (2..=max_dim).flat_map(grids).collect(),
    },
];

/// The grids with no fewer columns than rows: the others take the same.
fn grids(n: u32) -> Vec<Vec<Cell>> {
    let on_grid = |n1: u32| {
        let (grid_rows, grid_columns) = (1 << n1, 1 << (n - n1));
        // What N2 and the number of panels divide.
        let side = (n - n1) as usize * grid_columns;
        let product = MatrixProduct { grid_rows, grid_columns, ..MatrixProduct::square(1, side) };
        let call = Call { matrices: Some(product.into()), ..Call::new(Collective::MatrixMultiply, 1 << n, side) };
        let row = move |algorithm: &Algorithm| {
            let parameters = Parameters { symmetrized: algorithm.symmetrizes, ..Parameters::new(PortModel::AllPorts) };
            if (algorithm.suits)(&call, &parameters).is_err() {
                return None;
            }
            let cost = (algorithm.formula)(&Shape::new(&call, &parameters));
            let all = (side * side) as f64;
            let counts = [n as usize, grid_rows, grid_columns].map(Cell::Count);
            let name =
                NAMES.iter().find(|(name, _)| *name == algorithm.name).map_or(algorithm.name, |(_, printed)| printed);
            let times = [Cell::Count(cost.rounds), Cell::Real(cost.elements * (1u64 << n) as f64 / all)];
            let moved = Cell::Real(cost.moved / all);
            Some(counts.into_iter().chain([Cell::Text(name)]).chain(times).chain([moved]).collect())
        };
        registry::of(Collective::MatrixMultiply).filter_map(row).collect::<Vec<_>>()
    };
    (0..=n / 2).rev().flat_map(on_grid).collect()
}

/// The algorithms, here and in print.
const NAMES: [(&str, &str); 2] = [("dns", "DNS"), ("cannon", "Cannon")];

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
    use super::*;
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

    /// 16 nodes by hand. On 4 x 4 as by stages. On 2 x 8 nodes A has P/2 x P/8 elements a node and moves in all 7 steps, B has as many and
    /// moves in one of them, beside A; the keys have one bit in common to be aligned. On 1 x 16 nodes A moves in 15 steps, B in none.
    #[test]
    fn grids_by_hand() {
        let rows = rows("matrix-grids", 4);
        let of = |n2: usize, algorithm: &str| {
            let row = rows.iter().find(|row| row[0] == 4 && row[2] == n2 && row[3] == algorithm).expect("a row");
            [4, 5, 6].map(|column| row[column].as_f64().expect("a number"))
        };
        // Links crossed in the alignment on 4 x 4: each block one on average, of A and of B.
        assert_eq!(of(4, "DNS"), [5.0, 5.0, 8.0]);
        assert_eq!(of(4, "block"), [5.0, 2.5, 8.0]);
        assert_eq!(of(4, "Cannon"), [5.0, 2.5, 8.0]);
        assert_eq!(of(4, "broadcasts"), [2.0, 1.5, 6.0]);
        // A in 7 steps and half a link each in the alignment, B in 1 and half a link.
        assert_eq!(of(8, "DNS"), [8.0, 8.0, 9.0]);
        // In the first step a whole block of B, then thirds of A.
        assert_eq!(of(8, "broadcasts"), [3.0, 3.0, 8.0]);
        assert_eq!(of(16, "DNS"), [15.0, 15.0, 15.0]);
        assert_eq!(of(16, "block"), [15.0, 3.75, 15.0]);
        assert_eq!(of(16, "broadcasts"), [4.0, 3.75, 15.0]);
        assert!(rows.iter().all(|row| row[3] != "Cannon" || row[1] == row[2]));
    }
}
