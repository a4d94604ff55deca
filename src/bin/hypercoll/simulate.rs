//! `hypercoll simulate`: an algorithm in virtual time.

use crate::check::{parameters, permutation};
use crate::Failure;
use hypercoll::algorithm::{registry, verify::schedules, PortModel, Shape};
use hypercoll::collective::{Call, Collective};
use hypercoll::executor::simulator::{simulate, Machine};
use hypercoll::schedule::Cost;
use serde_json::json;
use std::io::Write;

/// Arguments of `hypercoll simulate`.
#[derive(clap::Args)]
pub struct SimulateArgs {
    /// Collective, e.g. broadcast
    collective: Collective,
    /// Algorithm, e.g. msbt
    algorithm: String,
    /// Dimension of the cube: 2^N ranks
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=14))]
    dim: u32,
    /// Elements of the vector or of a block
    #[arg(long)]
    count: usize,
    /// Packet size in elements
    #[arg(long)]
    packet: Option<usize>,
    /// Port model: one-way, one-port, all-ports (default: the widest that the algorithm serves)
    #[arg(long)]
    ports: Option<PortModel>,
    /// All dimensions at once (true) or one at a time (false)
    #[arg(long)]
    symmetrized: Option<bool>,
    /// Root
    #[arg(long, default_value_t = 0)]
    root: usize,
    /// Permutation of the ranks: the target of rank 0, 1, ... (default: reversal)
    #[arg(long, value_delimiter = ',')]
    permutation: Option<Vec<usize>>,
    /// Start-up time of a message, in any unit
    #[arg(long, default_value_t = 1.0)]
    tau: f64,
    /// Transfer time of an element, in the same unit
    #[arg(long, default_value_t = 1.0)]
    tc: f64,
    /// Largest internal packet of the machine in elements: longer messages pay a start-up for each
    #[arg(long)]
    max_packet: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &SimulateArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let (collective, size) = (args.collective, 1usize << args.dim);
    let algorithm = registry::find(collective, &args.algorithm).map_err(|e| e.to_string())?;
    if args.root >= size || !collective.has_root() && args.root > 0 {
        return Err(Failure::Usage(format!("root: {} is no root of {collective} on {size} ranks", args.root)));
    }
    for (name, value) in [("tau", args.tau), ("tc", args.tc)] {
        if !value.is_finite() || value < 0.0 {
            return Err(Failure::Usage(format!("{name}: {value} is no time")));
        }
    }
    if args.max_packet == Some(0) {
        return Err(Failure::Usage("max-packet: a packet holds at least one element".into()));
    }
    let call = Call {
        permutation: permutation(collective, size, args.permutation.as_deref())?,
        ..Call::new(collective, size, args.count).with_root(args.root)
    };
    let parameters = parameters(algorithm, false, args.packet, args.ports, args.symmetrized);
    algorithm.accepts(&call, &parameters).map_err(|e| e.to_string())?;
    let schedules = schedules(algorithm, &call, &parameters);
    let machine = Machine { tau: args.tau, t_c: args.tc, ports: parameters.ports, max_packet: args.max_packet };
    let timeline = simulate(&schedules, &machine)
        .map_err(|violations| Failure::Found(violations.first().map_or_else(String::new, |v| v.to_string())))?;
    let cost = Cost::of(&schedules);
    let formula = (algorithm.formula)(&Shape::new(&call, &parameters));
    let formula_time = formula.time(args.tau, args.tc);
    if args.json {
        let value = json!({
            "collective": collective.name(),
            "algorithm": algorithm.name,
            "dimension": args.dim,
            "count": args.count,
            "packet": args.packet,
            "ports": parameters.ports.name(),
            "symmetrized": parameters.symmetrized,
            "rounds": cost.rounds,
            "time": timeline.time,
            "formula": { "rounds": formula.rounds, "time": formula_time },
            "max_link_load": cost.max_link_load,
            "messages": cost.messages,
            "transmissions": cost.elements,
        });
        writeln!(out, "{value}")?;
        return Ok(());
    }
    writeln!(
        out,
        "{collective} {}, n = {}, {} elements, {}{}",
        algorithm.name,
        args.dim,
        args.count,
        parameters.ports,
        if parameters.symmetrized { ", symmetrised" } else { "" }
    )?;
    writeln!(out, "{:>12} {:>10} {:>14}", "", "rounds", "time")?;
    writeln!(out, "{:>12} {:>10} {:>14}", "simulated", cost.rounds, timeline.time)?;
    writeln!(out, "{:>12} {:>10} {:>14}   {}", "formula", formula.rounds, formula_time, algorithm.cost)?;
    writeln!(
        out,
        "{} messages, {} elements moved, at most {} over one directed link",
        cost.messages, cost.elements, cost.max_link_load
    )?;
    Ok(())
}
