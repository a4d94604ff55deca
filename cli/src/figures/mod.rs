//! `hypercoll figures`: the papers' experiments in virtual time, beside their closed formulas; or also on a real network.

pub mod chart;
mod experiments;
mod measured;

use crate::Failure;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `hypercoll figures`.
#[derive(clap::Args)]
#[command(
    after_help = "Draws figures 5, 6, 7 and 8 of Ho & Johnsson 1986 and 11 of 1988, on a simulated iPSC, and the speed-ups of the \
                  MSBT and of the SBnT over the SBT with all ports. Marks are simulated, lines are the closed formulas. With \
                  --measured, draws the same figures of 1986 and 1988 as scripts/papers has measured them on cubes of real \
                  links, beside the simulation with the times that `hypercoll tune` has found there."
)]
pub struct FiguresArgs {
    /// Directory for the figures; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Directory with results of `hypercoll bench` on cubes of real links
    #[arg(long, value_name = "DIR", requires = "tuning")]
    measured: Option<PathBuf>,
    /// What `hypercoll tune` has found on one of these cubes
    #[arg(long, value_name = "FILE.toml", requires = "measured")]
    tuning: Option<PathBuf>,
    /// Print the points as JSON as well
    #[arg(long)]
    json: bool,
}

pub fn run(args: &FiguresArgs, out: &mut dyn Write) -> Result<(), Failure> {
    fs::create_dir_all(&args.out).map_err(|error| format!("out: cannot make {}: {error}", args.out.display()))?;
    let figures = match (&args.measured, &args.tuning) {
        (Some(results), Some(tuning)) => measured::figures(results, tuning)?,
        _ => experiments::ALL.iter().map(|experiment| experiment()).collect::<Result<_, String>>()?,
    };
    let mut drawn = Vec::new();
    for figure in figures {
        let svg = chart::draw(&figure).map_err(|error| format!("{}: {error}", figure.name))?;
        let path = args.out.join(format!("{}.svg", figure.name));
        fs::write(&path, svg).map_err(|error| format!("out: cannot write {}: {error}", path.display()))?;
        if !args.json {
            writeln!(out, "{}", path.display())?;
            out.flush()?;
        }
        drawn.push(figure);
    }
    if args.json {
        writeln!(out, "{}", serde_json::json!({ "figures": drawn }))?;
    }
    Ok(())
}
