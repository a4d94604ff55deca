//! How good the cost model is: the time that it predicts against the time that was measured, of all that the library ran.

use super::style::Outcome;
use crate::bench::results::{Results, Row};
use crate::figures::chart::{self, Axis, Figure, Series, Stroke};

/// Around the predictions that are right: so far off they may be.
const BAND: f64 = 0.2;

/// The figure; `None` if nothing was predicted.
pub fn draw(results: &Results) -> Outcome<Option<String>> {
    let mut series: Vec<Series> = results.collectives().into_iter().map(|name| points(results, name)).collect();
    series.retain(|series| !series.measured.is_empty());
    let all = || series.iter().flat_map(|series| &series.measured).map(|point| point.0);
    let ends = [all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max)];
    if series.is_empty() {
        return Ok(None);
    }
    for (label, factor, stroke) in [
        ("as measured", 1.0, Stroke::Grey),
        ("20 % less", 1.0 - BAND, Stroke::GreyDashed),
        ("20 % more", 1.0 + BAND, Stroke::GreyDashed),
    ] {
        let formula = ends.map(|time| (time, time * factor)).to_vec();
        series.push(Series { formula, stroke, ..Series::new(label.into()) });
    }
    let figure = Figure {
        name: "predicted",
        title: "What the cost model predicts",
        setting: results.setting(),
        marks: "all of the library that was measured",
        formula: "lines: as measured, and 20 % off",
        x: Axis::seconds("measured (median)"),
        y: Axis::seconds("predicted"),
        series,
    };
    Ok(Some(chart::draw(&figure)?))
}

fn points(results: &Results, collective: &str) -> Series {
    let point = |row: &Row| Some((row.median_s, row.predicted_s.filter(|time| *time > 0.0)?));
    let ours = results.results.iter().filter(|row| row.collective == collective && !row.native);
    let mut series = Series::new(collective.into());
    series.measured = ours.filter_map(point).collect();
    series
}
