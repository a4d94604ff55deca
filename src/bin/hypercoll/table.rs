//! `hypercoll table`: the tables of the papers, computed from this library's graphs.

use std::io::{self, Write};

use hypercoll::address::{is_cyclic, MAX_DIMENSION};
use hypercoll::topology::sbnt::{Sbnt, Variant};
use serde::Serialize;

/// Print a table of the papers; without a valid name, the names.
#[derive(clap::Args)]
pub struct TableArgs {
    /// Name of the table
    name: String,
    /// Last dimension of the table, from 2 on (tables of formulas have none)
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_dim: u32,
    /// Print JSON, with numbers in full
    #[arg(long)]
    json: bool,
}

/// One table: what it is called, which table of which paper it is, how it is computed, and up to which dimension.
struct Definition {
    name: &'static str,
    caption: &'static str,
    largest: u32,
    columns: &'static [&'static str],
    rows: fn(u32) -> Vec<Vec<Cell>>,
}

const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "subtree-sizes",
        caption: "Sizes of the subtrees of the root, SBT and SBnT; A cyclic nodes in B necklaces (Ho & Johnsson 1988, table 1)",
        // Every node of the cube is asked for its index.
        largest: 26,
        columns: &["n", "A", "B", "SBT max", "SBnT max", "SBnT min", "(N-1)/n", "factor"],
        rows: |max_dim| (2..=max_dim).map(subtree_sizes).collect(),
    },
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
];

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
enum Cell {
    Count(usize),
    Real(f64),
    Text(&'static str),
}

#[derive(Serialize)]
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

/// Prints the table that `args` name. An error is the message for the user.
pub fn run(args: &TableArgs, out: &mut dyn Write) -> Result<(), String> {
    let Some(definition) = DEFINITIONS.iter().find(|definition| definition.name == args.name) else {
        let names: Vec<String> = DEFINITIONS.iter().map(|d| format!("\n  {:<22}{}", d.name, d.caption)).collect();
        return Err(format!("no table '{}'; the tables are{}", args.name, names.concat()));
    };
    if !(2..=definition.largest).contains(&args.max_dim) {
        let Definition { name, largest, .. } = definition;
        return Err(format!("--max-dim {}: {name} is for dimensions 2 to {largest}", args.max_dim));
    }
    let table = Table { name: definition.name, columns: definition.columns, rows: (definition.rows)(args.max_dim) };
    let printed = if args.json { print_json(&table, out) } else { print_text(definition.caption, &table, out) };
    printed.map_err(|error| format!("cannot write: {error}"))
}

fn print_json(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, table)?;
    writeln!(out)
}

/// Numbers to the right, text to the left, reals to two decimals as in the papers.
fn print_text(caption: &str, table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let show = |cell: &Cell| match cell {
        Cell::Count(count) => count.to_string(),
        Cell::Real(real) => format!("{real:.2}"),
        Cell::Text(text) => (*text).to_owned(),
    };
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().map(show).collect()).collect();
    let is_text = |column: usize| table.rows.iter().all(|row| matches!(row[column], Cell::Text(_)));
    let widths: Vec<(usize, bool)> = (0..table.columns.len())
        .map(|i| (rows.iter().map(|row| row[i].len()).fold(table.columns[i].len(), usize::max), is_text(i)))
        .collect();
    writeln!(out, "{caption}")?;
    let header: Vec<String> = table.columns.iter().map(|&column| column.to_owned()).collect();
    for row in std::iter::once(&header).chain(&rows) {
        let fields =
            row.iter().zip(&widths).map(
                |(field, &(width, is_text))| {
                    if is_text {
                        format!("{field:<width$}")
                    } else {
                        format!("{field:>width$}")
                    }
                },
            );
        writeln!(out, "{}", fields.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, Value};

    fn output(name: &str, max_dim: u32, json: bool) -> Result<String, String> {
        let mut out = Vec::new();
        run(&TableArgs { name: name.to_owned(), max_dim, json }, &mut out)?;
        String::from_utf8(out).map_err(|error| error.to_string())
    }

    fn parsed(name: &str, max_dim: u32) -> Value {
        serde_json::from_str(&output(name, max_dim, true).expect(name)).expect("valid JSON")
    }

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
        let printed = output("subtree-sizes", 20, false).expect("a table");
        assert_eq!(words(&printed)[1..], words(expected));
    }

    #[test]
    fn json_has_the_numbers_in_full() {
        let table = parsed("subtree-sizes", 3);
        assert_eq!(table["name"], "subtree-sizes");
        let columns = json!(["n", "A", "B", "SBT max", "SBnT max", "SBnT min", "(N-1)/n", "factor"]);
        assert_eq!(table["columns"], columns);
        let rows = json!([[2, 2, 2, 2, 2, 1, 1.5, 2.0 / 1.5], [3, 2, 2, 4, 3, 2, 7.0 / 3.0, 9.0 / 7.0]]);
        assert_eq!(table["rows"][0], rows[0]);
        assert_eq!(table["rows"][1].as_array().map(|row| &row[..7]), rows[1].as_array().map(|row| &row[..7]));
        assert!(table["rows"][1][7].as_f64().is_some_and(|factor| (factor - 9.0 / 7.0).abs() < 1e-15));
    }

    #[test]
    fn delays_and_cycles_of_the_4_cube() {
        let rows = |name| match parsed(name, 4)["rows"].take() {
            Value::Array(rows) => rows,
            other => panic!("{other}"),
        };
        let delays = rows("propagation-delays");
        assert_eq!(delays.len(), 12);
        assert_eq!(delays[0], json!([2, "HP", 3, 3, 3]));
        let expected = json!([[4, "HP", 15, 15, 15], [4, "SBT", 4, 4, 4], [4, "TCBT", 6, 6, 4], [4, "MSBT", 11, 8, 5]]);
        assert_eq!(json!(delays[8..]), expected);
        let expected = json!([[4, "HP", 2, 1, 1], [4, "SBT", 4, 4, 1], [4, "TCBT", 3, 2, 1], [4, "MSBT", 2, 1, 0.25]]);
        assert_eq!(json!(rows("cycles-per-packet")[8..]), expected);
    }

    #[test]
    fn broadcast_formulas() {
        let table = parsed("broadcast-complexity", 20);
        let rows = table["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 10);
        let steps = |algorithm: &str, ports: &str| {
            let row = rows.iter().find(|row| row[0] == algorithm && row[1] == ports).expect("a row");
            row[2].as_str().map(str::to_owned)
        };
        assert_eq!(steps("HP", "1 s and r").as_deref(), Some("(ceil(M/B) + N - 2) (tau + B tc)"));
        assert_eq!(steps("MSBT", "all ports").as_deref(), Some("(ceil(M/(B n)) + n) (tau + B tc)"));
    }

    #[test]
    fn text_is_aligned() {
        let printed = output("cycles-per-packet", 10, false).expect("a table");
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines[0].contains("1986, table 2"));
        assert_eq!(lines[1], " n  algorithm  1 s or r  1 s and r  all ports");
        assert_eq!(lines[lines.len() - 1], "10  MSBT              2          1       0.10");
    }

    #[test]
    fn errors_say_what_is_possible() {
        let unknown = output("sizes", 20, false).expect_err("no such table");
        assert!(DEFINITIONS.iter().all(|definition| unknown.contains(definition.name)) && unknown.contains("'sizes'"));
        for (name, max_dim) in [("subtree-sizes", 1), ("subtree-sizes", 27), ("propagation-delays", 31)] {
            let error = output(name, max_dim, false).expect_err(name);
            assert!(error.contains(&format!("--max-dim {max_dim}")));
        }
    }
}
