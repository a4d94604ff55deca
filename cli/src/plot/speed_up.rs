//! How much faster than native MPI the library is, by the dimension of the cube: one point of every collective in each of several
//! results.

use super::style::Outcome;
use crate::bench::results::{auto, native, native_best, Results, Row};
use crate::figures::chart::{self, Axis, Figure, Series};

/// The dimension of the cube that ranks play nodes of.
pub fn dimension(results: &Results) -> u32 {
    results.ranks.next_power_of_two().trailing_zeros()
}

/// The figures with their names: over native MPI at its best, and over its own choice. None unless there are two dimensions.
pub fn draw(all: &[Results]) -> Outcome<Vec<(&'static str, String)>> {
    type Pick = for<'a, 'r> fn(&'a [&'r Row]) -> Option<&'r Row>;
    let mut figures = Vec::new();
    for (name, title, pick) in [
        ("speed-up-over-best", "Speed-up over native MPI at its best", native_best as Pick),
        ("speed-up-over-default", "Speed-up over native MPI by its own choice", native as Pick),
    ] {
        let series = series(all, pick);
        if series.iter().any(|series| series.simulated.len() > 1) {
            figures.push((name, chart::draw(&figure(name, title, series))?));
        }
    }
    Ok(figures)
}

fn figure(name: &'static str, title: &'static str, series: Vec<Series>) -> Figure {
    Figure {
        name,
        title,
        setting: "each collective at the largest size that was measured in all dimensions".into(),
        marks: "native median / median of auto, the library's own choice",
        formula: "above 1: auto is faster",
        x: Axis::dimension(),
        y: Axis::linear("native time / our time"),
        series,
    }
}

/// A line for every collective, from dimension to speed-up.
fn series(all: &[Results], pick: for<'a, 'r> fn(&'a [&'r Row]) -> Option<&'r Row>) -> Vec<Series> {
    let mut collectives: Vec<&str> = Vec::new();
    for name in all.iter().flat_map(Results::collectives) {
        if !collectives.contains(&name) {
            collectives.push(name);
        }
    }
    let mut lines = Vec::new();
    for collective in collectives {
        let sizes: Vec<_> = all.iter().map(|results| results.by_size(collective)).filter(|s| !s.is_empty()).collect();
        let common = sizes.first().and_then(|first| {
            first.keys().rev().copied().find(|size| sizes.iter().all(|others| others.contains_key(size)))
        });
        let Some(size) = common else { continue };
        let mut line = Series::new(collective.into());
        for results in all {
            let by_size = results.by_size(collective);
            let point = by_size.get(&size).and_then(|rows| Some(pick(rows)?.median_s / auto(rows)?.median_s));
            line.simulated.extend(point.map(|speed_up| (f64::from(dimension(results)), speed_up)));
        }
        line.simulated.sort_by(|a, b| a.0.total_cmp(&b.0));
        line.formula.clone_from(&line.simulated);
        lines.push(line);
    }
    lines
}
