//! `hypercoll plot`: the figures of a benchmark's results.

mod overview;
mod style;
mod times;

use crate::bench::results::Results;
use crate::Failure;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `hypercoll plot`.
#[derive(clap::Args)]
#[command(after_help = "Draws one SVG for each collective (time, and ratio to native, against size) and overview.svg.")]
pub struct PlotArgs {
    /// What `hypercoll bench --out` wrote
    results: PathBuf,
    /// Directory for the figures; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub fn run(args: &PlotArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let path = args.results.display();
    let text = fs::read_to_string(&args.results).map_err(|error| format!("results: cannot read {path}: {error}"))?;
    let results: Results =
        serde_json::from_str(&text).map_err(|error| format!("results: {path} is no benchmark's JSON: {error}"))?;
    let mut figures = Vec::new();
    for collective in results.collectives() {
        let svg = times::draw(&results, collective).map_err(|error| format!("{collective}: {error}"))?;
        figures.push((format!("{}.svg", file_name(collective)), svg));
    }
    if let Some(svg) = overview::draw(&results).map_err(|error| format!("overview: {error}"))? {
        figures.push(("overview.svg".into(), svg));
    }
    if figures.is_empty() {
        return Err(Failure::Usage(format!("results: {path} has no results")));
    }
    fs::create_dir_all(&args.out).map_err(|error| format!("out: cannot make {}: {error}", args.out.display()))?;
    for (name, svg) in figures {
        let path = args.out.join(name);
        fs::write(&path, svg).map_err(|error| format!("out: cannot write {}: {error}", path.display()))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// A collective's name comes from a file: it shall not lead elsewhere.
fn file_name(collective: &str) -> String {
    collective.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_directory() {
        assert_eq!(file_name("all-to-all"), "all-to-all");
        assert_eq!(file_name("../x y"), "___x_y");
    }
}
