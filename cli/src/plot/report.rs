//! The report of a program that ran under `hypercoll preload`: where its time in collectives went, beside a table of the same rows.

use super::style::*;
use crate::bench::sizes::show_bytes;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use serde::Deserialize;

/// What the preloaded library writes. Older ones do not say what is optional here.
#[derive(Deserialize)]
pub struct Report {
    hypercoll: Option<String>,
    mpi: Option<String>,
    /// UTC, RFC 3339.
    date: Option<String>,
    hosts: Option<usize>,
    program: Option<String>,
    ranks: usize,
    seconds: f64,
    pub rows: Vec<Row>,
}

/// The calls of a collective in a class of sizes that the same served. Times are those of all calls together.
#[derive(Deserialize)]
pub struct Row {
    collective: String,
    /// The lower end of the class.
    from_bytes: usize,
    #[serde(flatten)]
    by: By,
    /// Of the rank that has most.
    calls: u64,
    mean_seconds: f64,
    most_seconds: f64,
    least_rank: Option<usize>,
    /// What as many calls take natively, as far as that was tried.
    native_seconds: Option<f64>,
}

#[derive(Deserialize)]
#[serde(tag = "served_by", rename_all = "lowercase")]
enum By {
    Ours { algorithm: String },
    Native { why: String },
}

/// More rows would be too small to be read; those with the least time matter least.
const MOST_ROWS: usize = 20;
/// No clock shows less: the least that the axis goes to.
const LEAST_SECONDS: f64 = 1e-9;
/// No program runs longer, and an axis without an end cannot be drawn.
const MOST_SECONDS: f64 = 1e12;

const OURS: RGBColor = PALETTE[0];
const MPI: RGBColor = RGBColor(150, 150, 150);
/// Behind every second row, to lead the eye from its name to its numbers.
const BAND: RGBColor = RGBColor(246, 246, 246);

const HEAD: i32 = 92;
const HEADINGS: i32 = 24;
const PITCH: i32 = 40;
const AXIS: u32 = 46;
const NOTE: u32 = 20;
/// Above and beneath the notes together.
const FOOT: u32 = 16;
const MARGIN: i32 = 24;
const BARS: i32 = 480;
const COLUMN: i32 = 84;
/// Width of a letter of a label and, in bold, of the title.
const LETTER: i32 = 7;
const TITLE_LETTER: i32 = 12;
/// Characters of the command line that are shown.
const LONGEST_PROGRAM: usize = 60;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A column of the table; it is left out if no row has it.
type Column = (&'static str, fn(&Row) -> Option<String>);
const COLUMNS: [Column; 5] = [
    ("calls", |row| Some(row.calls.to_string())),
    ("mean", |row| Some(show_time(row.mean_seconds))),
    ("slowest", |row| Some(show_time(row.most_seconds))),
    ("natively", |row| row.native_seconds.map(show_time)),
    ("least time", |row| row.least_rank.map(|rank| format!("rank {rank}"))),
];

/// The figure as SVG.
pub fn draw(report: &Report) -> Outcome<String> {
    let mut rows: Vec<&Row> = report.rows.iter().collect();
    if let Some(time) = rows.iter().flat_map(|row| row.times()).find(|time| !(0.0..MOST_SECONDS).contains(time)) {
        return Err(format!("{time:e} s is not the time of any calls"));
    }
    rows.sort_by(|a, b| b.mean_seconds.total_cmp(&a.mean_seconds));
    let left_out = rows.split_off(rows.len().min(MOST_ROWS));
    let columns: Vec<Column> =
        COLUMNS.into_iter().filter(|(_, cell)| rows.iter().any(|row| cell(row).is_some())).collect();

    let (title, setting, notes) = (report.title(), report.setting(), notes(&rows, &left_out));
    let letters = |text: &str| text.chars().count() as i32;
    let longest = rows.iter().flat_map(|row| [row.calls_of(), row.served_by()]).map(|label| letters(&label)).max();
    let left = MARGIN + LETTER * longest.unwrap_or(0) + 8;
    let right = COLUMN * columns.len() as i32 + MARGIN;
    let heading = (TITLE_LETTER * letters(&title)).max(LETTER * letters(&setting));
    let width = (left + BARS + right).max(2 * MARGIN + heading);
    let bars = (left, width - right);
    let top = HEAD + HEADINGS;
    let foot = AXIS + NOTE * notes.len() as u32 + FOOT;
    let height = (top + PITCH * rows.len() as i32) as u32 + foot;

    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width as u32, height)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        root.draw_text(&title, &bold(20.0), (MARGIN, 16)).map_err(failed)?;
        root.draw_text(&setting, &text(13.0, &GREY), (MARGIN, 44)).map_err(failed)?;
        legend(&root, &rows)?;
        for number in (0..rows.len() as i32).step_by(2) {
            let band = [(MARGIN / 2, top + PITCH * number), (width - MARGIN / 2, top + PITCH * (number + 1))];
            root.draw(&Rectangle::new(band, BAND.filled())).map_err(failed)?;
        }
        let place = axis(&root, &rows, bars, foot)?;
        let end_of = |column: usize| bars.1 + COLUMN * (column as i32 + 1);
        let style = |pixels, colour| at(text(pixels, colour), HPos::Right);
        for (number, (heading, _)) in columns.iter().enumerate() {
            root.draw_text(heading, &style(12.0, &GREY), (end_of(number), top - HEADINGS / 2)).map_err(failed)?;
        }
        for (number, row) in rows.iter().enumerate() {
            let middle = top + PITCH * number as i32 + PITCH / 2;
            root.draw_text(&row.calls_of(), &style(13.0, &BLACK), (left - 8, middle - 8)).map_err(failed)?;
            root.draw_text(&row.served_by(), &style(13.0, &GREY), (left - 8, middle + 9)).map_err(failed)?;
            draw_bars(&root, row, middle, &place)?;
            for (number, (_, cell)) in columns.iter().enumerate() {
                let cell = cell(row).unwrap_or_default();
                root.draw_text(&cell, &style(13.0, &BLACK), (end_of(number), middle)).map_err(failed)?;
            }
        }
        for (number, note) in notes.iter().rev().enumerate() {
            let y = (height - FOOT / 2 - NOTE * number as u32 - NOTE / 2) as i32;
            root.draw_text(note, &at(text(13.0, &GREY), HPos::Left), (MARGIN, y)).map_err(failed)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// What is to be said beneath the drawing.
fn notes(rows: &[&Row], left_out: &[&Row]) -> Vec<String> {
    let mut notes = Vec::new();
    if rows.iter().any(|row| row.least_rank.is_some()) {
        notes.push("least time: that rank is likely to have come last, so that the others waited for it".into());
    }
    if let Some(row) = left_out.first() {
        notes.push(format!("left out: {} more, each with {} or less", left_out.len(), show_time(row.mean_seconds)));
    }
    notes
}

/// Draws the axis between the two ends; where on it a time is.
fn axis(root: &Area<'_>, rows: &[&Row], (left, right): (i32, i32), foot: u32) -> Outcome<impl Fn(f64) -> i32> {
    let high = rows.iter().flat_map(|row| row.times()).fold(LEAST_SECONDS, f64::max) * 1.04;
    let (width, _) = root.dim_in_pixel();
    let mut chart = ChartBuilder::on(root)
        .margin_left(left)
        .margin_right(width as i32 - right)
        .margin_top(HEAD + HEADINGS)
        .margin_bottom(foot - AXIS)
        .x_label_area_size(AXIS)
        .build_cartesian_2d(0.0..high, 0.0..1.0)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_labels(6)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(GREY)
        .label_style(text(12.0, &BLACK))
        .axis_desc_style(text(13.0, &GREY))
        .x_desc("time of a rank in all these calls")
        .x_label_formatter(&|seconds| if *seconds == 0.0 { "0".into() } else { show_time(*seconds) })
        .draw()
        .map_err(failed)?;
    Ok(move |seconds: f64| left + (seconds / high * f64::from(right - left)).round() as i32)
}

/// Draws the mean time as a bar, the slowest rank's as a line that goes on to it, and the native time as a bar beneath.
fn draw_bars(root: &Area<'_>, row: &Row, middle: i32, place: &impl Fn(f64) -> i32) -> Outcome<()> {
    let (colour, left) = (row.by.colour(), place(0.0));
    let middle = if row.native_seconds.is_some() { middle - 6 } else { middle };
    let (mean, most) = (place(row.mean_seconds), place(row.most_seconds));
    root.draw(&Rectangle::new([(left, middle - 7), (mean, middle + 7)], colour.filled())).map_err(failed)?;
    for line in [[(mean, middle), (most, middle)], [(most, middle - 5), (most, middle + 5)]] {
        root.draw(&PathElement::new(line, BLACK.stroke_width(2))).map_err(failed)?;
    }
    if let Some(seconds) = row.native_seconds {
        native_bar(root, [(left, middle + 10), (place(seconds), middle + 19)])?;
    }
    Ok(())
}

/// Hollow, as what was not called.
fn native_bar(root: &Area<'_>, corners: [(i32, i32); 2]) -> Outcome<()> {
    root.draw(&Rectangle::new(corners, WHITE.filled())).map_err(failed)?;
    root.draw(&Rectangle::new(corners, NATIVE.stroke_width(1))).map_err(failed)
}

/// What bars and lines are, of those that there are.
fn legend(root: &Area<'_>, rows: &[&Row]) -> Outcome<()> {
    let (y, mut x) = (74, MARGIN);
    let label = |x: &mut i32, words: &str| {
        root.draw_text(words, &at(text(13.0, &BLACK), HPos::Left), (*x + 22, y)).map_err(failed)?;
        *x += 46 + LETTER * words.len() as i32;
        Outcome::Ok(())
    };
    let has = |colour| rows.iter().any(|row| row.by.colour() == colour);
    for (colour, words) in [(OURS, "mean of the ranks, by hypercoll"), (MPI, "mean of the ranks, by MPI")] {
        if has(colour) {
            root.draw(&Rectangle::new([(x, y - 7), (x + 14, y + 7)], colour.filled())).map_err(failed)?;
            label(&mut x, words)?;
        }
    }
    for line in [[(x, y), (x + 14, y)], [(x + 14, y - 5), (x + 14, y + 5)]] {
        root.draw(&PathElement::new(line, BLACK.stroke_width(2))).map_err(failed)?;
    }
    label(&mut x, "slowest rank")?;
    if rows.iter().any(|row| row.native_seconds.is_some()) {
        native_bar(root, [(x, y - 4), (x + 14, y + 5)])?;
        label(&mut x, "as many calls natively, as tried")?;
    }
    Ok(())
}

impl Report {
    fn title(&self) -> String {
        let Some(program) = &self.program else { return "What a program spent in collectives".into() };
        // The program's folders tell less than what it was called with.
        let (name, arguments) = program.split_once(' ').unwrap_or((program, ""));
        let name = name.rsplit('/').next().unwrap_or(name);
        let words = format!("{name} {arguments}");
        let beginning: String = words.trim_end().chars().take(LONGEST_PROGRAM).collect();
        let more = if words.trim_end().chars().count() > LONGEST_PROGRAM { "…" } else { "" };
        format!("What {beginning}{more} spent in collectives")
    }

    /// `8 ranks on 1 host, 1.5 s in all, Open MPI v4.1.4, hypercoll 0.2.0, 2026-11-30`.
    fn setting(&self) -> String {
        let counted = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let hosts = self.hosts.map_or(String::new(), |hosts| format!(" on {}", counted(hosts, "host")));
        let mut words =
            vec![format!("{}{hosts}", counted(self.ranks, "rank")), format!("{} in all", show_time(self.seconds))];
        words.extend(self.mpi.clone());
        words.extend(self.hypercoll.as_ref().map(|version| format!("hypercoll {version}")));
        words.extend(self.date.as_ref().and_then(|date| Some(date.split('T').next()?.to_string())));
        words.join(", ")
    }
}

impl Row {
    fn times(&self) -> [f64; 3] {
        [self.mean_seconds, self.most_seconds, self.native_seconds.unwrap_or(0.0)]
    }

    fn calls_of(&self) -> String {
        match self.from_bytes {
            0 => format!("{} 0 B", self.collective),
            1 => format!("{} 1 to 15 B", self.collective),
            bytes => format!("{} from {}", self.collective, show_bytes(bytes)),
        }
    }

    fn served_by(&self) -> String {
        match &self.by {
            By::Ours { algorithm } => algorithm.clone(),
            By::Native { why } => format!("MPI: {why}"),
        }
    }
}

impl By {
    fn colour(&self) -> RGBColor {
        match self {
            By::Ours { .. } => OURS,
            By::Native { .. } => MPI,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, Value};

    fn drawn(report: Value) -> String {
        draw(&serde_json::from_value(report).expect("a report")).expect("a drawing")
    }

    fn row(collective: &str, mean_seconds: f64) -> Value {
        json!({
            "collective": collective, "from_bytes": 16, "served_by": "ours", "algorithm": "direct", "ranks": 8, "calls": 100,
            "bytes": 6400, "mean_seconds": mean_seconds, "most_seconds": 2.0 * mean_seconds,
        })
    }

    fn old(rows: Vec<Value>) -> Value {
        json!({"ranks": 8, "seconds": 1.5, "communicators": 2, "rows": rows})
    }

    fn today() -> Value {
        let mut ours = row("allreduce", 1e-3);
        (ours["least_rank"], ours["native_seconds"]) = (json!(3), json!(1.4e-3));
        let mpi = json!({
            "collective": "bcast", "from_bytes": 0, "served_by": "native", "why": "a short call", "ranks": 8, "calls": 5,
            "bytes": 0, "mean_seconds": 4e-3, "most_seconds": 7e-3, "least_rank": 0,
        });
        json!({
            "hypercoll": "0.2.0", "mpi": "Open MPI v4.1.4", "date": "2026-11-30T12:58:07Z", "hosts": 1, "program": "./pro<gram",
            "ranks": 8, "seconds": 1.5, "communicators": 2, "rows": [ours, mpi],
        })
    }

    /// Where in the drawing a text begins, which stands alone.
    fn place(svg: &str, text: &str) -> usize {
        svg.find(&format!("\n{text}\n")).unwrap_or_else(|| panic!("{text} is missing: {svg}"))
    }

    #[test]
    fn a_figure_names_what_it_shows() {
        let svg = drawn(today());
        for text in [
            "What pro&lt;gram spent in collectives",
            "8 ranks on 1 host, 1.5 s in all, Open MPI v4.1.4, hypercoll 0.2.0, 2026-11-30",
            "mean of the ranks, by hypercoll",
            "mean of the ranks, by MPI",
            "as many calls natively, as tried",
            "allreduce from 16 B",
            "direct",
            "1.4 ms",
            "rank 3",
            "100",
            "MPI: a short call",
        ] {
            place(&svg, text);
        }
        assert!(place(&svg, "bcast 0 B") < place(&svg, "allreduce from 16 B"), "the longest time goes first: {svg}");
        assert!(!svg.contains("left out"), "{svg}");
    }

    #[test]
    fn an_old_report_has_a_figure_without_what_it_does_not_say() {
        let svg = drawn(old(vec![row("allreduce", 1e-3)]));
        place(&svg, "What a program spent in collectives");
        place(&svg, "8 ranks, 1.5 s in all");
        for text in ["least time", "natively", "by MPI"] {
            assert!(!svg.contains(text), "{text}: {svg}");
        }
    }

    #[test]
    fn rows_with_little_time_are_left_out_and_counted() {
        let report = |rows: usize| drawn(old((1..=rows).map(|n| row(&format!("c{n}"), n as f64 * 1e-3)).collect()));
        let svg = report(MOST_ROWS + 3);
        place(&svg, "left out: 3 more, each with 3 ms or less");
        place(&svg, "c4 from 16 B");
        assert!(!svg.contains("c3 from") && !report(MOST_ROWS).contains("left out"), "{svg}");
    }

    /// Nothing else in the drawing is as wide in the colours of the bars, or as long in that of the lines to the slowest ranks.
    #[test]
    fn bars_are_as_long_as_the_times() {
        let svg = drawn(today());
        let values = |tag: &str, colour: &str, attribute: &str| {
            let lines = svg.lines().filter(|line| line.starts_with(tag) && line.contains(colour));
            let values = lines.filter_map(|line| line.split_once(attribute)?.1.split('"').next());
            let numbers =
                |value: &str| value.split([',', ' ']).filter_map(|number| number.parse::<f64>().ok()).collect();
            values.map(numbers).collect::<Vec<Vec<f64>>>()
        };
        let width = |colour: &str| values("<rect", colour, "width=\"").into_iter().flatten().fold(0.0, f64::max);
        let lines = values("<polyline", "#000000", "points=\"");
        let slowest = lines.iter().map(|ends| ends[2] - ends[0]).fold(0.0, f64::max);
        let ours = width("#0072B2");
        for (length, ratio) in [(width("#969696"), 4.0), (width("stroke=\"#000000\""), 1.4), (slowest, 3.0)] {
            assert!((length / ours - ratio).abs() < 0.05, "{length} and not {ratio} times {ours}");
        }
    }

    #[test]
    fn no_time_at_all_is_drawn() {
        let svg = drawn(old(vec![row("barrier", 0.0)]));
        place(&svg, "0 ns");
        // The axis goes somewhere.
        place(&svg, "1 ns");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for time in [-1.0, 1e13] {
            let report: Report = serde_json::from_value(old(vec![row("barrier", time)])).expect("a report");
            assert!(draw(&report).is_err_and(|error| error.contains("is not the time")), "{time}");
        }
    }

    #[test]
    fn of_a_long_command_line_its_beginning_is_told_without_folders() {
        let title = |program: String| {
            let mut report = today();
            report["program"] = json!(program);
            let svg = drawn(report);
            svg.lines().find(|line| line.starts_with("What ")).expect("a title").to_string()
        };
        let folders = "directory/".repeat(30);
        assert_eq!(title(format!("{folders}program -n 3")), "What program -n 3 spent in collectives");
        let long = title(format!("./program {folders}"));
        assert!(long.starts_with("What program directory/") && long.ends_with("… spent in collectives"), "{long}");
        assert_eq!(long.chars().count(), "What … spent in collectives".chars().count() + LONGEST_PROGRAM);
    }

    #[test]
    fn classes_are_named_by_their_sizes() {
        for (from, name) in [(0, "a 0 B"), (1, "a 1 to 15 B"), (16, "a from 16 B"), (65536, "a from 64 KiB")] {
            let mut row = row("a", 1.0);
            row["from_bytes"] = json!(from);
            let row: Row = serde_json::from_value(row).expect("a row");
            assert_eq!(row.calls_of(), name);
        }
    }
}
