//! Tables and pictures of what was found.

use crate::bench::sizes::show_bytes;
use crate::figures::chart::{draw, Axis, Figure, Series};
use clap::ValueEnum;
use hypercoll::collective::Collective;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::network::Network;

/// Tables in Markdown: of the papers' formulas, of means, of every point.
pub fn tables(results: &Value) -> String {
    let mut text = String::new();
    papers(&mut text, list(results, "papers"));
    let points = list(results, "points");
    if let Some(left_out @ 1..) = results["left_out"].as_u64() {
        let _ = writeln!(text, "{left_out} points were left out, as the time was over.\n");
    }
    means(&mut text, points);
    all(&mut text, points);
    text
}

fn list<'v>(results: &'v Value, key: &str) -> &'v [Value] {
    results[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or("-")
}

/// Writing to a string does not fail.
fn papers(out: &mut String, rows: &[Value]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "| | on a | n | formula ms | our simulator | SimGrid |\n|---|---|---|---|---|---|");
    for row in rows {
        let time = |key: &str| row[key].as_f64().map_or("-".into(), |time| format!("{:.3}", time * 1e3));
        let _ = writeln!(
            out,
            "| {} `{}`, {} | {} | {} | {} | {} | {} |",
            text(row, "collective"),
            text(row, "algorithm"),
            text(row, "ports"),
            text(row, "network"),
            row["dimension"],
            time("formula_s"),
            time("simulate_s"),
            time("simgrid_s")
        );
    }
    out.push('\n');
}

/// The geometric mean of ratios.
pub fn mean<'v>(rows: impl IntoIterator<Item = &'v Value>) -> Option<f64> {
    let ratios: Vec<f64> = rows.into_iter().filter_map(|row| row["ratio"].as_f64()).map(f64::ln).collect();
    (!ratios.is_empty()).then(|| (ratios.iter().sum::<f64>() / ratios.len() as f64).exp())
}

fn shown(ratio: Option<f64>) -> String {
    ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"))
}

/// A line a collective, over all numbers of ranks, and, where there are several, a line for each of them.
fn means(out: &mut String, points: &[Value]) {
    let networks: Vec<&str> = Network::value_variants().iter().map(|network| network.name()).collect();
    let heads = networks.join(" | ");
    let columns = "---|".repeat(networks.len());
    let line = |out: &mut String, first: &str, collective: Collective, points: &[&Value]| {
        let of = |network: &&str| {
            let rows = points.iter().filter(|row| text(row, "collective") == collective.name());
            mean(rows.filter(|row| text(row, "network") == *network).copied())
        };
        let cells: Vec<Option<f64>> = networks.iter().map(of).collect();
        if cells.iter().any(Option::is_some) {
            let cells: Vec<String> = cells.into_iter().map(shown).collect();
            let _ = writeln!(out, "| {first}{} | {} |", collective.name(), cells.join(" | "));
        }
    };
    let _ = writeln!(out, "| collective | {heads} |\n|---|{columns}");
    for collective in Collective::ALL {
        line(out, "", collective, &points.iter().collect::<Vec<_>>());
    }
    out.push('\n');
    let mut sizes: Vec<u64> = points.iter().filter_map(|row| row["size"].as_u64()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() < 2 {
        return;
    }
    let _ = writeln!(out, "| ranks | collective | {heads} |\n|---|---|{columns}");
    for size in sizes {
        let of_size: Vec<&Value> = points.iter().filter(|row| row["size"].as_u64() == Some(size)).collect();
        for collective in Collective::ALL {
            line(out, &format!("{size} | "), collective, &of_size);
        }
    }
    out.push('\n');
}

/// A line a network, number of ranks and collective; a column a size.
fn all(out: &mut String, points: &[Value]) {
    let mut sizes: Vec<u64> = points.iter().filter_map(|row| row["bytes"].as_u64()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let names: Vec<String> = sizes.iter().map(|&bytes| show_bytes(bytes as usize)).collect();
    let _ = writeln!(
        out,
        "| network | ranks | a host | collective | {} |\n|---|---|---|---|{}",
        names.join(" | "),
        "---|".repeat(sizes.len())
    );
    let mut lines: BTreeMap<_, BTreeMap<u64, &Value>> = BTreeMap::new();
    for row in points {
        let number = |key: &str| row[key].as_u64().unwrap_or(0);
        let place = Collective::ALL.iter().position(|collective| collective.name() == text(row, "collective"));
        let key =
            (text(row, "network"), number("size"), number("per_host"), place.unwrap_or(0), text(row, "collective"));
        lines.entry(key).or_default().insert(number("bytes"), row);
    }
    for ((network, size, per_host, _, collective), cells) in lines {
        let cell = |bytes: &u64| match cells.get(bytes) {
            None => String::new(),
            Some(row) => format!("{} `{}`", shown(row["ratio"].as_f64()), text(row, "algorithm")),
        };
        let cells: Vec<String> = sizes.iter().map(cell).collect();
        let _ = writeln!(out, "| {network} | {size} | {per_host} | {collective} | {} |", cells.join(" | "));
    }
}

/// A picture a network: the ratio by size, a line a collective.
///
/// # Errors
/// What cannot be drawn or written.
pub fn pictures(results: &Value, out: &Path) -> Result<Vec<String>, String> {
    let points = list(results, "points");
    let mut names = Vec::new();
    for network in Network::value_variants() {
        let mut series = Vec::new();
        for collective in Collective::ALL {
            let rows = || {
                let rows = points.iter().filter(|row| text(row, "collective") == collective.name());
                rows.filter(|row| text(row, "network") == network.name())
            };
            let mut sizes: Vec<u64> = rows().filter_map(|row| row["bytes"].as_u64()).collect();
            sizes.sort_unstable();
            sizes.dedup();
            let at = |bytes: u64| {
                let ratio = mean(rows().filter(|row| row["bytes"].as_u64() == Some(bytes)))?;
                Some((bytes as f64, ratio))
            };
            let line: Vec<(f64, f64)> = sizes.into_iter().filter_map(at).collect();
            if line.len() > 1 {
                series.push(Series { simulated: line.clone(), formula: line, ..Series::new(collective.name().into()) });
            }
        }
        let ends: Vec<f64> = series.iter().flat_map(|series| series.formula.iter().map(|point| point.0)).collect();
        let (low, high) = (ends.iter().copied().fold(f64::MAX, f64::min), ends.iter().copied().fold(0.0, f64::max));
        if series.is_empty() {
            continue;
        }
        series.push(Series { formula: vec![(low, 1.0), (high, 1.0)], ..Series::limit("as fast") });
        let figure = Figure {
            name: network.name(),
            title: network.title(),
            setting: "geometric mean over all numbers of ranks and of ranks on a host".into(),
            marks: "simulated by SimGrid",
            formula: "the best of three selectors' time over ours, so above 1 ours is faster",
            x: Axis::bytes("bytes of a vector, or of all blocks of a rank"),
            y: Axis::ratio("the best selector's time over ours"),
            series,
        };
        let name = format!("scale-{}.svg", network.name());
        fs::write(out.join(&name), draw(&figure)?).map_err(|error| format!("out: cannot write {name}: {error}"))?;
        names.push(name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_tell_means_and_points() {
        let point = |network: &str, bytes: u64, ratio: Option<f64>| {
            json!({ "network": network, "size": 64, "per_host": 1, "collective": "broadcast", "bytes": bytes,
                "algorithm": "sbt", "ratio": ratio })
        };
        let points = vec![point("star", 8, Some(0.5)), point("star", 1024, Some(8.0)), point("torus", 8, None)];
        let tables = tables(&json!({ "points": points, "papers": [] }));
        assert!(tables.contains("| broadcast | 2.00 | - | - | - | - | - |"), "{tables}");
        assert!(tables.contains("| star | 64 | 1 | broadcast | 0.50 `sbt` | 8.00 `sbt` |"), "{tables}");
        assert!(tables.contains("| torus | 64 | 1 | broadcast | - `sbt` |  |"), "{tables}");
        assert_eq!(mean(&[]), None);
    }
}
