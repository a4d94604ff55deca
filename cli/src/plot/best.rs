//! What counts, for one collective: the library's own choice and its best algorithm beside native MPI by its own choice and
//! at its best, all against the physical limit where that is known.

use super::style::*;
use super::times::*;
use crate::bench::results::{auto, best, native, native_best, Results, Row};
use plotters::prelude::*;

/// The figure as SVG.
pub fn draw(results: &Results, collective: &str) -> Outcome<String> {
    let by_size = results.by_size(collective);
    let line = |label: &str, colour, look, pick: for<'a, 'r> fn(&'a [&'r Row]) -> Option<&'r Row>| Line {
        label: label.into(),
        colour,
        look,
        rows: by_size.values().filter_map(|rows| pick(rows)).collect(),
    };
    let mut lines = vec![
        line("", AUTO, Look::Auto, auto),
        line("best of ours", FASTER, Look::Ours(0), best),
        line("", NATIVE, Look::Native, native),
    ];
    if !results.screening.is_empty() {
        lines.push(line("native MPI at its best", NATIVE, Look::NativeBest, native_best));
    }
    lines.retain(|line| !line.rows.is_empty());
    let limited = lines.iter().flat_map(|line| &line.rows).any(|row| row.limit_s.is_some());
    let mut svg = String::new();
    {
        let height = HEAD + UPPER + if limited { LOWER } else { 0 };
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let rest = headed(&root, results, &format!("{collective}: the library and native MPI, each at its best"))?;
        let (upper, lower) = rest.split_vertically(UPPER);
        let sizes: Vec<f64> = by_size.keys().map(|bytes| x(*bytes)).collect();
        times(&upper, &lines, &sizes, size_name(collective))?;
        if limited {
            fractions(&lower, &lines, &sizes, size_name(collective))?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// The fraction of the physical limit.
fn fractions(area: &Area<'_>, lines: &[Line<'_>], sizes: &[f64], size_name: &str) -> Outcome<()> {
    let fractions = || lines.iter().flat_map(|line| &line.rows).filter_map(|row| row.of_limit());
    let (low, high) = (fractions().fold(0.8, f64::min), fractions().fold(1.0, f64::max));
    let show = |fraction: f64| format!("{}", (fraction * 1000.0).round() / 1000.0);
    let mut chart = chart(area, sizes, (low / 1.15, high * 1.15), size_name, "fraction of the physical limit", &show)?;
    draw_limit(&mut chart, sizes.iter().map(|size| (*size, 1.0)).collect())?;
    let ends = draw_lines(&mut chart, lines, &Row::of_limit)?;
    label_lines(area, &chart, lines, &ends)
}
