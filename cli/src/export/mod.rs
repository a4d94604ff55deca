//! `hypercoll export`: schedules as input of other people's simulators.

mod goal;
mod order;
mod simgrid;
#[cfg(test)]
mod tests;

use crate::bench::sizes::show_bytes;
use crate::call::{count, CallArgs};
use crate::machine::MachineArgs;
use crate::Failure;
use clap::ValueEnum;
use hypercoll::algorithm::{registry, Algorithm, Parameters};
use hypercoll::collective::{Call, Collective};
use hypercoll::schedule::{Kind, Schedule};
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `hypercoll export`.
#[derive(clap::Args)]
#[command(after_help = "For instance:
  hypercoll export broadcast msbt --size 8 --count 1000 --packet 100 --out traces
  hypercoll export all-reduce auto --size 1000 --count 65536 --format goal --out all-reduce.goal
With auto the call gets the algorithm that `explain` prints for the same machine.")]
pub struct ExportArgs {
    /// Collective, e.g. broadcast
    pub collective: Collective,
    /// Algorithm, e.g. msbt, or auto: the one that such a call gets
    pub algorithm: String,
    /// Number of ranks
    #[arg(long, short = 'P', value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub size: u64,
    /// Elements of the vector or of a block, or of a side of square matrices (a barrier has none)
    #[arg(long)]
    pub count: Option<usize>,
    /// Bytes of an element
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub element_bytes: u64,
    #[command(flatten)]
    pub call: CallArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// What reads it
    #[arg(long, default_value = "simgrid")]
    pub format: Format,
    /// Directory of SimGrid's traces (made if it is not there), or GOAL file
    #[arg(long)]
    pub out: PathBuf,
    #[command(flatten)]
    pub work: Work,
    /// SimGrid: messages that a port of a rank sends, or receives, at once: those of so many rounds, or so many packets of a train. (It
    /// lets all that have started share a link.) [default: as far as a rank runs ahead]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub in_flight: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The simulators.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// SimGrid's time-independent traces: a file a rank, rank-R.txt, and ranks.txt, which lists them
    Simgrid,
    /// The text form of LogGOPSim's GOAL
    Goal,
}

/// What operations cost that move no message, in the simulator's own unit: flops for SimGrid, nanoseconds for GOAL.
#[derive(clap::Args, Clone, Copy, Default)]
pub struct Work {
    /// Work of a copied byte: flops (simgrid) or nanoseconds (goal)
    #[arg(long, default_value_t = 0.0, value_parser = work)]
    pub copy: f64,
    /// Work of a byte that is combined with another in a reduction
    #[arg(long, default_value_t = 0.0, value_parser = work)]
    pub combine: f64,
    /// Work of a multiplication and an addition in a product of matrices
    #[arg(long, default_value_t = 0.0, value_parser = work)]
    pub multiply: f64,
}

fn work(text: &str) -> Result<f64, String> {
    let work = text.parse().ok().filter(|work: &f64| work.is_finite() && *work >= 0.0);
    work.ok_or_else(|| format!("'{text}' is no amount of work"))
}

impl Work {
    /// Of an operation on elements of so many bytes; 0 of a message.
    fn of(&self, schedule: &Schedule, index: usize, element: usize) -> f64 {
        let operation = &schedule.operations()[index];
        let len = schedule.len(operation) as f64;
        match operation.kind {
            Kind::Send { .. } | Kind::Receive { .. } => 0.0,
            Kind::Copy => self.copy * len * element as f64,
            Kind::Combine { .. } => self.combine * len * element as f64,
            Kind::Multiply { inner } => self.multiply * len * inner as f64,
        }
    }
}

/// A message as a simulator sees it.
struct Message {
    peer: usize,
    sends: bool,
    /// The number of messages before it on its channel: no two that may be confused have the same.
    tag: usize,
    bytes: u64,
}

/// The messages of a schedule by operation; none for one that is no message.
fn messages(schedule: &Schedule, element: usize) -> Vec<Option<Message>> {
    let mut before: HashMap<(usize, bool), usize> = HashMap::new();
    let message = |operation: usize| {
        let (peer, sends) = match schedule.operations()[operation].kind {
            Kind::Send { peer } => (peer, true),
            Kind::Receive { peer } => (peer, false),
            Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => return None,
        };
        let next = before.entry((peer, sends)).or_default();
        let tag = *next;
        *next += 1;
        let len = schedule.len(&schedule.operations()[operation]) as u64;
        Some(Message { peer, sends, tag, bytes: len * element as u64 })
    };
    (0..schedule.operations().len()).map(message).collect()
}

impl Message {
    /// What simulators are told. To SimGrid a receive of 0 bytes is one of any length, which waits at once; LogGOPSim takes a byte
    /// off every message. So one without data has a byte.
    fn told(&self) -> u64 {
        self.bytes.max(1)
    }
}

/// What is exported.
pub struct Export {
    pub algorithm: &'static Algorithm,
    pub call: Call,
    pub parameters: Parameters,
    /// Why this algorithm, and its predicted time in seconds, if it was chosen.
    pub chosen: Option<(String, f64)>,
    pub element: usize,
    pub work: Work,
    /// As [`order::InFlight::turns`]; GOAL's simulators have ports of their own.
    pub in_flight: Option<usize>,
}

/// How much that is.
#[derive(Default)]
pub struct Total {
    pub messages: u64,
    pub bytes: u64,
    /// Messages without data.
    pub empty: u64,
}

impl Total {
    fn add(&mut self, messages: &[Option<Message>]) {
        for message in messages.iter().flatten().filter(|message| message.sends) {
            self.messages += 1;
            self.bytes += message.bytes;
            self.empty += u64::from(message.bytes == 0);
        }
    }
}

impl Export {
    /// The schedules of all ranks, one after the other: no more than one is in memory.
    fn schedules(&self) -> impl Iterator<Item = Schedule> + '_ {
        (0..self.call.size).map(|rank| self.algorithm.schedule(&self.call, &self.parameters, rank))
    }

    /// Writes it.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write(&self, format: Format, out: &Path) -> Result<Total, Failure> {
        let written = match format {
            Format::Simgrid => simgrid::write(self, out),
            Format::Goal => goal::write(self, out),
        };
        written.map_err(|error| Failure::Usage(format!("out: cannot write {}: {error}", out.display())))
    }
}

/// The call, and what serves it.
fn resolve(args: &ExportArgs) -> Result<Export, Failure> {
    let (size, element, work) = (args.size as usize, args.element_bytes as usize, args.work);
    if args.in_flight.is_some() && args.format == Format::Goal {
        return Err(Failure::Usage("in-flight: for SimGrid's traces only".into()));
    }
    let in_flight = args.in_flight.map(|turns| turns as usize);
    let count = count(args.collective, args.count)?;
    if args.algorithm != "auto" {
        if args.machine.is_said() {
            return Err(Failure::Usage("machine, tuning: for auto only, which is chosen for a machine".into()));
        }
        let algorithm = registry::find(args.collective, &args.algorithm).map_err(|error| error.to_string())?;
        let (call, parameters) = args.call.resolve(algorithm, size, count, None)?;
        return Ok(Export { algorithm, call, parameters, chosen: None, element, work, in_flight });
    }
    let (call, options) = args.call.open(args.collective, size, count)?;
    let settings = args.machine.settings(true)?;
    let choice = settings.overrides.choose(&call, element, &options, &settings.machine);
    let choice = choice.map_err(|error| error.to_string())?;
    let chosen = Some((format!("{}; {}", settings.machine.name, choice.why), choice.predicted));
    Ok(Export { algorithm: choice.algorithm, call, parameters: choice.parameters, chosen, element, work, in_flight })
}

pub fn run(args: &ExportArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let export = resolve(args)?;
    let total = export.write(args.format, &args.out)?;
    let Export { algorithm, call, parameters, chosen, element, .. } = &export;
    if args.json {
        let value = json!({
            "collective": call.collective.name(),
            "algorithm": algorithm.name,
            "why": chosen.as_ref().map(|(why, _)| why),
            "predicted_s": chosen.as_ref().map(|(_, predicted)| predicted),
            "size": call.size,
            "root": call.collective.has_root().then_some(call.root),
            "count": call.count,
            "element_bytes": element,
            "packet": parameters.packet,
            "ports": parameters.ports.name(),
            "symmetrized": parameters.symmetrized,
            "out": args.out,
            "messages": total.messages,
            "bytes": total.bytes,
            "empty_messages": total.empty,
        });
        writeln!(out, "{value}")?;
        return Ok(());
    }
    write!(out, "{} {} on {} ranks, {}", call.collective, algorithm.name, call.size, parameters.form())?;
    if let Some(packet) = parameters.packet {
        write!(out, ", packets of {packet} elements ({})", show_bytes(packet * element))?;
    }
    writeln!(out)?;
    if let Some((why, predicted)) = chosen {
        writeln!(out, "chosen: predicted {:.1} us; {why}", predicted * 1e6)?;
    }
    let empty = match total.empty {
        0 => String::new(),
        empty => format!(", of which {empty} without data are written as 1 byte each"),
    };
    writeln!(out, "{}: {} messages, {} bytes{empty}", args.out.display(), total.messages, total.bytes)?;
    Ok(())
}
