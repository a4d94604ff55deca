//! What all figures share: colours, ticks, texts.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, TextStyle};

/// Okabe and Ito's palette, which the colour-blind can tell apart, without its yellow, which white paper swallows.
pub const PALETTE: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(120, 94, 60),
];
/// The library's own choice, a broad band behind the lines.
pub const AUTO: RGBColor = RGBColor(240, 200, 90);
pub const NATIVE: RGBColor = BLACK;
/// What the network can do at most.
pub const LIMIT: RGBColor = RGBColor(200, 30, 30);
pub const FASTER: RGBColor = PALETTE[0];
pub const SLOWER: RGBColor = PALETTE[1];
pub const GREY: RGBColor = RGBColor(95, 95, 95);
pub const GRID: RGBColor = RGBColor(225, 225, 225);

/// What a failed drawing says.
pub type Outcome<T> = Result<T, String>;

/// Drawing into memory fails only if a coordinate is none.
pub fn failed(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Text of a size in pixels. Plotters takes sizes in another unit.
pub fn text(pixels: f64, colour: &'static RGBColor) -> TextStyle<'static> {
    TextStyle::from(("Helvetica, Arial, DejaVu Sans, sans-serif", pixels * 1.24).into_font()).color(colour)
}

pub fn bold(pixels: f64) -> TextStyle<'static> {
    let font =
        FontDesc::new(FontFamily::Name("Helvetica, Arial, DejaVu Sans, sans-serif"), pixels * 1.24, FontStyle::Bold);
    TextStyle::from(font).color(&BLACK)
}

/// Places a text by its middle, horizontally or vertically.
pub fn at(style: TextStyle<'static>, horizontal: HPos) -> TextStyle<'static> {
    style.pos(Pos::new(horizontal, VPos::Center))
}

pub fn upwards(style: TextStyle<'static>) -> TextStyle<'static> {
    style.transform(FontTransform::Rotate270)
}

/// Ticks of a logarithmic axis: 1, 2, 5, 10, ... where they are not too many, else the decades.
pub fn ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let steps: &[f64] = match decades {
        d if d > 4.5 => &[1.0],
        d if d > 2.5 => &[1.0, 3.0],
        d if d > 1.2 => &[1.0, 2.0, 5.0],
        _ => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    };
    let first = low.log10().floor() as i32;
    let last = high.log10().ceil() as i32;
    let all = (first..=last).flat_map(|exponent| steps.iter().map(move |step| step * 10f64.powi(exponent)));
    all.filter(|tick| (low..=high).contains(tick)).collect()
}

/// Seconds with a unit: 1.5 µs, 20 ms.
pub fn show_time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 0.9995e-6 => (s * 1e9, "ns"),
        s if s < 0.9995e-3 => (s * 1e6, "µs"),
        s if s < 0.9995 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", short(value))
}

/// A ratio: 0.5×, 2×.
pub fn show_ratio(ratio: f64) -> String {
    format!("{}×", short(ratio))
}

/// Three digits at most, no zeros at the end.
fn short(value: f64) -> String {
    let digits = (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// Moves labels apart: for wanted positions in rising order, positions at least `gap` apart, within the limits if there is
/// room, and as close to what was wanted as one pass down and one up can make them.
pub fn spread(wanted: &[i32], gap: i32, low: i32, high: i32) -> Vec<i32> {
    let mut places: Vec<i32> = Vec::new();
    for &want in wanted {
        let least = places.last().map_or(low, |last| last + gap);
        places.push(want.max(least));
    }
    let mut most = high;
    for place in places.iter_mut().rev() {
        *place = (*place).min(most);
        most = *place - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (seconds, text) in
            [(1e-9, "1 ns"), (2.5e-6, "2.5 µs"), (1e-3, "1 ms"), (0.02, "20 ms"), (3.0, "3 s"), (1e-5, "10 µs")]
        {
            assert_eq!(show_time(seconds), text);
        }
        assert_eq!(show_ratio(0.05), "0.05×");
        assert_eq!(show_ratio(100.0), "100×");
    }

    #[test]
    fn ticks_are_few_and_inside() {
        for (low, high) in [(0.7, 1.4), (1e-6, 1e-2), (0.1, 12.0), (3e-6, 9e-6), (1e-6, 10.0)] {
            let ticks = ticks(low, high);
            assert!((2..=12).contains(&ticks.len()), "{low}..{high}: {ticks:?}");
            assert!(ticks.iter().all(|tick| (low..=high).contains(tick)));
        }
    }

    #[test]
    fn labels_are_spread() {
        assert_eq!(spread(&[10, 50, 90], 15, 0, 100), [10, 50, 90]);
        assert_eq!(spread(&[10, 11, 12], 15, 0, 100), [10, 25, 40]);
        assert_eq!(spread(&[95, 99, 100], 15, 0, 100), [70, 85, 100]);
    }
}
