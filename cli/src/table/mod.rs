//! `hypercoll table`: the tables of the papers, computed from this library's graphs and formulas. A file a paper.

mod bostt;
mod hj86;
mod hj88;
mod hje;
mod relays;

use serde::Serialize;
use std::io::{self, Write};

/// Print a table of the papers.
#[derive(clap::Args)]
#[command(after_help = names_and_words())]
pub struct TableArgs {
    /// Name of the table
    name: String,
    /// Last dimension of the table, from 2 on (tables of formulas have none) [default: 20, or the table's largest]
    #[arg(long, value_name = "N")]
    max_dim: Option<u32>,
    /// Print JSON, with numbers in full
    #[arg(long)]
    json: bool,
}

/// Up to which dimension a table goes if the user does not say.
const USUAL: u32 = 20;

/// One table: what it is called, which table of which paper it is, how it is computed, and up to which dimension.
struct Definition {
    name: &'static str,
    caption: &'static str,
    largest: u32,
    columns: &'static [&'static str],
    rows: fn(u32) -> Vec<Vec<Cell>>,
}

fn definitions() -> impl Iterator<Item = &'static Definition> {
    hj86::DEFINITIONS
        .iter()
        .chain(hj88::DEFINITIONS)
        .chain(relays::DEFINITIONS)
        .chain(bostt::DEFINITIONS)
        .chain(hje::DEFINITIONS)
}

/// The words of the papers that the tables keep, in those of this library.
const WORDS: &str = "\
The papers' words:
  1 s or r                 a node sends or receives one message at a time: one-way
  1 s and r                it sends one and receives one at a time: one-port
  1 port                   one-port; for the SBT's broadcast also one-way
  all ports, n ports       a send and a receive on every port at a time: all-ports
  HP                       Hamiltonian path
  SBT                      spanning binomial tree
  MSBT                     n SBTs that share no link in the same direction
  TCBT                     two-rooted complete binary tree
  BST, SBnT                spanning balanced n-tree, as it is called in 1986 and in 1988
  SBG                      spanning balanced graph: an SBnT some nodes of which have several parents
  DNS, block, Cannon, broadcasts: products of P x P matrices: by Dekel, Nassimi and Sahni; in blocks of rank 2 P/n; round rings that
                           share no link; by all-to-all broadcasts
  one-to-all personalised  scatter
  all-to-all personalised  all-to-all
  all-to-all broadcast     all-gather
  single node scatter, multinode broadcast, total exchange: scatter, all-gather, all-to-all
  n, d                     dimension of the cube; N = 2^n nodes
  M, B                     elements of a vector or block, and of a packet; B_opt: of the best packet
  tau, tc                  start-up time of a message; t_c, transfer time of an element
  T, T_min                 time; least time, with packets of B_opt";

/// What `--help` adds.
fn names_and_words() -> String {
    format!("{}\n\n{WORDS}", names())
}

/// The names of the tables, for people.
fn names() -> String {
    let names: Vec<String> = definitions().map(|d| format!("\n  {:<24}{}", d.name, d.caption)).collect();
    format!("The tables:{}", names.concat())
}

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
    let Some(definition) = definitions().find(|definition| definition.name == args.name) else {
        return Err(format!("no table '{}'. {}", args.name, names()));
    };
    let max_dim = args.max_dim.unwrap_or(USUAL.min(definition.largest));
    if !(2..=definition.largest).contains(&max_dim) {
        let Definition { name, largest, .. } = definition;
        return Err(format!("--max-dim {max_dim}: {name} is for dimensions 2 to {largest}"));
    }
    let table = Table { name: definition.name, columns: definition.columns, rows: (definition.rows)(max_dim) };
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

/// What the tests of the tables share.
#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    pub fn output(name: &str, max_dim: Option<u32>, json: bool) -> Result<String, String> {
        let mut out = Vec::new();
        run(&TableArgs { name: name.to_owned(), max_dim, json }, &mut out)?;
        String::from_utf8(out).map_err(|error| error.to_string())
    }

    /// The rows of a table in JSON.
    pub fn rows(name: &str, max_dim: u32) -> Vec<Value> {
        let printed = output(name, Some(max_dim), true).expect(name);
        let mut table: Value = serde_json::from_str(&printed).expect("valid JSON");
        assert_eq!(table["name"], name);
        let columns = table["columns"].as_array().map(Vec::len);
        match table["rows"].take() {
            Value::Array(rows) => {
                assert!(rows.iter().all(|row| row.as_array().map(Vec::len) == columns), "{name}");
                rows
            }
            other => panic!("{name}: {other}"),
        }
    }

    #[test]
    fn text_is_aligned() {
        let printed = output("cycles-per-packet", Some(10), false).expect("a table");
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines[0].contains("1986, table 2"));
        assert_eq!(lines[1], " n  algorithm  1 s or r  1 s and r  all ports");
        assert_eq!(lines[lines.len() - 1], "10  MSBT              2          1       0.10");
    }

    #[test]
    fn the_papers_words_are_explained() {
        let explained = |word: &str, name: &str| assert!(WORDS.contains(word), "{name}: {word}");
        for Definition { name, columns, .. } in definitions() {
            columns.iter().filter(|column| column.contains(" s ")).for_each(|column| explained(column, name));
            for row in rows(name, 4) {
                for (index, column) in columns.iter().enumerate() {
                    if ["algorithm", "operation", "ports", "problem"].contains(column) {
                        row[index].as_str().expect("words").split(", ").for_each(|word| explained(word, name));
                    }
                }
            }
        }
    }

    #[test]
    fn every_table_has_rows_without_further_words() {
        for definition in definitions() {
            let printed = output(definition.name, None, true).expect(definition.name);
            assert!(printed.len() > 100, "{}", definition.name);
            assert!(!rows(definition.name, 4).is_empty());
        }
    }

    #[test]
    fn errors_say_what_is_possible() {
        let unknown = output("sizes", None, false).expect_err("no such table");
        assert!(definitions().all(|definition| unknown.contains(definition.name)) && unknown.contains("'sizes'"));
        for (name, max_dim) in [("subtree-sizes", 1), ("subtree-sizes", 27), ("propagation-delays", 31)] {
            let error = output(name, Some(max_dim), false).expect_err(name);
            assert!(error.contains(&format!("--max-dim {max_dim}")));
        }
    }
}
