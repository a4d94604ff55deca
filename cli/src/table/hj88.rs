//! The tables of Ho & Johnsson 1988, and its figure 6 in numbers.

use super::{Cell, Definition};
use hypercoll::address::is_cyclic;
use hypercoll::algorithm::{registry, Parameters, PortModel, Shape};
use hypercoll::collective::{Call, Collective};
use hypercoll::topology::sbnt::{Sbnt, Variant};
use hypercoll::topology::Tree;

pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "subtree-sizes",
        caption: "Sizes of the subtrees of the root, SBT and SBnT; A cyclic nodes in B necklaces (Ho & Johnsson 1988, table 1)",
        // Every node of the cube is asked for its index.
        largest: 26,
        columns: &["n", "A", "B", "SBT max", "SBnT max", "SBnT min", "(N-1)/n", "factor"],
        rows: |max_dim| (2..=max_dim).map(subtree_sizes).collect(),
    },
    Definition {
        name: "sbnt-complexities",
        caption: "Communication along the SBnT with blocks of M elements: transfer in M tc, and start-ups (Ho & Johnsson 1988, \
                  table 2; one-to-all, 1 port: round by round; all ports: for the SBG and n | M; SBnTs alone need 2n-2 start-ups \
                  for 2n-1)",
        // The formula of the SBnT for one port goes through all edges.
        largest: 16,
        columns: &["n", "operation", "ports", "formula", "transfer / (M tc)", "start-ups"],
        rows: |max_dim| (2..=max_dim).flat_map(sbnt_complexities).collect(),
    },
    Definition {
        name: "cyclic-ratios",
        caption: "Cyclic nodes among the nodes of a level of subtree 0 of the SBnT (Ho & Johnsson 1988, figure 6; bound: theorem 3)",
        largest: 22,
        columns: &["n", "level", "nodes", "cyclic", "ratio", "bound"],
        rows: |max_dim| (2..=max_dim).flat_map(cyclic_ratios).collect(),
    },
];

/// One row of table 1 of 1988, by asking every node of the cube.
fn subtree_sizes(n: u32) -> Vec<Cell> {
    let tree = Sbnt::new(n, Variant::MinRight);
    let (mut cyclic_nodes, mut cyclic_necklaces) = (0, 0);
    let (mut binomial, mut balanced) = (vec![0usize; n as usize], vec![0usize; n as usize]);
    for c in 0..1usize << n {
        let index = tree.index(c);
        if is_cyclic(c, n) {
            cyclic_nodes += 1;
            // One node of every necklace needs no rotation.
            cyclic_necklaces += usize::from(index == 0);
        }
        if c != 0 {
            binomial[c.trailing_zeros() as usize] += 1;
            balanced[index as usize] += 1;
        }
    }
    let largest = |sizes: &[usize]| sizes.iter().copied().fold(0, usize::max);
    let smallest = balanced.iter().copied().fold(usize::MAX, usize::min);
    let even = ((1usize << n) - 1) as f64 / f64::from(n);
    vec![
        Cell::Count(n as usize),
        Cell::Count(cyclic_nodes),
        Cell::Count(cyclic_necklaces),
        Cell::Count(largest(&binomial)),
        Cell::Count(largest(&balanced)),
        Cell::Count(smallest),
        Cell::Real(even),
        Cell::Real(largest(&balanced) as f64 / even),
    ]
}

/// Table 2 of 1988 at one dimension.
fn sbnt_complexities(n: u32) -> Vec<Vec<Cell>> {
    let (d, nodes) = (n as usize, (1usize << n) as f64);
    let others = nodes - 1.0;
    let dimension = f64::from(n);
    let call = Call::new(Collective::Scatter, 1 << n, 1);
    let shape = Shape::new(&call, &Parameters::new(PortModel::OnePort));
    let sbnt = registry::find(Collective::Scatter, "sbnt").expect("in the registry");
    let one_port = (sbnt.formula)(&shape);
    let rows = [
        ("one-to-all personalised", "1 port", "<= N (1 + O(log n / n))", one_port.elements, one_port.rounds),
        ("all-to-all broadcast", "1 port", "N - 1", others, 2 * d - 1),
        ("all-to-all personalised", "1 port", "n N/2", dimension * nodes / 2.0, 2 * d - 1),
        ("one-to-all personalised", "n ports", "(N-1)/n", others / dimension, d),
        ("all-to-all broadcast", "n ports", "(N-1)/n", others / dimension, d),
        ("all-to-all personalised", "n ports", "N/2", nodes / 2.0, d),
    ];
    let row = |(operation, ports, formula, transfer, start_ups)| {
        let texts = [operation, ports, formula].map(Cell::Text);
        let numbers = [Cell::Real(transfer), Cell::Count(start_ups)];
        std::iter::once(Cell::Count(d)).chain(texts).chain(numbers).collect()
    };
    rows.into_iter().map(row).collect()
}

/// Figure 6 of 1988 at one dimension: levels 1 to n-1 of subtree 0. Theorem 3 is read with ceilings.
fn cyclic_ratios(n: u32) -> Vec<Vec<Cell>> {
    let tree = Sbnt::new(n, Variant::MinRight);
    let (mut nodes, mut cyclic) = (vec![0usize; n as usize], vec![0usize; n as usize]);
    for (c, level) in tree.subtree(1) {
        nodes[level as usize] += 1;
        cyclic[level as usize] += usize::from(is_cyclic(c, n));
    }
    let row = |level: usize| {
        let (all, cyclic) = (nodes[level - 1], cyclic[level - 1]);
        let disjoint = (n as usize - level).div_ceil(2).max(level.div_ceil(2));
        let counts = [n as usize, level, all, cyclic].map(Cell::Count);
        counts.into_iter().chain([cyclic as f64 / all as f64, 1.0 / (1 + disjoint) as f64].map(Cell::Real)).collect()
    };
    (1..n as usize).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{output, rows};
    use serde_json::{json, Value};

    #[test]
    fn subtree_sizes_are_those_of_the_paper() {
        // Table 1 of Ho & Johnsson 1988, in full.
        let expected = "\
 n    A   B SBT(max) SBnT(max) SBnT(min)  (N-1)/n factor
 2    2   2        2         2         1     1.50   1.33
 3    2   2        4         3         2     2.33   1.29
 4    4   3        8         5         3     3.75   1.33
 5    2   2       16         7         6     6.20   1.13
 6   10   5       32        13         9    10.50   1.24
 7    2   2       64        19        18    18.14   1.05
 8   16   6      128        35        30    31.88   1.10
 9    8   4      256        59        56    56.78   1.04
10   34   9      512       107        99   102.30   1.05
11    2   2     1024       187       186   186.09   1.00
12   76  17     2048       351       335   341.25   1.03
13    2   2     4096       631       630   630.08   1.00
14  130  21     8192      1181      1161  1170.21   1.01
15   38  10    16384      2191      2182  2184.47   1.00
16  256  36    32768      4115      4080  4095.94   1.00
17    2   2    65536      7711      7710  7710.06   1.00
18  568  70   131072     14601     14532 14563.50   1.00
19    2   2   262144     27595     27594 27594.05   1.00
20 1036 111   524288     52487     52377 52428.75   1.00";
        let words = |text: &str| -> Vec<Vec<String>> {
            let lines = text.lines().skip(1);
            lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
        };
        let printed = output("subtree-sizes", None, false).expect("a table");
        assert_eq!(words(&printed)[1..], words(expected));
    }

    #[test]
    fn json_has_the_numbers_in_full() {
        let printed = output("subtree-sizes", Some(3), true).expect("a table");
        let table: Value = serde_json::from_str(&printed).expect("valid JSON");
        let columns = json!(["n", "A", "B", "SBT max", "SBnT max", "SBnT min", "(N-1)/n", "factor"]);
        assert_eq!(table["columns"], columns);
        let rows = json!([[2, 2, 2, 2, 2, 1, 1.5, 2.0 / 1.5], [3, 2, 2, 4, 3, 2, 7.0 / 3.0, 9.0 / 7.0]]);
        assert_eq!(table["rows"][0], rows[0]);
        assert_eq!(table["rows"][1].as_array().map(|row| &row[..7]), rows[1].as_array().map(|row| &row[..7]));
        assert!(table["rows"][1][7].as_f64().is_some_and(|factor| (factor - 9.0 / 7.0).abs() < 1e-15));
    }

    /// By definition, without the tree: of the necklaces of level l, each has one node in subtree 0, and those of less than n
    /// nodes are cyclic. So the ratio is the same from either end, 2/n at levels 2 and n-2 of an even n (corollary 10), zero
    /// for a prime n, and, as the paper conjectures, nowhere more than 2/n.
    #[test]
    fn cyclic_nodes_by_counting_necklaces() {
        let rows = rows("cyclic-ratios", 16);
        assert_eq!(rows.len(), (1..16).sum::<usize>());
        for row in &rows {
            let number = |column: usize| row[column].as_f64().expect("a number");
            let (n, level) = (number(0) as u32, number(1) as u32);
            assert!(number(4) <= 2.0 / f64::from(n) + 1e-12 && number(4) <= number(5) + 1e-12, "{row}");
            let mirrored = rows.iter().find(|other| other[0] == n && other[1] == n - level).expect("the other end");
            assert_eq!((&row[2], &row[3]), (&mirrored[2], &mirrored[3]));
            if n % 2 == 0 && level == 2 {
                assert_eq!(number(4), 2.0 / f64::from(n));
            }
            if [3, 5, 7, 11, 13].contains(&n) {
                assert_eq!(number(3), 0.0);
            }
            if n <= 12 {
                let rotate = |c: u32| (c >> 1) | (c & 1) << (n - 1);
                let turns = |c: u32| std::iter::successors(Some(c), move |&c| Some(rotate(c))).take(n as usize);
                let necklaces = (0..1u32 << n).filter(|&c| c.count_ones() == level && turns(c).min() == Some(c));
                let necklaces: Vec<u32> = necklaces.collect();
                let short = necklaces.iter().filter(|&&c| turns(c).skip(1).any(|other| other == c)).count();
                assert_eq!((number(2) as usize, number(3) as usize), (necklaces.len(), short), "{row}");
            }
        }
    }

    #[test]
    fn complexities_of_the_6_cube() {
        let rows: Vec<_> = rows("sbnt-complexities", 6).into_iter().filter(|row| row[0] == 6).collect();
        let cost = |operation: &str, ports: &str| {
            let row = rows.iter().find(|row| row[1] == operation && row[2] == ports).expect("a row");
            (row[4].as_f64().expect("a number"), row[5].as_u64().expect("a number"))
        };
        assert_eq!(cost("one-to-all personalised", "n ports"), (10.5, 6));
        assert_eq!(cost("all-to-all broadcast", "1 port"), (63.0, 11));
        assert_eq!(cost("all-to-all broadcast", "n ports"), (10.5, 6));
        assert_eq!(cost("all-to-all personalised", "1 port"), (192.0, 11));
        assert_eq!(cost("all-to-all personalised", "n ports"), (32.0, 6));
        let (transfer, start_ups) = cost("one-to-all personalised", "1 port");
        assert!(start_ups == 10 && (63.0..128.0).contains(&transfer), "{transfer}");
    }
}
