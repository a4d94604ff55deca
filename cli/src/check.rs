//! `hypercoll check`: proves schedules right without running them.

use crate::call::CallArgs;
use crate::check_all::{self, Extent};
use crate::Failure;
use hypercoll::algorithm::registry;
use hypercoll::algorithm::verify::{verify, Compared};
use hypercoll::collective::Collective;
use serde_json::json;
use std::io::Write;

/// Arguments of `hypercoll check`.
#[derive(clap::Args)]
pub struct CheckArgs {
    /// Collective, e.g. broadcast
    #[arg(required_unless_present = "all")]
    collective: Option<Collective>,
    /// Algorithm, e.g. msbt
    #[arg(required_unless_present = "all")]
    algorithm: Option<String>,
    /// Number of ranks
    #[arg(long, short = 'P', default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=4096))]
    size: u64,
    /// Elements of the vector or of a block
    #[arg(long, default_value_t = 60)]
    count: usize,
    #[command(flatten)]
    call: CallArgs,
    /// Print the schedule of this rank
    #[arg(long)]
    show: Option<usize>,
    /// Check every algorithm: sizes 1 to 33, 64, 128 and 256, every root up to size 33 and a few beyond, all port models, orders
    /// and variants, several counts and packets, faulty links
    #[arg(long, conflicts_with_all = ["collective", "algorithm", "size", "count", "CallArgs", "show"])]
    all: bool,
    /// With --all: fewer sizes, in less than three minutes on two cores; the last line says what is left out
    #[arg(long, requires = "all", conflicts_with_all = ["collective", "algorithm"])]
    short: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let (Some(collective), Some(name)) = (args.collective, &args.algorithm) else {
        return check_all::run(if args.short { Extent::SHORT } else { Extent::FULL }, args.json, out);
    };
    let algorithm = registry::find(collective, name).map_err(|e| e.to_string())?;
    let size = args.size as usize;
    let (call, parameters) = args.call.resolve(algorithm, size, args.count, None)?;
    if let Some(rank) = args.show {
        if rank >= size {
            return Err(Failure::Usage(format!("show: {rank} is no rank of {size}")));
        }
        write!(out, "{}", algorithm.schedule(&call, &parameters, rank))?;
    }
    let report = verify(algorithm, &call, &parameters);
    let violations: Vec<String> = report.violations.iter().map(|v| v.to_string()).collect();
    if args.json {
        let value = json!({
            "ok": violations.is_empty(),
            "messages": report.cost.messages,
            "rounds": report.cost.rounds,
            "violations": violations,
            "figures": report.figures.iter().map(json_of).collect::<Vec<_>>(),
            "transmissions": report.cost.elements,
            "max_link_load": report.cost.max_link_load,
        });
        writeln!(out, "{value}")?;
    } else {
        let c = &report.cost;
        writeln!(
            out,
            "{collective} {name}, {size} ranks, {}: {} messages, {} rounds, {} elements moved, at most {} over one link",
            parameters.ports, c.messages, c.rounds, c.elements, c.max_link_load
        )?;
        writeln!(out, "{}: {}", algorithm.source, algorithm.cost)?;
        if !report.figures.is_empty() {
            writeln!(
                out,
                "{:<28} {:>14}   by the formula{}",
                "",
                "the schedules",
                if report.whole { "" } else { ELSEWHERE }
            )?;
        }
        for Compared { figure, found, stated, bound } in &report.figures {
            let at_most = if *bound { "at most " } else { "" };
            writeln!(out, "  {figure:<26} {found:>14}   {at_most}{stated}")?;
        }
        for violation in &violations {
            writeln!(out, "WRONG: {violation}")?;
        }
        writeln!(out, "{}", if violations.is_empty() { "ok" } else { "failed" })?;
    }
    found(report.violations.len())
}

/// Formulas are for equal blocks on whole cubes with all their links.
const ELSEWHERE: &str = " for the next larger whole cube, so bounds";

pub fn json_of(compared: &Compared) -> serde_json::Value {
    let Compared { figure, found, stated, bound } = compared;
    json!({ "figure": figure, "schedules": found, "formula": stated, "bound": bound })
}

pub fn found(violations: usize) -> Result<(), Failure> {
    match violations {
        0 => Ok(()),
        n => Err(Failure::Found(format!("{n} violations"))),
    }
}
