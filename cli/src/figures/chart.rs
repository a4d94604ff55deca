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
    pub stroke: Stroke,
}

/// How a line is drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Stroke {
    /// So that it differs from all others.
    Own,
    /// As what others are held against.
    Grey,
    GreyDashed,
}

impl Series {
    pub fn new(label: String) -> Series {
        Series { label, measured: Vec::new(), simulated: Vec::new(), formula: Vec::new(), stroke: Stroke::Own }
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.measured.iter().chain(&self.simulated).chain(&self.formula)
    }

    /// The end on the right; of several, what was measured goes before what was simulated, and that before the formula.
    fn end(&self) -> Option<&(f64, f64)> {
        self.points().reduce(|end, point| if point.0 > end.0 { point } else { end })
    }

    fn has_marks(&self) -> bool {
        !(self.measured.is_empty() && self.simulated.is_empty())
    }

    /// What others tend to.
    pub fn limit(label: &str) -> Series {
        Series { stroke: Stroke::GreyDashed, ..Series::new(label.into()) }
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
    /// Powers of two, so that half is as far from 1 as twice.
    Ratio,
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

    pub fn ratio(name: &'static str) -> Axis {
        Axis { name, scale: Scale::Ratio }
    }

    /// Where on the axis a value is.
    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Whole | Scale::Linear => value,
            Scale::Bytes | Scale::Ratio => value.log2(),
            Scale::Seconds => value.log10(),
        }
    }

    fn show(&self, place: f64) -> String {
        match self.scale {
            Scale::Whole => format!("{place:.0}"),
            // No more digits than the ticks need.
            Scale::Linear => format!("{}", (place * 1000.0).round() / 1000.0),
            Scale::Ratio => format!("{}", place.exp2()),
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
            Scale::Bytes => {
                let ticks = whole(low.log2(), high.log2());
                let step = ticks.len().div_ceil(MOST_LABELS).max(1);
                (low.log2() - 0.2..high.log2() + 0.2, ticks.into_iter().step_by(step).collect())
            }
            Scale::Ratio => {
                let low = low.log2().floor();
                let high = high.log2().ceil().max(low + 1.0);
                (low..high, whole(low, high))
            }
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

/// Numbers of bytes that have room side by side.
const MOST_LABELS: usize = 12;

const SIZE: (u32, u32) = (980, 580);
const HEAD: u32 = 92;
/// Room for the labels at the ends of the lines, unless one of them is longer.
const LABELS: u32 = 210;
const LABEL_GAP: i32 = 18;
/// Room for the line to a label and its mark, and for each of its letters.
const LABEL_ROOM: (u32, u32) = (60, 7);

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
        let labels = room_for_labels(figure);
        let size = (SIZE.0 + labels - LABELS, SIZE.1);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let (head, rest) = root.split_vertically(HEAD);
        head.draw_text(figure.title, &bold(19.0), (24, 14)).map_err(failed)?;
        head.draw_text(&figure.setting, &text(13.0, &GREY), (24, 42)).map_err(failed)?;
        let note = format!("marks: {}; {}", figure.marks, figure.formula);
        head.draw_text(&note, &text(13.0, &GREY), (24, 62)).map_err(failed)?;
        let mut chart = frame(&rest, figure, labels)?;
        for (series, look) in looks(figure) {
            draw_series(&mut chart, figure, series, look)?;
        }
        label(&rest, &chart, figure)?;
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// What tells a series from the others.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Look {
    colour: RGBColor,
    mark: Mark,
    /// Pixels of a dash and of a gap.
    dashes: Option<(i32, i32)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mark {
    Dot,
    Square,
    Triangle,
}

/// Marks and dashes of as many series as there are colours, and of the next, which have the same colours.
const ROUNDS: [(Mark, Option<(i32, i32)>); 3] =
    [(Mark::Dot, None), (Mark::Square, Some((10, 4))), (Mark::Triangle, Some((3, 3)))];

/// Each series has a colour; where colours come again, other marks and dashes go with them.
fn looks(figure: &Figure) -> Vec<(&Series, Look)> {
    let mut number = 0;
    let mut look = |stroke: Stroke| {
        let grey = |dashes| Look { colour: GREY, mark: Mark::Dot, dashes };
        match stroke {
            Stroke::Grey => grey(None),
            Stroke::GreyDashed => grey(Some((6, 5))),
            Stroke::Own => {
                let (mark, dashes) = ROUNDS[number / PALETTE.len() % ROUNDS.len()];
                let colour = PALETTE[number % PALETTE.len()];
                number += 1;
                Look { colour, mark, dashes }
            }
        }
    };
    figure.series.iter().map(|series| (series, look(series.stroke))).collect()
}

/// Where a label is long, the drawing is wider.
fn room_for_labels(figure: &Figure) -> u32 {
    let longest = figure.series.iter().map(|series| series.label.chars().count()).max().unwrap_or(0);
    LABELS.max(LABEL_ROOM.0 + LABEL_ROOM.1 * longest as u32)
}

fn frame<'a, 'b>(area: &'a Area<'b>, figure: &Figure, labels: u32) -> Outcome<Chart<'a, 'b>> {
    let points = || figure.series.iter().flat_map(Series::points);
    let (x, y) = (figure.x.places(points().map(|point| point.0)), figure.y.places(points().map(|point| point.1)));
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(labels)
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

fn draw_series(chart: &mut Chart<'_, '_>, figure: &Figure, series: &Series, look: Look) -> Outcome<()> {
    let place = |point: &(f64, f64)| (figure.x.place(point.0), figure.y.place(point.1));
    let line: Vec<(f64, f64)> = series.formula.iter().map(place).collect();
    let (thin, filled) = (look.colour.stroke_width(1), look.colour.filled());
    if let Some((dash, gap)) = look.dashes {
        chart.draw_series(DashedLineSeries::new(line, dash, gap, thin)).map_err(failed)?;
    } else {
        chart.draw_series([PathElement::new(line, thin)]).map_err(failed)?;
    }
    let screen = chart.plotting_area().use_screen_coord();
    // A ring leaves room for the dot of a measurement that agrees.
    let (radius, style) = if series.measured.is_empty() { (4, filled) } else { (7, thin) };
    for point in &series.simulated {
        draw_mark(&screen, look.mark, chart.backend_coord(&place(point)), radius, style)?;
    }
    for point in &series.measured {
        draw_mark(&screen, look.mark, chart.backend_coord(&place(point)), 4, filled)?;
    }
    Ok(())
}

/// A mark or, if the style does not fill, its outline.
fn draw_mark(screen: &Area<'_>, mark: Mark, (x, y): (i32, i32), radius: i32, style: ShapeStyle) -> Outcome<()> {
    match mark {
        Mark::Dot => screen.draw(&Circle::new((x, y), radius, style)),
        Mark::Square => screen.draw(&Rectangle::new([(x - radius, y - radius), (x + radius, y + radius)], style)),
        Mark::Triangle => {
            let (side, foot) = (radius + 1, y + radius);
            let (top, right, left) = ((x, y - side), (x + side, foot), (x - side, foot));
            if style.filled {
                screen.draw(&Polygon::new(vec![top, right, left], style))
            } else {
                screen.draw(&PathElement::new(vec![top, right, left, top], style))
            }
        }
    }
    .map_err(failed)
}

/// Writes the labels, with their marks, beside the ends of the lines, in the order of the ends.
fn label(area: &Area<'_>, chart: &Chart<'_, '_>, figure: &Figure) -> Outcome<()> {
    let (x_range, y_range) = chart.plotting_area().get_pixel_range();
    let screen = area.use_screen_coord();
    let mut ends = Vec::new();
    for (series, look) in looks(figure) {
        if let Some(end) = series.end() {
            ends.push((chart.backend_coord(&(figure.x.place(end.0), figure.y.place(end.1))), series, look));
        }
    }
    ends.sort_by_key(|((_, y), ..)| *y);
    let wanted: Vec<i32> = ends.iter().map(|((_, y), ..)| *y).collect();
    let places = spread(&wanted, LABEL_GAP, y_range.start + 4, y_range.end - 4);
    for (((x, y), series, look), place) in ends.into_iter().zip(places) {
        let elbow = x_range.end + 6;
        let tip = elbow + if series.has_marks() { 18 } else { 32 };
        let leader = [(x + 6, y), (elbow, y), (elbow + 14, place), (tip, place)];
        screen.draw(&PathElement::new(leader, look.colour.mix(0.5))).map_err(failed)?;
        if series.has_marks() {
            draw_mark(&screen, look.mark, (elbow + 27, place), 4, look.colour.filled())?;
        }
        let style = at(text(13.0, &BLACK), HPos::Left);
        screen.draw(&Text::new(series.label.clone(), (elbow + 37, place), style)).map_err(failed)?;
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
        // Two marks, and the label's.
        assert_eq!(svg.matches("<circle").count(), 3);
        // With a measurement, what was simulated is rings.
        assert!(!svg.contains(r#"r="7""#));
        figure.series[0].measured = vec![(2048.0, 1.0)];
        let svg = draw(&figure).expect("a drawing");
        assert_eq!((svg.matches("<circle").count(), svg.matches(r#"r="7""#).count()), (4, 2));
    }

    #[test]
    fn a_long_label_makes_the_drawing_wider() {
        let width = |label: &str| {
            let series = Series { simulated: vec![(1.0, 1.0), (2.0, 2.0)], ..Series::new(label.into()) };
            let (x, y) = (Axis::dimension(), Axis::linear("y"));
            let (title, setting) = ("A title", String::new());
            let figure = Figure { name: "a", title, setting, marks: "m", formula: "f", x, y, series: vec![series] };
            let svg = draw(&figure).expect("a drawing");
            let width = svg.split_once("width=\"").and_then(|(_, rest)| rest.split('"').next()?.parse::<u32>().ok());
            width.expect("a width")
        };
        assert_eq!(width("recursive_halving"), SIZE.0);
        assert_eq!(width("recursive_doubling_symmetrized") - SIZE.0, 60 + 7 * 30 - LABELS);
    }

    #[test]
    fn no_two_series_look_alike() {
        let series = |number: usize| Series {
            simulated: vec![(1.0, number as f64), (2.0, number as f64)],
            ..Series::new(number.to_string())
        };
        let figure = |number: usize| Figure {
            name: "a",
            title: "A title",
            setting: "a setting".into(),
            marks: "simulated",
            formula: "no line",
            x: Axis::dimension(),
            y: Axis::linear("y"),
            series: (1..=number).map(series).chain([Series::limit("limit")]).collect(),
        };
        let all = figure(PALETTE.len() * ROUNDS.len());
        let seen: Vec<_> = looks(&all).into_iter().map(|(_, look)| (look.colour, look.mark)).collect();
        for (at, look) in seen.iter().enumerate() {
            assert!(!seen[..at].contains(look), "{look:?}");
        }
        let squares = |number| draw(&figure(number)).expect("a drawing").matches("<rect").count();
        // Two marks, and the label's.
        assert_eq!(squares(PALETTE.len() + 1) - squares(PALETTE.len()), 3);
    }

    #[test]
    fn a_series_ends_on_the_right() {
        let mut series = Series { formula: vec![(1.0, 5.0), (3.0, 6.0)], ..Series::new("a".into()) };
        series.simulated = vec![(2.0, 1.0), (1.0, 2.0)];
        assert_eq!(series.end(), Some(&(3.0, 6.0)));
        series.simulated.push((3.0, 7.0));
        assert_eq!(series.end(), Some(&(3.0, 7.0)));
        series.measured = vec![(3.0, 8.0), (1.0, 9.0)];
        assert_eq!(series.end(), Some(&(3.0, 8.0)));
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
        let Places { ticks, .. } = Axis::bytes("x").places([8.0, (16 << 20) as f64].into_iter());
        assert_eq!(ticks, (3..=24).step_by(2).map(f64::from).collect::<Vec<_>>());
    }
}
