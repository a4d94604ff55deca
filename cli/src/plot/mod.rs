//! `hypercoll plot`: the figures of a benchmark's results, or of the report of a program under `hypercoll preload`.

mod best;
mod overview;
mod predicted;
mod report;
mod speed_up;
pub mod style;
mod times;

use crate::bench::results::Results;
use crate::Failure;
use report::Report;
use serde::de::IgnoredAny;
use serde::Deserialize;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `hypercoll plot`.
#[derive(clap::Args)]
#[command(
    after_help = "Draws for each collective of a benchmark NAME.svg (time, and ratio to native, of all algorithms against
size) and NAME-best.svg (the library and native MPI, each at its best, and the physical limit), overview.svg, and
predicted.svg (what the cost model predicts against what was measured). Of the report of a program under
`hypercoll preload` draws report.svg (the time in each collective and class of sizes, and that of native MPI where it
was tried). Of several files, for instance of cubes of several dimensions, each gets a directory of its own name, and
speed-up-over-best.svg and speed-up-over-default.svg show the speed-up of benchmarks against the dimension."
)]
pub struct PlotArgs {
    /// What `hypercoll bench --out` or `hypercoll preload --report` wrote, as JSON
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// Directory for the figures; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub fn run(args: &PlotArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut benchmarks: Vec<Results> = Vec::new();
    let mut figures: Vec<(PathBuf, String)> = Vec::new();
    for path in &args.results {
        let directory = match &args.results[..] {
            [_] => args.out.clone(),
            _ => args.out.join(path.file_stem().unwrap_or_default()),
        };
        let of_one = match read(path)? {
            Source::Benchmark(results) => {
                let of_one = draw(&results)?;
                benchmarks.push(*results);
                of_one
            }
            Source::Report(report) if report.rows.is_empty() => {
                let name = path.display();
                return Err(Failure::Usage(format!("results: {name} is of a program that called no collective")));
            }
            Source::Report(report) => {
                let svg = report::draw(&report).map_err(|error| format!("results: {}: {error}", path.display()))?;
                vec![("report.svg".into(), svg)]
            }
        };
        if of_one.is_empty() {
            return Err(Failure::Usage(format!("results: {} has no results", path.display())));
        }
        for (name, svg) in of_one {
            let file = directory.join(name);
            if figures.iter().any(|(other, _)| *other == file) {
                return Err(Failure::Usage(format!("results: two files are called {}", path.display())));
            }
            figures.push((file, svg));
        }
    }
    for (name, svg) in speed_up::draw(&benchmarks).map_err(|error| format!("speed-up: {error}"))? {
        figures.push((args.out.join(format!("{name}.svg")), svg));
    }
    for (path, svg) in figures {
        let directory = path.parent().unwrap_or(&args.out);
        fs::create_dir_all(directory).map_err(|error| format!("out: cannot make {}: {error}", directory.display()))?;
        fs::write(&path, svg).map_err(|error| format!("out: cannot write {}: {error}", path.display()))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// What can be drawn.
enum Source {
    Benchmark(Box<Results>),
    Report(Report),
}

/// What a file has, of what is only in the one or in the other.
#[derive(Deserialize)]
struct Parts {
    results: Option<IgnoredAny>,
    rows: Option<IgnoredAny>,
}

/// A file that has something to draw.
fn read(path: &Path) -> Result<Source, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("results: cannot read {name}: {error}"))?;
    let neither = || {
        format!(
            "results: {name} is neither a benchmark's JSON (`hypercoll bench --out`) nor the JSON report of a program \
             (`hypercoll preload --report FILE.json`)"
        )
    };
    let parts: Parts = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", neither()))?;
    if parts.results.is_some() {
        let results = serde_json::from_str(&text);
        return Ok(Source::Benchmark(
            results.map_err(|error| format!("results: {name} is no benchmark's JSON: {error}"))?,
        ));
    }
    if parts.rows.is_some() {
        let report = serde_json::from_str(&text);
        return Ok(Source::Report(report.map_err(|error| format!("results: {name} is no report's JSON: {error}"))?));
    }
    Err(Failure::Usage(neither()))
}

/// The figures of one benchmark, with the names of their files.
fn draw(results: &Results) -> Result<Vec<(String, String)>, Failure> {
    let mut figures = Vec::new();
    for collective in results.collectives() {
        let failed = |error| Failure::Usage(format!("{collective}: {error}"));
        let name = file_name(collective);
        figures.push((format!("{name}.svg"), times::draw(results, collective).map_err(failed)?));
        figures.push((format!("{name}-best.svg"), best::draw(results, collective).map_err(failed)?));
    }
    if let Some(svg) = overview::draw(results).map_err(|error| format!("overview: {error}"))? {
        figures.push(("overview.svg".into(), svg));
    }
    if let Some(svg) = predicted::draw(results).map_err(|error| format!("predicted: {error}"))? {
        figures.push(("predicted.svg".into(), svg));
    }
    Ok(figures)
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

    fn results(implementations: &[(&str, bool)]) -> Results {
        let mut rows = Vec::new();
        for (number, (implementation, native)) in implementations.iter().enumerate() {
            for size in [8, 1024, 1 << 20] {
                let time = size as f64 * 1e-9 * (number + 1) as f64 + 1e-6;
                rows.push(serde_json::json!({
                    "collective": "broadcast", "size_bytes": size, "count": size / 8, "element": "f64",
                    "implementation": implementation, "native": native, "samples_s": [time], "median_s": time,
                    "ci_low_s": time * 0.9, "ci_high_s": time * 1.1, "min_s": time, "max_s": time,
                }));
            }
        }
        let value = serde_json::json!({
            "environment": {
                "hypercoll": "0", "date": "2026-01-02T03:04:05Z", "hosts": [{"name": "here", "ranks": 4, "cores": 2}],
                "mpi_library": "Some MPI", "variables": {}, "command_line": [], "debug_build": false,
            },
            "ranks": 4, "oversubscribed": true,
            "method": {
                "experiment": "", "description": "", "passes": 1, "passes_done": 1, "repetitions": 1, "warm_up": 0,
                "seconds": 1.0, "seconds_taken": 1.0, "seed": 0, "confidence": 0.95, "left_out": [],
            },
            "results": rows,
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn figures_name_what_they_show() {
        let all = results(&[("native", true), ("auto", false), ("sbt", false), ("msbt all-ports packets", false)]);
        let svg = times::draw(&all, "broadcast").unwrap();
        for text in [
            "broadcast",
            "native MPI",
            "auto",
            "msbt all-ports packets",
            "1 KiB",
            "4 ranks (here, 2 cores, oversubscribed)",
        ] {
            assert!(svg.contains(text), "{text} is missing");
        }
        let svg = overview::draw(&all).unwrap().unwrap();
        for text in ["broadcast", "1 MiB", "native MPI by its own choice"] {
            assert!(svg.contains(text), "{text} is missing");
        }
    }

    #[test]
    fn a_barrier_has_0_bytes() {
        let mut all = results(&[("native", true), ("auto", false)]);
        all.results.retain(|row| row.size_bytes == 8);
        for row in &mut all.results {
            (row.collective, row.size_bytes, row.count) = ("barrier".into(), 0, 0);
        }
        assert!(overview::draw(&all).unwrap().unwrap().contains("\n0 B\n"));
        assert!(times::draw(&all, "barrier").unwrap().contains("\n0 B\n"));
    }

    #[test]
    fn without_native_there_are_times_but_no_ratios() {
        let ours = results(&[("auto", false), ("sbt", false)]);
        assert!(!times::draw(&ours, "broadcast").unwrap().contains("faster"));
        assert!(overview::draw(&ours).unwrap().is_none());
    }
}
