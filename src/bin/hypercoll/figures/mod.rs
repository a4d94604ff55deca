//! `hypercoll figures`: the papers' experiments in virtual time, beside their closed formulas.

pub mod chart;
mod experiments;

use crate::Failure;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `hypercoll figures`.
#[derive(clap::Args)]
#[command(
    after_help = "Draws figures 5, 6, 7 and 8 of Ho & Johnsson 1986 and 11 of 1988, on a simulated iPSC, and the speed-ups of the \
                  MSBT and of the SBnT over the SBT with all ports. Marks are simulated, lines are the closed formulas."
)]
pub struct FiguresArgs {
    /// Directory for the figures; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print the points as JSON as well
    #[arg(long)]
    json: bool,
}

pub fn run(args: &FiguresArgs, out: &mut dyn Write) -> Result<(), Failure> {
    fs::create_dir_all(&args.out).map_err(|error| format!("out: cannot make {}: {error}", args.out.display()))?;
    let mut drawn = Vec::new();
    for experiment in experiments::ALL {
        let figure = experiment()?;
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
