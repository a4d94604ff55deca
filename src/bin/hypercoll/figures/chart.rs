//! Lines and marks in a frame: formulas, simulations and measurements.

use crate::bench::sizes::show_bytes;
use crate::plot::style::*;
use plotters::chart::ChartContext;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use serde::Serialize;
use std::ops::Range;

/// A figure, as points.
#[derive(Serialize)]
pub struct Figure {
    /// Also the name of the file.
    pub name: &'static str,
    pub title: &'static str,
    /// What was simulated, or measured.
    pub setting: String,
    /// What the marks are.
    #[serde(skip)]
    pub marks: &'static str,
    /// What the lines are.
    pub formula: &'static str,
    #[serde(skip)]
    pub x: Axis,
    #[serde(skip)]
    pub y: Axis,
    pub series: Vec<Series>,
}

/// One line with its marks; each may be missing.
#[derive(Serialize)]
pub struct Series {
    pub label: String,
    /// On a network, beside what was simulated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<(f64, f64)>,
    pub simulated: Vec<(f64, f64)>,
    pub formula: Vec<(f64, f64)>,
    #[serde(skip)]
    pub dashed: bool,
}

impl Series {
    pub fn new(label: String) -> Series {
        Series { label, measured: Vec::new(), simulated: Vec::new(), formula: Vec::new(), dashed: false }
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.measured.iter().chain(&self.simulated).chain(&self.formula)
    }

    /// What others tend to.
    pub fn limit(label: &str) -> Series {
        Series { dashed: true, ..Series::new(label.into()) }
    }
}

/// An axis: its name, whether it is logarithmic, and how its numbers are shown.
pub struct Axis {
    name: &'static str,
    scale: Scale,
}

#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// Whole numbers, each with a tick.
    Whole,
    /// From 0 on.
    Linear,
    /// Powers of two.
    Bytes,
    /// Powers of ten.
    Seconds,
}

impl Axis {
    pub fn dimension() -> Axis {
        Axis { name: "dimension n of the cube", scale: Scale::Whole }
    }

    pub fn linear(name: &'static str) -> Axis {
        Axis { name, scale: Scale::Linear }
    }

    pub fn bytes(name: &'static str) -> Axis {
        Axis { name, scale: Scale::Bytes }
    }

    pub fn seconds(name: &'static str) -> Axis {
        Axis { name, scale: Scale::Seconds }
    }

    /// Where on the axis a value is.
    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Whole | Scale::Linear => value,
            Scale::Bytes => value.log2(),
            Scale::Seconds => value.log10(),
        }
    }

    fn show(&self, place: f64) -> String {
        match self.scale {
            Scale::Whole => format!("{place:.0}"),
            // No more digits than the ticks need.
            Scale::Linear => format!("{}", (place * 1000.0).round() / 1000.0),
            Scale::Bytes => show_bytes(place.exp2().round() as usize),
            Scale::Seconds => show_time(10f64.powf(place)),
        }
    }

    /// The axis for these values.
    fn places(&self, values: impl Iterator<Item = f64>) -> Places {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (ends, ticks) = match self.scale {
            Scale::Whole => (low - 0.2..high + 0.2, whole(low, high)),
            Scale::Linear => {
                let step = 10f64.powf((high / 4.0).log10().floor());
                let step =
                    [1.0, 2.0, 5.0].into_iter().map(|k| k * step).rfind(|step| high / step >= 4.0).unwrap_or(step);
                (0.0..high * 1.06, (0..=(high * 1.06 / step) as usize).map(|k| k as f64 * step).collect())
            }
            Scale::Bytes => (low.log2() - 0.2..high.log2() + 0.2, whole(low.log2(), high.log2())),
            Scale::Seconds => {
                let (low, high) = (low / 1.3, high * 1.3);
                (low.log10()..high.log10(), ticks(low, high).into_iter().map(f64::log10).collect())
            }
        };
        Places { ends, ticks }
    }
}

fn whole(low: f64, high: f64) -> Vec<f64> {
    (low.ceil() as i32..=high.floor() as i32).map(f64::from).collect()
}

const SIZE: (u32, u32) = (980, 580);
const HEAD: u32 = 92;
/// Room for the labels at the ends of the lines.
const LABELS: u32 = 210;
const LABEL_GAP: i32 = 18;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Places, Places>>;

/// The places of an axis, evenly spread, with its ticks.
struct Places {
    ends: Range<f64>,
    ticks: Vec<f64>,
}

impl Ranged for Places {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (low, high): (i32, i32)) -> i32 {
        let part = (place - self.ends.start) / (self.ends.end - self.ends.start);
        low + (part * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            Vec::new()
        } else {
            self.ticks.clone()
        }
    }

    fn range(&self) -> Range<f64> {
        self.ends.clone()
    }
}

/// The figure as SVG.
pub fn draw(figure: &Figure) -> Outcome<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let (head, rest) = root.split_vertically(HEAD);
        head.draw_text(figure.title, &bold(19.0), (24, 14)).map_err(failed)?;
        head.draw_text(&figure.setting, &text(13.0, &GREY), (24, 42)).map_err(failed)?;
        let note = format!("marks: {}; {}", figure.marks, figure.formula);
        head.draw_text(&note, &text(13.0, &GREY), (24, 62)).map_err(failed)?;
        let mut chart = frame(&rest, figure)?;
        for (series, colour) in coloured(figure) {
            draw_series(&mut chart, figure, series, colour)?;
        }
        label(&rest, &chart, figure)?;
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// Limits are grey, the others have a colour each.
fn coloured(figure: &Figure) -> Vec<(&Series, RGBColor)> {
    let mut colours = PALETTE.into_iter().cycle();
    figure.series.iter().map(|s| (s, if s.dashed { GREY } else { colours.next().unwrap_or(BLACK) })).collect()
}

fn frame<'a, 'b>(area: &'a Area<'b>, figure: &Figure) -> Outcome<Chart<'a, 'b>> {
    let points = || figure.series.iter().flat_map(Series::points);
    let (x, y) = (figure.x.places(points().map(|point| point.0)), figure.y.places(points().map(|point| point.1)));
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(LABELS)
        .x_label_area_size(46)
        .y_label_area_size(78)
        .build_cartesian_2d(x, y)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .axis_style(GREY)
        .light_line_style(TRANSPARENT)
        .label_style(text(12.0, &BLACK))
        .axis_desc_style(text(13.0, &GREY))
        .x_desc(figure.x.name)
        .y_desc(figure.y.name)
        .x_label_formatter(&|place| figure.x.show(*place))
        .y_label_formatter(&|place| figure.y.show(*place))
        .draw()
        .map_err(failed)?;
    Ok(chart)
}

fn draw_series(chart: &mut Chart<'_, '_>, figure: &Figure, series: &Series, colour: RGBColor) -> Outcome<()> {
    let place = |point: &(f64, f64)| (figure.x.place(point.0), figure.y.place(point.1));
    let line: Vec<(f64, f64)> = series.formula.iter().map(place).collect();
    if series.dashed {
        let dashes = DashedLineSeries::new(line, 6, 5, colour.stroke_width(1));
        chart.draw_series(dashes).map_err(failed)?;
    } else {
        chart.draw_series([PathElement::new(line, colour.stroke_width(1))]).map_err(failed)?;
    }
    // A ring leaves room for the dot of a measurement that agrees.
    let (radius, style) = if series.measured.is_empty() { (4, colour.filled()) } else { (7, colour.stroke_width(1)) };
    chart.draw_series(series.simulated.iter().map(|point| Circle::new(place(point), radius, style))).map_err(failed)?;
    let measured = series.measured.iter().map(|point| Circle::new(place(point), 4, colour.filled()));
    chart.draw_series(measured).map_err(failed).map(drop)
}

/// Writes the labels beside the ends of the lines, in the order of the ends.
fn label(area: &Area<'_>, chart: &Chart<'_, '_>, figure: &Figure) -> Outcome<()> {
    let (x_range, y_range) = chart.plotting_area().get_pixel_range();
    let screen = area.use_screen_coord();
    let mut ends = Vec::new();
    for (series, colour) in coloured(figure) {
        if let Some(end) = series.measured.last().or(series.simulated.last()).or(series.formula.last()) {
            ends.push((chart.backend_coord(&(figure.x.place(end.0), figure.y.place(end.1))), &series.label, colour));
        }
    }
    ends.sort_by_key(|((_, y), ..)| *y);
    let wanted: Vec<i32> = ends.iter().map(|((_, y), ..)| *y).collect();
    let places = spread(&wanted, LABEL_GAP, y_range.start + 4, y_range.end - 4);
    for (((x, y), label, colour), place) in ends.into_iter().zip(places) {
        let elbow = x_range.end + 6;
        let leader = [(x + 6, y), (elbow, y), (elbow + 14, place), (elbow + 20, place)];
        screen.draw(&PathElement::new(leader, colour.mix(0.5))).map_err(failed)?;
        let style = at(text(13.0, &BLACK), HPos::Left);
        screen.draw(&Text::new(label.clone(), (elbow + 26, place), style)).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_name_what_they_show() {
        let mut series = Series::new("SBT".into());
        series.simulated = vec![(1024.0, 0.5), (4096.0, 2.0)];
        series.formula = series.simulated.clone();
        let mut figure = Figure {
            name: "a",
            title: "A title",
            setting: "a setting".into(),
            marks: "simulated",
            formula: "line: a formula",
            x: Axis::bytes("block"),
            y: Axis::seconds("time"),
            series: vec![series, Series { formula: vec![(1024.0, 1.0)], ..Series::limit("limit") }],
        };
        let svg = draw(&figure).expect("a drawing");
        for text in ["A title", "a setting", "a formula", "SBT", "limit", "1 KiB", "4 KiB", "block", "time", "1 s"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        assert_eq!(svg.matches("<circle").count(), 2);
        // With a measurement, what was simulated is rings.
        assert!(!svg.contains(r#"r="7""#));
        figure.series[0].measured = vec![(2048.0, 1.0)];
        let svg = draw(&figure).expect("a drawing");
        assert_eq!((svg.matches("<circle").count(), svg.matches(r#"r="7""#).count()), (3, 2));
    }

    #[test]
    fn ticks_lie_within_the_ends() {
        for axis in [Axis::dimension(), Axis::linear("y"), Axis::bytes("x"), Axis::seconds("t")] {
            for values in [[2.0, 6.0], [64.0, 61440.0], [0.5, 9.9]] {
                let Places { ends, ticks } = axis.places(values.into_iter());
                assert!(!ticks.is_empty() && ticks.iter().all(|tick| ends.contains(tick)), "{} {values:?}", axis.name);
                assert!(values.iter().all(|&value| ends.contains(&axis.place(value))));
            }
        }
    }
}
