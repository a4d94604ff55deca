//! `hypercoll plot`: the figures of a benchmark's results.

mod overview;
pub mod style;
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
        assert!(overview::draw(&all).unwrap().is_some_and(|svg| svg.contains("broadcast") && svg.contains("1 MiB")));
    }

    #[test]
    fn without_native_there_are_times_but_no_ratios() {
        let ours = results(&[("auto", false), ("sbt", false)]);
        assert!(!times::draw(&ours, "broadcast").unwrap().contains("faster"));
        assert!(overview::draw(&ours).unwrap().is_none());
    }
}
