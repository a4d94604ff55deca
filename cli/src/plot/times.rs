//! Time against size for one collective, and beneath it the ratio to native, where differences can be seen that the many
//! decades of the times hide. [`super::best`] draws with the same means.

use super::style::*;
use crate::bench::results::{native, native_best, Results, Row};
use crate::bench::sizes::show_bytes;
use plotters::chart::ChartContext;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::combinators::{BindKeyPoints, LogCoord, WithKeyPoints};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

pub(super) const WIDTH: u32 = 1080;
pub(super) const HEAD: u32 = 66;
pub(super) const UPPER: u32 = 480;
pub(super) const LOWER: u32 = 300;
/// Room for the labels at the ends of the lines.
const LABELS: u32 = 270;
const LABEL_GAP: i32 = 18;
/// MPI's own choice, in the results.
const NATIVE_NAME: &str = "native";

pub(super) type Axis = WithKeyPoints<LogCoord<f64>>;
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// One implementation, or the best of several at every size.
pub(super) struct Line<'r> {
    pub label: String,
    pub colour: RGBColor,
    pub look: Look,
    pub rows: Vec<&'r Row>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Look {
    Native,
    /// The best of native MPI at every size.
    NativeBest,
    Auto,
    /// An algorithm, with the number of its form, which decides the marker.
    Ours(usize),
}

/// The figure as SVG.
pub fn draw(results: &Results, collective: &str) -> Outcome<String> {
    let lines = lines(results, collective);
    let by_size = results.by_size(collective);
    let with_native = by_size.values().any(|rows| native(rows).is_some());
    let mut svg = String::new();
    {
        let height = HEAD + UPPER + if with_native { LOWER } else { 0 };
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let title = format!("{collective}: {}", if collective == "barrier" { "time" } else { "time against size" });
        let rest = headed(&root, results, &title)?;
        let (upper, lower) = rest.split_vertically(UPPER);
        let sizes: Vec<f64> = by_size.keys().map(|bytes| x(*bytes)).collect();
        let size_name = size_name(collective);
        times(&upper, &lines, &sizes, size_name)?;
        if with_native {
            let ratio = |row: &Row| Some(native(by_size.get(&row.size_bytes)?)?.median_s / row.median_s);
            ratios(&lower, &lines, &sizes, size_name, &ratio)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// Writes the title and the setting; what is left beneath them.
pub(super) fn headed<'a>(root: &Area<'a>, results: &Results, title: &str) -> Outcome<Area<'a>> {
    root.fill(&WHITE).map_err(failed)?;
    let (head, rest) = root.split_vertically(HEAD);
    head.draw_text(title, &bold(20.0), (24, 16)).map_err(failed)?;
    let date = results.environment.date.split('T').next().unwrap_or_default();
    let network = results.environment.fabric.as_ref().map_or(String::new(), |fabric| format!("{fabric}; "));
    let setting = format!("{network}{}, {date}", results.setting());
    head.draw_text(&setting, &text(13.0, &GREY), (24, 44)).map_err(failed)?;
    Ok(rest)
}

/// What the sizes of a collective are.
pub(super) fn size_name(collective: &str) -> &'static str {
    match collective {
        "barrier" => "",
        "scatter"
        | "gather"
        | "all-gather"
        | "all-to-all"
        | "neighbor-all-to-all"
        | "reduce-scatter"
        | "transpose-rows" => "bytes of a block",
        _ => "bytes of the vector",
    }
}

/// A barrier has no bytes; it gets a place nevertheless.
pub(super) fn x(bytes: usize) -> f64 {
    bytes.max(1) as f64
}

/// The lines in the order of drawing: the broad ones first, native last.
fn lines<'r>(results: &'r Results, collective: &str) -> Vec<Line<'r>> {
    let mut lines: Vec<Line<'r>> = Vec::new();
    let mut algorithms: Vec<&str> = Vec::new();
    // A forced native algorithm is measured at few sizes: together they make one line.
    let forced = |row: &&Row| row.native && row.implementation != NATIVE_NAME;
    for row in results.results.iter().filter(|row| row.collective == collective && !forced(row)) {
        if let Some(line) = lines.iter_mut().find(|line| line.label == row.implementation) {
            line.rows.push(row);
            continue;
        }
        let algorithm = row.implementation.split(' ').next().unwrap_or_default();
        let (look, colour) = if row.native {
            (Look::Native, NATIVE)
        } else if row.implementation == "auto" {
            (Look::Auto, AUTO)
        } else {
            let known = algorithms.iter().position(|name| *name == algorithm);
            let number = known.unwrap_or_else(|| {
                algorithms.push(algorithm);
                algorithms.len() - 1
            });
            let form = ["", " packets", " all-ports", " all-ports packets"];
            let form = form.iter().position(|form| row.implementation[algorithm.len()..] == **form).unwrap_or(0);
            (Look::Ours(form), PALETTE[number % PALETTE.len()])
        };
        lines.push(Line { label: row.implementation.clone(), colour, look, rows: vec![row] });
    }
    if results.results.iter().any(|row| row.collective == collective && forced(&row)) {
        let rows = results.by_size(collective).values().filter_map(|rows| native_best(rows)).collect();
        lines.push(Line { label: "native MPI at its best".into(), colour: NATIVE, look: Look::NativeBest, rows });
    }
    lines.iter_mut().for_each(|line| line.rows.sort_by_key(|row| row.size_bytes));
    lines.sort_by_key(|line| match line.look {
        Look::Auto => 0,
        Look::Ours(_) => 1,
        Look::Native | Look::NativeBest => 2,
    });
    lines
}

pub(super) fn times(area: &Area<'_>, lines: &[Line<'_>], sizes: &[f64], size_name: &str) -> Outcome<()> {
    let rows = || lines.iter().flat_map(|line| &line.rows);
    let least = |row: &Row| row.ci_low_s.unwrap_or(row.median_s).min(row.limit_s.unwrap_or(f64::INFINITY));
    let low = rows().map(|row| least(row)).fold(f64::INFINITY, f64::min);
    let high = rows().map(|row| row.ci_high_s.unwrap_or(row.median_s)).fold(0.0, f64::max);
    let mut chart = chart(area, sizes, (low / 1.4, high * 1.4), size_name, "time (median, 95 % interval)", &show_time)?;
    for line in lines {
        let whiskers = line.rows.iter().filter_map(|row| {
            let x = x(row.size_bytes);
            Some(PathElement::new([(x, row.ci_low_s?), (x, row.ci_high_s?)], line.colour.mix(0.7)))
        });
        chart.draw_series(whiskers).map_err(failed)?;
    }
    let mut limit: Vec<(f64, f64)> = rows().filter_map(|row| Some((x(row.size_bytes), row.limit_s?))).collect();
    limit.sort_by(|a, b| a.0.total_cmp(&b.0));
    limit.dedup();
    draw_limit(&mut chart, limit)?;
    let points = draw_lines(&mut chart, lines, &|row| Some(row.median_s))?;
    label_lines(area, &chart, lines, &points)
}

/// The line that nothing can cross, and its name.
pub(super) fn draw_limit(chart: &mut Chart<'_, '_>, points: Vec<(f64, f64)>) -> Outcome<()> {
    let Some(first) = points.first().copied() else { return Ok(()) };
    chart.draw_series([PathElement::new(points, LIMIT.stroke_width(2))]).map_err(failed)?;
    // The line rises to the right: beneath its beginning there is room.
    let (x, y) = chart.backend_coord(&first);
    let style = at(text(12.0, &LIMIT), HPos::Left);
    let screen = chart.plotting_area().use_screen_coord();
    screen.draw(&Text::new("physical limit", (x + 12, y + 12), style)).map_err(failed)
}

fn ratios(
    area: &Area<'_>,
    lines: &[Line<'_>],
    sizes: &[f64],
    size_name: &str,
    ratio: &dyn Fn(&Row) -> Option<f64>,
) -> Outcome<()> {
    let ratios = || lines.iter().flat_map(|line| &line.rows).filter_map(|row| ratio(row));
    let (low, high) = (ratios().fold(0.8, f64::min), ratios().fold(1.25, f64::max));
    let mut chart =
        chart(area, sizes, (low / 1.15, high * 1.15), size_name, "native / this (up: faster)", &show_ratio)?;
    draw_lines(&mut chart, lines, ratio).map(drop)
}

/// An empty chart with its axes.
pub(super) fn chart<'a, 'b>(
    area: &'a Area<'b>,
    sizes: &[f64],
    (low, high): (f64, f64),
    x_name: &str,
    y_name: &str,
    show: &dyn Fn(f64) -> String,
) -> Outcome<Chart<'a, 'b>> {
    let (first, last) = (sizes.first().copied().unwrap_or(1.0), sizes.last().copied().unwrap_or(1.0));
    // A single size is put in the middle.
    let margin = if first == last { 2.0 } else { (last / first).powf(0.02) };
    // Labels of sizes that lie close together would run into each other.
    let least = (last / first).powf(0.07);
    let mut shown: Vec<f64> = Vec::new();
    for size in sizes {
        if shown.last().is_none_or(|previous| size / previous >= least) {
            shown.push(*size);
        }
    }
    let x_axis = (first / margin..last * margin).log_scale().with_key_points(shown);
    let y_axis = (low..high).log_scale().with_key_points(ticks(low, high));
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(LABELS)
        .x_label_area_size(46)
        .y_label_area_size(82)
        .build_cartesian_2d(x_axis, y_axis)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .axis_style(GREY)
        .light_line_style(TRANSPARENT)
        .label_style(text(12.0, &BLACK))
        .axis_desc_style(text(13.0, &GREY))
        .x_desc(x_name)
        .y_desc(y_name)
        // A barrier's place is 1; nothing else is shorter than an element.
        .x_label_formatter(&|size| show_bytes(if *size < 8.0 { 0 } else { *size as usize }))
        .y_label_formatter(&|value| show(*value))
        .draw()
        .map_err(failed)?;
    Ok(chart)
}

/// Draws the lines with their markers; where the last point of each is.
pub(super) fn draw_lines(
    chart: &mut Chart<'_, '_>,
    lines: &[Line<'_>],
    y: &dyn Fn(&Row) -> Option<f64>,
) -> Outcome<Vec<Option<(i32, i32)>>> {
    let mut ends = Vec::new();
    for line in lines {
        let points: Vec<(f64, f64)> = line.rows.iter().filter_map(|row| Some((x(row.size_bytes), y(row)?))).collect();
        let stroke = match line.look {
            Look::Native | Look::NativeBest => line.colour.stroke_width(3),
            Look::Auto => line.colour.mix(0.75).stroke_width(11),
            Look::Ours(_) => line.colour.mix(0.9).stroke_width(1),
        };
        if line.look == Look::NativeBest {
            chart.draw_series(DashedLineSeries::new(points.clone(), 8, 5, stroke)).map_err(failed)?;
        } else {
            chart.draw_series(std::iter::once(PathElement::new(points.clone(), stroke))).map_err(failed)?;
        }
        let screen = chart.plotting_area().use_screen_coord();
        for point in &points {
            marker(&screen, chart.backend_coord(point), line)?;
        }
        ends.push(points.last().map(|point| chart.backend_coord(point)));
    }
    Ok(ends)
}

/// A form has its own marker: filled for whole messages, round on one port, hollow where packets are chosen.
fn marker(screen: &Area<'_>, (x, y): (i32, i32), line: &Line<'_>) -> Outcome<()> {
    let (colour, paper) = (line.colour, WHITE.filled());
    let triangle = |size: i32| vec![(x, y - size), (x + size, y + size - 1), (x - size, y + size - 1)];
    match line.look {
        Look::Native => screen.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], colour.filled())),
        Look::NativeBest => screen
            .draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], paper))
            .and_then(|()| screen.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], colour.stroke_width(2)))),
        Look::Auto => screen.draw(&Circle::new((x, y), 7, colour.filled())),
        Look::Ours(0) => screen.draw(&Circle::new((x, y), 4, colour.filled())),
        Look::Ours(1) => screen
            .draw(&Circle::new((x, y), 4, paper))
            .and_then(|()| screen.draw(&Circle::new((x, y), 4, colour.stroke_width(2)))),
        Look::Ours(2) => screen.draw(&Polygon::new(triangle(5), colour.filled())),
        Look::Ours(_) => screen
            .draw(&Polygon::new(triangle(6), colour.filled()))
            .and_then(|()| screen.draw(&Polygon::new(triangle(3), paper))),
    }
    .map_err(failed)
}

/// Writes the names beside the ends of the lines, in the order of the ends.
pub(super) fn label_lines(
    area: &Area<'_>,
    chart: &Chart<'_, '_>,
    lines: &[Line<'_>],
    ends: &[Option<(i32, i32)>],
) -> Outcome<()> {
    let (x_range, y_range) = chart.plotting_area().get_pixel_range();
    let screen = area.use_screen_coord();
    let mut ended: Vec<(&Line<'_>, (i32, i32))> =
        lines.iter().zip(ends).filter_map(|(line, end)| Some((line, (*end)?))).collect();
    ended.sort_by_key(|(_, (_, y))| *y);
    let wanted: Vec<i32> = ended.iter().map(|(_, (_, y))| *y).collect();
    let places = spread(&wanted, LABEL_GAP, y_range.start + 4, y_range.end - 4);
    for ((line, (x, y)), place) in ended.into_iter().zip(places) {
        let elbow = x_range.end + 8;
        // A line that ends early is found by its marker; a leader across the chart would be one line more.
        if elbow - x < 60 {
            let leader = [(x + 6, y), (elbow, y), (elbow + 16, place), (elbow + 22, place)];
            screen.draw(&PathElement::new(leader, line.colour.mix(0.6))).map_err(failed)?;
        }
        marker(&screen, (elbow + 32, place), line)?;
        let (label, style) = match line.look {
            Look::Native => ("native MPI".to_string(), bold(13.0)),
            Look::NativeBest => (line.label.clone(), bold(13.0)),
            Look::Auto => ("auto (the library's choice)".to_string(), text(13.0, &BLACK)),
            Look::Ours(_) => (line.label.clone(), text(13.0, &BLACK)),
        };
        screen.draw(&Text::new(label, (elbow + 44, place), at(style, HPos::Left))).map_err(failed)?;
    }
    Ok(())
}
