//! The table of Bertsekas et al. 1991.

use super::{Cell, Definition};
use hypercoll::address::MAX_DIMENSION;

pub const DEFINITIONS: &[Definition] = &[Definition {
    name: "bostt-optimal",
    caption: "Least steps and transmissions with packets of one step each, all ports (Bertsekas et al. 1991, table I)",
    largest: MAX_DIMENSION,
    columns: &["d", "problem", "time", "transmissions"],
    rows: |max_dim| (2..=max_dim).flat_map(optimal).collect(),
}];

fn optimal(d: u32) -> Vec<Vec<Cell>> {
    let (dimension, nodes) = (d as usize, 1usize << d);
    let even = (nodes - 1).div_ceil(dimension);
    let rows = [
        ("single node scatter", even, dimension * (nodes / 2)),
        ("multinode broadcast", even, nodes * (nodes - 1)),
        ("total exchange", nodes / 2, dimension * (nodes / 2) * nodes),
    ];
    let row = |(problem, time, transmissions)| {
        vec![Cell::Count(dimension), Cell::Text(problem), Cell::Count(time), Cell::Count(transmissions)]
    };
    rows.map(row).to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use hypercoll::algorithm::{registry, Parameters, PortModel, Shape};
    use hypercoll::collective::{Call, Collective};
    use serde_json::json;

    #[test]
    fn by_hand() {
        let rows = rows("bostt-optimal", 30);
        // d = 4: 15 packets over 4 links; every node is at distance 2 from another on average.
        let expected = json!([
            [4, "single node scatter", 4, 32],
            [4, "multinode broadcast", 4, 240],
            [4, "total exchange", 8, 512]
        ]);
        assert_eq!(json!(rows[6..9]), expected);
        // The largest number is 30 * 2^59, which is below 2^64.
        assert_eq!(rows[86], json!([30, "total exchange", 1u64 << 29, 30 * (1u64 << 59)]));
    }

    /// The table is that of the algorithms: a round is a step, and what is moved is the transmissions.
    #[test]
    fn is_what_the_algorithms_take() {
        let algorithms = [
            (Collective::Scatter, "balanced_tree"),
            (Collective::AllGather, "multinode_broadcast"),
            (Collective::AllToAll, "total_exchange"),
        ];
        let rows = rows("bostt-optimal", 8);
        for d in 2..=8usize {
            for (index, (collective, name)) in algorithms.into_iter().enumerate() {
                let algorithm = registry::find(collective, name).expect(name);
                let shape = Shape::new(&Call::new(collective, 1 << d, 1), &Parameters::new(PortModel::AllPorts));
                let cost = (algorithm.formula)(&shape);
                let row = &rows[3 * (d - 2) + index];
                assert_eq!((row[2].as_f64(), row[3].as_f64()), (Some(cost.elements), Some(cost.moved)), "{row} {name}");
            }
        }
    }
}
