//! All collectives in one figure: the ratio to native MPI by its own choice, by size.

use super::style::*;
use crate::bench::results::{auto, best, native, Results};
use crate::bench::sizes::show_bytes;
use plotters::coord::combinators::BindKeyPoints;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

const SIZE: (u32, u32) = (1240, 616);
const HEAD: u32 = 92;
/// Width of a character of a collective's name in bars, and the gap between collectives in bars.
const CHARACTER: f64 = 0.95;
const GAP: f64 = 1.6;

/// A collective's bars.
struct Group<'r> {
    name: &'r str,
    /// Size, ratio of the best of ours, ratio of the library's own choice.
    bars: Vec<(usize, f64, Option<f64>)>,
    /// First place of a bar, and the middle of the group.
    first: f64,
    middle: f64,
}

/// The figure as SVG, if there is anything native to compare with.
pub fn draw(results: &Results) -> Outcome<Option<String>> {
    let (groups, width) = groups(results);
    if groups.is_empty() {
        return Ok(None);
    }
    let ratios = || groups.iter().flat_map(|g| &g.bars).flat_map(|(_, best, auto)| [Some(*best), *auto]).flatten();
    let low = ratios().fold(0.5, f64::min) / 1.2;
    let high = ratios().fold(2.0, f64::max) * 1.2;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let (head, rest) = root.split_vertically(HEAD);
        heading(&head, results)?;
        let mut chart = ChartBuilder::on(&rest)
            .margin(12)
            .x_label_area_size(108)
            .y_label_area_size(72)
            .build_cartesian_2d(0.0..width, (low..high).log_scale().with_key_points(ticks(low, high)))
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(0)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(GREY)
            .label_style(text(12.0, &BLACK))
            .axis_desc_style(text(13.0, &GREY))
            .y_desc("native time / our time (up: ours is faster)")
            .y_label_formatter(&|ratio| show_ratio(*ratio))
            .draw()
            .map_err(failed)?;
        let screen = root.use_screen_coord();
        let (_, y_range) = chart.plotting_area().get_pixel_range();
        for group in &groups {
            for (number, (bytes, best, auto)) in group.bars.iter().enumerate() {
                let x = group.first + number as f64;
                let colour = if *best >= 1.0 { FASTER } else { SLOWER };
                let bar = Rectangle::new([(x + 0.1, 1.0), (x + 0.9, *best)], colour.filled());
                chart.draw_series([bar]).map_err(failed)?;
                if let Some(auto) = auto {
                    let stroke = BLACK.stroke_width(2);
                    let tick = PathElement::new([(x, *auto), (x + 1.0, *auto)], stroke);
                    chart.draw_series([tick]).map_err(failed)?;
                }
                let (pixel, _) = chart.backend_coord(&(x + 0.5, 1.0));
                let style = upwards(at(text(10.5, &GREY), HPos::Right));
                screen.draw_text(&show_bytes(*bytes), &style, (pixel, y_range.end + 6)).map_err(failed)?;
            }
            let (pixel, _) = chart.backend_coord(&(group.middle, 1.0));
            for (line, y) in lines(group.name).into_iter().zip([74, 90]) {
                screen.draw_text(line, &at(bold(13.0), HPos::Center), (pixel, y_range.end + y)).map_err(failed)?;
            }
        }
        let one = PathElement::new([(0.0, 1.0), (width, 1.0)], BLACK.stroke_width(2));
        chart.draw_series([one]).map_err(failed)?;
        root.present().map_err(failed)?;
    }
    Ok(Some(svg))
}

/// A name in two lines, the second one empty where there is no hyphen to break it after.
fn lines(name: &str) -> [&str; 2] {
    let middle = |at: &usize| (2 * at).abs_diff(name.len());
    let hyphen = name.match_indices('-').map(|(at, _)| at + 1).min_by_key(middle);
    let (first, second) = name.split_at(hyphen.unwrap_or(name.len()));
    [first, second]
}

/// The bars with their places, and the places in all.
fn groups(results: &Results) -> (Vec<Group<'_>>, f64) {
    let mut groups = Vec::new();
    let mut place = GAP / 2.0;
    for name in results.collectives() {
        let bars: Vec<_> = results
            .by_size(name)
            .into_iter()
            .filter_map(|(bytes, rows)| {
                let native = native(&rows)?.median_s;
                Some((bytes, native / best(&rows)?.median_s, auto(&rows).map(|auto| native / auto.median_s)))
            })
            .collect();
        if bars.is_empty() {
            continue;
        }
        // A name may be wider than its bars.
        let characters = lines(name).map(str::len).into_iter().max().unwrap_or(0);
        let width = (bars.len() as f64).max(characters as f64 * CHARACTER);
        let first = place + (width - bars.len() as f64) / 2.0;
        groups.push(Group { name, bars, first, middle: place + width / 2.0 });
        place += width + GAP;
    }
    (groups, place - GAP / 2.0)
}

fn heading(head: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, results: &Results) -> Outcome<()> {
    let title = "hypercoll against native MPI by its own choice, by collective and size";
    head.draw_text(title, &bold(20.0), (24, 16)).map_err(failed)?;
    let date = results.environment.date.split('T').next().unwrap_or_default();
    head.draw_text(&format!("{}, {date}", results.setting()), &text(13.0, &GREY), (24, 44)).map_err(failed)?;
    let mut x = 24;
    for (colour, label) in [(FASTER, "best of ours, faster than native"), (SLOWER, "best of ours, slower")] {
        head.draw(&Rectangle::new([(x, 68), (x + 12, 80)], colour.filled())).map_err(failed)?;
        head.draw_text(label, &at(text(13.0, &BLACK), HPos::Left), (x + 18, 74)).map_err(failed)?;
        x += 44 + label.len() as i32 * 7;
    }
    head.draw(&PathElement::new([(x, 74), (x + 14, 74)], BLACK.stroke_width(2))).map_err(failed)?;
    let label = at(text(13.0, &BLACK), HPos::Left);
    head.draw_text("auto: the library's own choice", &label, (x + 20, 74)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn names_break_near_their_middle() {
        assert_eq!(lines("neighbor-all-to-all"), ["neighbor-", "all-to-all"]);
        assert_eq!([lines("all-gather"), lines("send")], [["all-", "gather"], ["send", ""]]);
    }
}
