//! The tables of Ho & Johnsson 1986.

use super::{Cell, Definition};
use hypercoll::address::MAX_DIMENSION;
use hypercoll::algorithm::{registry, Parameters, PortModel, Shape};
use hypercoll::collective::{Call, Collective};
use hypercoll::topology::sbnt::{Sbnt, Variant};

pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "propagation-delays",
        caption: "Steps until the last node has its first packet of every tree, broadcast (Ho & Johnsson 1986, table 1)",
        largest: MAX_DIMENSION,
        columns: &["n", "algorithm", "1 s or r", "1 s and r", "all ports"],
        rows: |max_dim| (2..=max_dim).flat_map(propagation_delays).collect(),
    },
    Definition {
        name: "cycles-per-packet",
        caption: "Cycles for each further packet of a broadcast (Ho & Johnsson 1986, table 2)",
        largest: MAX_DIMENSION,
        columns: &["n", "algorithm", "1 s or r", "1 s and r", "all ports"],
        rows: |max_dim| (2..=max_dim).flat_map(cycles_per_packet).collect(),
    },
    Definition {
        name: "broadcast-complexity",
        caption: "Time to broadcast M elements in packets of B, N = 2^n (Ho & Johnsson 1986, table 3; HP, 1 s and r, corrected)",
        largest: MAX_DIMENSION,
        columns: &["algorithm", "ports", "T", "B_opt", "T_min"],
        rows: |_| broadcast_complexity(),
    },
    Definition {
        name: "broadcast-comparison",
        caption: "Times of broadcasts as multiples of the MSBT's (Ho & Johnsson 1986, table 4; start-ups only: with the limits \
                  for n -> infinity, which the paper prints)",
        largest: MAX_DIMENSION,
        columns: &[
            "ports",
            "algorithm",
            "one packet",
            "M/B >> n",
            "B_opt, start-ups only",
            "its limit",
            "B_opt, transfers only",
        ],
        rows: |_| broadcast_comparison(),
    },
    Definition {
        name: "bst-subtree-sizes",
        caption: "Largest subtree of the balanced spanning tree, BST (Ho & Johnsson 1986, table 5)",
        // Every node of the cube is asked for its index.
        largest: 26,
        columns: &["n", "BST max", "(N-1)/n", "ratio"],
        rows: |max_dim| (2..=max_dim).map(bst_subtree_sizes).collect(),
    },
    Definition {
        name: "personalized-complexity",
        caption: "Least time of a scatter of blocks of M elements: transfer in M tc, and start-ups (Ho & Johnsson 1986, table 6; \
                  corrected; BST, 1 port: round by round)",
        // The formula of the BST for one port goes through all edges.
        largest: 16,
        columns: &["n", "algorithm", "ports", "formula", "transfer / (M tc)", "start-ups"],
        rows: |max_dim| (2..=max_dim).flat_map(personalized_complexity).collect(),
    },
];

/// The rows for one dimension of a table of (algorithm, one send or receive, one send and receive, all ports).
fn by_algorithm(n: u32, rows: [(&'static str, [Cell; 3]); 4]) -> Vec<Vec<Cell>> {
    let row = |(algorithm, cells)| [Cell::Count(n as usize), Cell::Text(algorithm)].into_iter().chain(cells).collect();
    rows.into_iter().map(row).collect()
}

fn propagation_delays(n: u32) -> Vec<Vec<Cell>> {
    let (d, nodes) = (n as usize, 1usize << n);
    let rows = [
        ("HP", [nodes - 1; 3]),
        ("SBT", [d; 3]),
        ("TCBT", [2 * d - 2, 2 * d - 2, d]),
        ("MSBT", [3 * d - 1, 2 * d, d + 1]),
    ];
    by_algorithm(n, rows.map(|(algorithm, steps)| (algorithm, steps.map(Cell::Count))))
}

fn cycles_per_packet(n: u32) -> Vec<Vec<Cell>> {
    let [one, two, three, d] = [1, 2, 3, n as usize].map(Cell::Count);
    let rows = [
        ("HP", [two.clone(), one.clone(), one.clone()]),
        ("SBT", [d.clone(), d, one.clone()]),
        ("TCBT", [three, two.clone(), one.clone()]),
        // One packet a cycle down each of the n trees.
        ("MSBT", [two, one, Cell::Real(1.0 / f64::from(n))]),
    ];
    by_algorithm(n, rows)
}

/// Table 3 of 1986. The paper has N-3 for N-2 in the row of the Hamiltonian path with one send and one receive; a single
/// packet takes N-1 steps, as its table 1 says.
fn broadcast_complexity() -> Vec<Vec<Cell>> {
    let rows = [
        [
            "HP",
            "1 s or r",
            "(2 ceil(M/B) + N - 3) (tau + B tc)",
            "sqrt(2 M tau / ((N-3) tc))",
            "(sqrt(2 M tc) + sqrt((N-3) tau))^2",
        ],
        [
            "HP",
            "1 s and r",
            "(ceil(M/B) + N - 2) (tau + B tc)",
            "sqrt(M tau / ((N-2) tc))",
            "(sqrt(M tc) + sqrt((N-2) tau))^2",
        ],
        ["SBT", "1 port", "ceil(M/B) n (tau + B tc)", "M", "n (tau + M tc)"],
        [
            "SBT",
            "all ports",
            "(ceil(M/B) + n - 1) (tau + B tc)",
            "sqrt(M tau / ((n-1) tc))",
            "(sqrt(M tc) + sqrt((n-1) tau))^2",
        ],
        [
            "TCBT",
            "1 s or r",
            "(3 ceil(M/B) + 2n - 5) (tau + B tc)",
            "sqrt(3 M tau / ((2n-5) tc))",
            "(sqrt(3 M tc) + sqrt((2n-5) tau))^2",
        ],
        [
            "TCBT",
            "1 s and r",
            "2 (ceil(M/B) + n - 2) (tau + B tc)",
            "sqrt(M tau / ((n-2) tc))",
            "2 (sqrt(M tc) + sqrt((n-2) tau))^2",
        ],
        [
            "TCBT",
            "all ports",
            "(ceil(M/B) + n - 1) (tau + B tc)",
            "sqrt(M tau / ((n-1) tc))",
            "(sqrt(M tc) + sqrt((n-1) tau))^2",
        ],
        [
            "MSBT",
            "1 s or r",
            "(2 ceil(M/B) + n - 1) (tau + B tc)",
            "sqrt(2 M tau / ((n-1) tc))",
            "(sqrt(2 M tc) + sqrt((n-1) tau))^2",
        ],
        ["MSBT", "1 s and r", "(ceil(M/B) + n) (tau + B tc)", "sqrt(M tau / (n tc))", "(sqrt(M tc) + sqrt(n tau))^2"],
        [
            "MSBT",
            "all ports",
            "(ceil(M/(B n)) + n) (tau + B tc)",
            "(1/n) sqrt(M tau / tc)",
            "(sqrt(M tc / n) + sqrt(n tau))^2",
        ],
    ];
    rows.map(|row| row.map(Cell::Text).to_vec()).to_vec()
}

/// Table 4 of 1986. Its third column has the limits only; what they are limits of follows from table 3.
fn broadcast_comparison() -> Vec<Vec<Cell>> {
    let rows = [
        ["1 s or r", "SBT", "n / (n+1)", "n/2", "n / (n-1)", "1", "n/2"],
        ["1 s or r", "TCBT", "(2n-2) / (n+1)", "3/2", "(2n-5) / (n-1)", "2", "3/2"],
        ["1 s and r", "SBT", "n / (n+1)", "n", "1", "1", "n"],
        ["1 s and r", "TCBT", "(2n-2) / (n+1)", "2", "(2n-4) / n", "2", "2"],
        ["all ports", "SBT, TCBT", "n / (n+1)", "n", "(n-1) / n", "1", "n"],
    ];
    rows.map(|row| row.map(Cell::Text).to_vec()).to_vec()
}

/// One row of table 5 of 1986, by asking every node of the cube.
fn bst_subtree_sizes(n: u32) -> Vec<Cell> {
    let tree = Sbnt::new(n, Variant::MinRight);
    let mut sizes = vec![0usize; n as usize];
    (1..1usize << n).for_each(|c| sizes[tree.index(c) as usize] += 1);
    let largest = sizes.into_iter().fold(0, usize::max);
    let even = ((1usize << n) - 1) as f64 / f64::from(n);
    vec![Cell::Count(n as usize), Cell::Count(largest), Cell::Real(even), Cell::Real(largest as f64 / even)]
}

/// Table 6 of 1986, by the formulas of the registry, and of the SBG, which takes what the paper gives for the BST.
fn personalized_complexity(n: u32) -> Vec<Vec<Cell>> {
    let entry = |algorithm, name, ports, label, formula| {
        let call = Call::new(Collective::Scatter, 1 << n, 1);
        let found = registry::find(Collective::Scatter, name).ok()?;
        let cost = (found.formula)(&Shape::new(&call, &Parameters::new(ports)));
        Some(row(n, algorithm, label, formula, cost.elements, cost.rounds))
    };
    let (nodes, d) = ((1usize << n) as f64, n as usize);
    let rows = [
        entry("SBT", "sbt", PortModel::OnePort, "1 port", "N - 1"),
        entry("SBT", "sbt", PortModel::AllPorts, "all ports", "N/2"),
        entry("TCBT", "tcbt", PortModel::OnePort, "1 port", "2N - 2n - 1"),
        entry("TCBT", "tcbt", PortModel::AllPorts, "all ports", "3N/4 - 1"),
        Some(row(n, "TCBT", "all ports", "3N/2 - n - 1, by subtrees", 1.5 * nodes - f64::from(n) - 1.0, d)),
        entry("BST", "sbnt", PortModel::OnePort, "1 port", "<= N (1 + 2 log n / n)"),
        entry("BST", "sbnt", PortModel::AllPorts, "all ports", "BST max, about (N-1)/n"),
        Some(row(n, "SBG", "all ports", "(N-1)/n", (nodes - 1.0) / f64::from(n), d)),
    ];
    rows.into_iter().flatten().collect()
}

fn row(
    n: u32,
    algorithm: &'static str,
    ports: &'static str,
    formula: &'static str,
    transfer: f64,
    start_ups: usize,
) -> Vec<Cell> {
    let texts = [algorithm, ports, formula].map(Cell::Text);
    let numbers = [Cell::Real(transfer), Cell::Count(start_ups)];
    std::iter::once(Cell::Count(n as usize)).chain(texts).chain(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use super::*;
    use hypercoll::algorithm::Algorithm;
    use serde_json::{json, Value};

    #[test]
    fn delays_and_cycles_of_the_4_cube() {
        let delays = rows("propagation-delays", 4);
        assert_eq!(delays.len(), 12);
        assert_eq!(delays[0], json!([2, "HP", 3, 3, 3]));
        let expected = json!([[4, "HP", 15, 15, 15], [4, "SBT", 4, 4, 4], [4, "TCBT", 6, 6, 4], [4, "MSBT", 11, 8, 5]]);
        assert_eq!(json!(delays[8..]), expected);
        let expected = json!([[4, "HP", 2, 1, 1], [4, "SBT", 4, 4, 1], [4, "TCBT", 3, 2, 1], [4, "MSBT", 2, 1, 0.25]]);
        assert_eq!(json!(rows("cycles-per-packet", 4)[8..]), expected);
    }

    /// Tables 1 and 2 against the formulas of the registry, which the checker compares with schedules: a packet for every
    /// tree takes the delay, and each further one the cycles.
    #[test]
    fn delays_and_cycles_are_those_of_the_algorithms() {
        let names = [("HP", "hamiltonian_path"), ("SBT", "sbt"), ("TCBT", "tcbt"), ("MSBT", "msbt")];
        for (delay, cycles) in rows("propagation-delays", 7).iter().zip(rows("cycles-per-packet", 7)) {
            let n = delay[0].as_u64().expect("n") as usize;
            let name = names.iter().find(|(label, _)| delay[1] == *label).expect("a known algorithm").1;
            let algorithm = registry::find(Collective::Broadcast, name).expect(name);
            for (column, ports) in (2..).zip(PortModel::ALL) {
                let rounds = |packets: usize| {
                    let call = Call::new(Collective::Broadcast, 1 << n, packets);
                    let parameters = Parameters { packet: Some(1), ..Parameters::new(ports) };
                    (algorithm.formula)(&Shape::new(&call, &parameters)).rounds as f64
                };
                let trees = if name == "msbt" { n } else { 1 };
                let first = rounds(trees);
                assert_eq!(delay[column].as_f64(), Some(first), "{delay} {ports}");
                let each = (rounds(trees + 10 * n) - first) / (10 * n) as f64;
                assert!((cycles[column].as_f64().expect("a number") - each).abs() < 1e-9, "{cycles} {ports}: {each}");
            }
        }
    }

    /// The value of a formula as the tables print it: what stands side by side is multiplied.
    fn value(formula: &str, names: &[(&str, f64)]) -> f64 {
        let mut rest = formula;
        let found = sum(&mut rest, names);
        assert!(rest.is_empty() && found.is_finite(), "{formula}: {found}, and '{rest}' is left");
        found
    }

    fn takes(rest: &mut &str, text: &str) -> bool {
        *rest = rest.trim_start();
        let after = rest.strip_prefix(text);
        *rest = after.unwrap_or(rest);
        after.is_some()
    }

    fn sum(rest: &mut &str, names: &[(&str, f64)]) -> f64 {
        let mut total = product(rest, names);
        loop {
            if takes(rest, "+") {
                total += product(rest, names);
            } else if takes(rest, "-") {
                total -= product(rest, names);
            } else {
                return total;
            }
        }
    }

    fn product(rest: &mut &str, names: &[(&str, f64)]) -> f64 {
        let mut total = power(rest, names);
        loop {
            if takes(rest, "/") {
                total /= power(rest, names);
            } else if rest.trim_start().starts_with(|c: char| c.is_alphanumeric() || c == '(') {
                total *= power(rest, names);
            } else {
                return total;
            }
        }
    }

    fn power(rest: &mut &str, names: &[(&str, f64)]) -> f64 {
        let base = factor(rest, names);
        if takes(rest, "^") {
            base.powf(factor(rest, names))
        } else {
            base
        }
    }

    fn factor(rest: &mut &str, names: &[(&str, f64)]) -> f64 {
        let in_brackets = |rest: &mut &str| {
            let found = sum(rest, names);
            assert!(takes(rest, ")"), "no ')' before '{rest}'");
            found
        };
        if takes(rest, "(") {
            return in_brackets(rest);
        }
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        // A number goes on with a letter, as in 2n.
        let number = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(if number > 0 { number } else { word });
        *rest = after;
        match word {
            "ceil" | "sqrt" => {
                assert!(takes(rest, "("), "{word} of nothing");
                let found = in_brackets(rest);
                if word == "ceil" {
                    found.ceil()
                } else {
                    found.sqrt()
                }
            }
            _ => {
                word.parse().ok().or(names.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)).expect(word)
            }
        }
    }

    #[test]
    fn formulas_are_read_as_they_are_meant() {
        let names = [("n", 3.0), ("M", 10.0), ("tau", 0.5)];
        for (formula, expected) in [
            ("3/2", 1.5),
            ("2n - 5 + n", 4.0),
            ("2 M tau / ((n-1) n)", 10.0 / 6.0),
            ("(1/n) sqrt(M tau - 1)", 2.0 / 3.0),
            ("2 (sqrt(4) + ceil(M/n))^2", 72.0),
        ] {
            assert_eq!(value(formula, &names), expected, "{formula}");
        }
    }

    /// The registry's algorithm and port models of a row.
    fn of_row(algorithm: &str, ports: &str) -> (&'static Algorithm, Vec<PortModel>) {
        let names = [("HP", "hamiltonian_path"), ("SBT", "sbt"), ("TCBT", "tcbt"), ("MSBT", "msbt")];
        let name = names.iter().find(|(label, _)| *label == algorithm).expect("a known algorithm").1;
        let ports = match ports {
            "1 s or r" => vec![PortModel::OneWay],
            "1 s and r" => vec![PortModel::OnePort],
            "1 port" => vec![PortModel::OneWay, PortModel::OnePort],
            "all ports" => vec![PortModel::AllPorts],
            other => panic!("{other}"),
        };
        (registry::find(Collective::Broadcast, name).expect(name), ports)
    }

    /// Every printed cell of table 3 is the registry's formula: T, its best packet, and T with packets of that size.
    #[test]
    fn broadcast_formulas() {
        let rows = rows("broadcast-complexity", 20);
        assert_eq!(rows.len(), 10);
        for row in &rows {
            let cells: Vec<&str> =
                row.as_array().expect("a row").iter().map(|cell| cell.as_str().expect("text")).collect();
            let (algorithm, ports) = of_row(cells[0], cells[1]);
            let points = ports.iter().flat_map(|&ports| [3u32, 5, 8].map(|n| (ports, n)));
            for ((ports, n), (m, b)) in points.flat_map(|at| [(840, 7), (836, 11), (61, 61)].map(|size| (at, size))) {
                let shape = |packet| {
                    let call = Call::new(Collective::Broadcast, 1 << n, m);
                    Shape::new(&call, &Parameters { packet: Some(packet), ..Parameters::new(ports) })
                };
                let at = |tau: f64| {
                    let sizes = [("M", m as f64), ("B", b as f64), ("N", f64::from(n).exp2()), ("n", f64::from(n))];
                    [&sizes[..], &[("tau", tau), ("tc", 0.25)]].concat()
                };
                let close = |printed: f64, found: f64| {
                    assert!(
                        (printed - found).abs() < 1e-9 * found,
                        "{row} {ports} n = {n}, B = {b}: {found}, not {printed}"
                    );
                };
                close(value(cells[2], &at(3.0)), (algorithm.formula)(&shape(b)).time(3.0, 0.25));
                close(value(cells[3], &at(3.0)), (algorithm.best_packet)(&shape(b), 3.0, 0.25));
                // The start-up time for which packets of 7 are the best ones (840 is so many times 7 on each of n ports), unless
                // all of the vector is.
                let best = |tau: f64| (algorithm.best_packet)(&shape(b), tau, 0.25);
                let (packet, tau) = if best(4.0) == best(1.0) { (m, 3.0) } else { (7, (7.0 / best(1.0)).powi(2)) };
                if m % (7 * n as usize) == 0 {
                    close(value(cells[4], &at(tau)), (algorithm.formula)(&shape(packet)).time(tau, 0.25));
                }
            }
        }
    }

    /// Every printed cell of table 4: a single packet, packets without end, and the limit of start-ups for large cubes.
    #[test]
    fn comparison_with_the_msbt() {
        let rows = rows("broadcast-comparison", 2);
        assert_eq!(rows.len(), 5);
        for row in &rows {
            let cells: Vec<&str> =
                row.as_array().expect("a row").iter().map(|cell| cell.as_str().expect("text")).collect();
            for (name, n) in cells[1].split(", ").flat_map(|name| [3u32, 8, 20].map(|n| (name, n))) {
                let rounds = |name: &str, packets: usize| {
                    let (algorithm, ports) = of_row(name, cells[0]);
                    let call = Call::new(Collective::Broadcast, 1 << n, packets);
                    let parameters = Parameters { packet: Some(1), ..Parameters::new(ports[0]) };
                    (algorithm.formula)(&Shape::new(&call, &parameters)).rounds as f64
                };
                let ratio = |packets| rounds(name, packets) / rounds("MSBT", packets);
                let printed = |column: usize, n: f64| value(cells[column], &[("n", n)]);
                let at = f64::from(n);
                assert_eq!(printed(2, at), ratio(1), "{row} {name} n = {n}");
                assert!((printed(3, at) / ratio(1 << 40) - 1.0).abs() < 1e-6, "{row} {name} n = {n}");
                assert!((printed(6, at) / ratio(1 << 40) - 1.0).abs() < 1e-6, "{row} {name} n = {n}");
                assert!((printed(4, 1e9) - printed(5, 1e9)).abs() < 1e-6, "{row}");
            }
        }
    }

    #[test]
    fn largest_subtrees_of_table_5() {
        let expected = [
            (2, 2, "1.50", "1.33"),
            (6, 13, "10.50", "1.24"),
            (10, 107, "102.30", "1.05"),
            (14, 1181, "1170.21", "1.01"),
        ];
        let rows = rows("bst-subtree-sizes", 14);
        for (n, largest, even, ratio) in expected {
            let row = &rows[n - 2];
            assert_eq!((&row[0], &row[1]), (&json!(n), &json!(largest)));
            let shown = |value: &Value| value.as_f64().map(|real| format!("{real:.2}"));
            assert_eq!((shown(&row[2]).as_deref(), shown(&row[3]).as_deref()), (Some(even), Some(ratio)));
        }
    }

    /// Table 6 at n = 5, by hand, with errata 4 and 5.
    #[test]
    fn scatters_of_the_5_cube() {
        let rows: Vec<_> = rows("personalized-complexity", 5).into_iter().filter(|row| row[0] == 5).collect();
        let of = |algorithm: &str, ports: &str| -> Vec<(f64, u64)> {
            let rows = rows.iter().filter(|row| row[1] == algorithm && row[2] == ports);
            rows.map(|row| (row[4].as_f64().expect("a number"), row[5].as_u64().expect("a number"))).collect()
        };
        assert_eq!(of("SBT", "1 port"), [(31.0, 5)]);
        assert_eq!(of("SBT", "all ports"), [(16.0, 5)]);
        assert_eq!(of("TCBT", "1 port"), [(53.0, 8)]);
        assert_eq!(of("TCBT", "all ports"), [(23.0, 5), (42.0, 5)]);
        assert_eq!(of("BST", "all ports"), [(7.0, 5)]);
        assert_eq!(of("SBG", "all ports"), [(6.2, 5)]);
        // The paper has a bound: 32 (1 + 2 log2 5 / 5) = 61.7.
        let one_port = of("BST", "1 port");
        assert!(one_port.len() == 1 && one_port[0].1 == 8 && (31.0..=61.7).contains(&one_port[0].0), "{one_port:?}");
    }
}
