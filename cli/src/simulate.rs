//! `hypercoll simulate`: an algorithm in virtual time.

use crate::call::{count, CallArgs};
use crate::Failure;
use clap::ValueEnum;
use hypercoll::algorithm::{registry, verify::schedules, PortModel, Shape};
use hypercoll::collective::Collective;
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
    /// Elements of the vector or of a block (a barrier has none)
    #[arg(long)]
    count: Option<usize>,
    #[command(flatten)]
    call: CallArgs,
    /// A machine of the papers; other options change single values of it
    #[arg(long)]
    machine: Option<Preset>,
    /// Start-up time of a message, in any unit [default: 1]
    #[arg(long)]
    tau: Option<f64>,
    /// Transfer time of an element, in the same unit [default: 1]
    #[arg(long)]
    tc: Option<f64>,
    /// Largest internal packet of the machine in elements: longer messages pay a start-up for each
    #[arg(long)]
    max_packet: Option<usize>,
    /// Part of an operation's time, 0 to 1, that may overlap with the next one on another port
    #[arg(long)]
    overlap: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Preset {
    /// Intel iPSC/d7: elements are bytes, times are seconds; internal packets of 1 KiB; one port, with 20 % overlap
    Ipsc,
}

impl SimulateArgs {
    /// The machine but for its ports, which are the schedule's, and the port model that it prefers.
    fn machine(&self) -> Result<(Machine, Option<PortModel>), Failure> {
        let (mut machine, ports) = match self.machine {
            None => (Machine::new(1.0, 1.0, PortModel::OnePort), None),
            Some(Preset::Ipsc) => (Machine::ipsc(), Some(Machine::ipsc().ports)),
        };
        for (name, value, place) in [("tau", self.tau, &mut machine.tau), ("tc", self.tc, &mut machine.t_c)] {
            if let Some(value) = value {
                if !value.is_finite() || value < 0.0 {
                    return Err(Failure::Usage(format!("{name}: {value} is no time")));
                }
                *place = value;
            }
        }
        if self.max_packet == Some(0) {
            return Err(Failure::Usage("max-packet: a packet holds at least one element".into()));
        }
        machine.max_packet = self.max_packet.or(machine.max_packet);
        if let Some(overlap) = self.overlap {
            if !(0.0..=1.0).contains(&overlap) {
                return Err(Failure::Usage(format!("overlap: {overlap} is no part of the whole, 0 to 1")));
            }
            machine.overlap = overlap;
        }
        Ok((machine, ports))
    }
}

pub fn run(args: &SimulateArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let (collective, size) = (args.collective, 1usize << args.dim);
    let algorithm = registry::find(collective, &args.algorithm).map_err(|e| e.to_string())?;
    let (machine, preferred) = args.machine()?;
    let count = count(collective, args.count)?;
    let (call, parameters) = args.call.resolve(algorithm, size, count, preferred)?;
    let machine = Machine { ports: parameters.ports, ..machine };
    let schedules = schedules(algorithm, &call, &parameters);
    let timeline = simulate(&schedules, &machine)
        .map_err(|violations| Failure::Found(violations.first().map_or_else(String::new, |v| v.to_string())))?;
    let cost = Cost::of(&schedules);
    let formula = (algorithm.formula)(&Shape::new(&call, &parameters));
    let formula_time = formula.time(machine.tau, machine.t_c);
    if args.json {
        let value = json!({
            "collective": collective.name(),
            "algorithm": algorithm.name,
            "dimension": args.dim,
            "count": count,
            "packet": parameters.packet,
            "ports": parameters.ports.name(),
            "symmetrized": parameters.symmetrized,
            "order": parameters.order.map(|order| order.name()),
            "variant": algorithm.variants.then(|| parameters.variant.name()),
            "machine": {
                "tau": machine.tau, "tc": machine.t_c, "max_packet": machine.max_packet, "overlap": machine.overlap
            },
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
        "{collective} {}, n = {}, {count} elements, {}{}",
        algorithm.name,
        args.dim,
        parameters.ports,
        if parameters.symmetrized { ", symmetrised" } else { "" }
    )?;
    writeln!(out, "{:>12} {:>10} {:>14}", "", "rounds", "time")?;
    writeln!(out, "{:>12} {:>10} {:>14}", "simulated", cost.rounds, shown(timeline.time))?;
    writeln!(out, "{:>12} {:>10} {:>14}   {}", "formula", formula.rounds, shown(formula_time), algorithm.cost)?;
    if machine.max_packet.is_some() || machine.overlap > 0.0 {
        writeln!(out, "(the formula knows no internal packets and no overlap)")?;
    }
    writeln!(
        out,
        "{} messages, {} elements moved, at most {} over one directed link",
        cost.messages, cost.elements, cost.max_link_load
    )?;
    Ok(())
}

/// A time without the noise of its last digits.
fn shown(time: f64) -> String {
    let text = format!("{time:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
