//! `hypercoll check`: proves schedules right without running them.

use crate::call::CallArgs;
use crate::{check_all, Failure};
use hypercoll::algorithm::{registry, verify::verify, Algorithm, Parameters, Shape};
use hypercoll::collective::{Call, Collective};
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
    /// and variants, several counts and packets
    #[arg(long, conflicts_with_all = ["collective", "algorithm", "show"])]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let (Some(collective), Some(name)) = (args.collective, &args.algorithm) else {
        return check_all::run(args.json, out);
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
        if let Some(formula) = formula(algorithm, &call, &parameters) {
            let pace = if algorithm.flows { " if nodes waited for each other's rounds (they do not)" } else { "" };
            writeln!(out, "{formula}; the schedule: {} rounds, {} elements{pace}", c.rounds, c.longest_sum())?;
        }
        for violation in &violations {
            writeln!(out, "WRONG: {violation}")?;
        }
        writeln!(out, "{}", if violations.is_empty() { "ok" } else { "failed" })?;
    }
    found(report.violations.len())
}

fn formula(algorithm: &Algorithm, call: &Call, parameters: &Parameters) -> Option<String> {
    let f = (algorithm.formula)(&Shape::new(call, parameters));
    call.size
        .is_power_of_two()
        .then(|| format!("{}: {} says {} rounds, {} elements", algorithm.source, algorithm.cost, f.rounds, f.elements))
}

pub fn found(violations: usize) -> Result<(), Failure> {
    match violations {
        0 => Ok(()),
        n => Err(Failure::Found(format!("{n} violations"))),
    }
}
