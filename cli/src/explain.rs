//! `hypercoll explain`: which algorithm a call gets, and why.

use crate::bench::sizes::show_bytes;
use crate::call::{count, CallArgs, RANKS};
use crate::machine::MachineArgs;
use crate::Failure;
use clap::builder::RangedU64ValueParser;
use hypercoll::algorithm::{Algorithm, Parameters};
use hypercoll::collective::{Call, Collective};
use hypercoll::select::{candidates, Candidate, Candidates, Choice, Machine, Options, Settings};
use serde_json::{json, Value};
use std::io::Write;

/// Arguments of `hypercoll explain`.
#[derive(clap::Args)]
#[command(after_help = "For instance:
  hypercoll explain broadcast --count 131072 --size 8
  hypercoll explain all-to-all --count 1024 --machine network
  HYPERCOLL_ALGORITHM=broadcast=msbt hypercoll explain broadcast --count 1000
Ranks are taken to share one memory unless --machine or --hosts says otherwise. Variables of the environment count as in a call.")]
pub struct ExplainArgs {
    /// Collective, e.g. broadcast
    collective: Collective,
    /// Elements of the vector or of a block, or of a side of square matrices (a barrier has none)
    #[arg(long)]
    count: Option<usize>,
    /// Number of ranks [default: those of --hosts, or 8]
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(RANKS))]
    size: Option<usize>,
    /// Bytes of an element
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    element_bytes: u64,
    /// Ask for this algorithm
    #[arg(long)]
    algorithm: Option<String>,
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &ExplainArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let size = args.size.or(args.call.ranks()).unwrap_or(8);
    if size as u64 > *RANKS.end() {
        return Err(Failure::Usage(format!("hosts: {size} ranks; {} to {} are possible", RANKS.start(), RANKS.end())));
    }
    let element = args.element_bytes as usize;
    let count = count(args.collective, args.count)?;
    let (call, mut options) = args.call.open(args.collective, size, count)?;
    options.algorithm.clone_from(&args.algorithm);
    let settings = args.machine.settings(args.call.is_spread())?;
    let choice = settings.overrides.choose(&call, element, &options, &settings.machine);
    let choice = choice.map_err(|error| Failure::Usage(error.to_string()))?;
    // What else could have served with the parameters that are asked for.
    let merged = settings.overrides.merged(call.collective, element, &options).map_err(|error| error.to_string())?;
    let open = Options { algorithm: None, ..merged.0 };
    let all = candidates(&call, element, &open, &settings.machine).map_err(|error| error.to_string())?;
    let answer = Answer { call, element, settings, choice, all };
    if args.json {
        writeln!(out, "{}", answer.json())?;
        return Ok(());
    }
    answer.print(out)
}

struct Answer {
    call: Call,
    element: usize,
    settings: Settings,
    choice: Choice,
    all: Candidates,
}

impl Answer {
    fn json(&self) -> Value {
        let Machine {
            name,
            tau,
            hop,
            together,
            alone,
            t_c,
            ports,
            pairs_linked,
            wiring,
            packet,
            burst,
            packet_limit,
            shared,
            piped,
            single_copy_from,
            near,
            checked,
        } = &self.settings.machine;
        let Choice { algorithm, parameters, predicted, model, why } = &self.choice;
        let mut choice = self.row(algorithm, parameters, *predicted, *model);
        choice["why"] = json!(why);
        let row = |c: &Candidate| self.row(c.algorithm, &c.parameters, c.predicted, c.model);
        json!({
            "collective": self.call.collective.name(),
            "size": self.call.size,
            "root": self.call.collective.has_root().then_some(self.call.root),
            "peer": self.call.collective.has_peer().then_some(self.call.peer),
            "count": self.call.count,
            "element_bytes": self.element,
            "machine": {
                "name": name, "tau_s": tau, "hop_s": hop, "tau_together_s": together.tau, "hop_together_s": together.hop, "t_c_s_per_byte": t_c, "ports": ports.name(), "pairs_linked": pairs_linked,
                "tau_alone_s": alone.map(|alone| alone.tau), "hop_alone_s": alone.map(|alone| alone.hop),
                "wiring": wiring.map(|links| json!({ "kind": links.wiring.to_string(), "link_s": links.link })),
                "packet_bytes": packet, "burst_bytes": burst, "packet_limit_bytes": packet_limit,
                "shared_memory": shared.map(|s| json!({ "cores": s.cores, "cache_bytes": s.cache })),
                "piped_s_per_byte": piped,
                // Nothing where none is.
                "single_copy_from_bytes": single_copy_from.filter(|&bytes| bytes < usize::MAX),
                "near": near.map(|near| json!({ "tau_s": near.tau, "hop_s": near.hop, "t_c_s_per_byte": near.t_c })),
                "checked_on": checked.as_ref().map(|checked| checked.spread.to_string()),
            },
            "tuning_refused": self.settings.refused,
            "native_is_faster": self.native_is_faster(),
            "choice": choice,
            "candidates": self.all.serving.iter().map(row).collect::<Vec<_>>(),
            "refused": self.all.refused.iter().map(|(algorithm, why)| {
                json!({ "algorithm": algorithm.name, "why": why.to_string() })
            }).collect::<Vec<_>>(),
        })
    }

    /// Whether native MPI was measured faster than all that is predicted here.
    fn native_is_faster(&self) -> bool {
        self.settings.machine.native_is_faster(&self.call, self.element)
    }

    fn row(&self, algorithm: &Algorithm, parameters: &Parameters, predicted: f64, model: f64) -> Value {
        let Parameters { packet, ports, symmetrized, order, variant, latency } = parameters;
        json!({
            "algorithm": algorithm.name,
            "source": algorithm.source,
            "packet": packet,
            "packet_bytes": packet.map(|packet| packet * self.element),
            "ports": ports.name(),
            "symmetrized": symmetrized,
            "order": order.map(|order| order.name()),
            "variant": algorithm.variants.then(|| variant.name()),
            "latency": algorithm.way.is_some().then(|| latency.to_string()),
            "predicted_s": predicted,
            "model_s": model,
        })
    }

    fn print(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let Call { collective, size, root, peer, count, .. } = &self.call;
        let of = if collective.has_data() { format!(" of {count} x {} B", self.element) } else { String::new() };
        let from = if collective.has_root() { format!(", root {root}") } else { String::new() };
        let to = if collective.has_peer() { format!(", peer {peer}") } else { String::new() };
        writeln!(out, "{collective}{of} on {size} ranks{from}{to}")?;
        let machine = &self.settings.machine;
        if let Some(hosts) = &self.call.hosts {
            let ranks: Vec<String> = (0..hosts.len()).map(|host| hosts.places_of(host).len().to_string()).collect();
            writeln!(out, "hosts:   {} of {} ranks", hosts.len(), ranks.join(", "))?;
        }
        writeln!(out, "machine: {}", machine.name)?;
        write!(out, "         {}, {}", machine.times(), machine.ports)?;
        write!(out, ", pairs {}", if machine.pairs_linked { "linked" } else { "linked over cube edges only" })?;
        if let Some(shared) = machine.shared {
            write!(out, ", {} cores", shared.cores)?;
        }
        if let Some(limit) = machine.packet_limit {
            write!(out, ", packets below {}", show_bytes(limit))?;
        }
        if let Some(packet) = machine.packet {
            write!(out, ", good packets {}", show_bytes(packet))?;
        }
        let Choice { algorithm, parameters, predicted, why, .. } = &self.choice;
        writeln!(out, "\nchoice:  {} ({}), {}", algorithm.name, algorithm.source, self.form(parameters))?;
        writeln!(out, "         predicted {:.1} us; {why}", predicted * 1e6)?;
        if let (Some(crossing), Some(_)) = (algorithm.crossing, &self.call.hosts) {
            let bytes = crossing(&algorithm.shape(&self.call, parameters)) * self.element as f64;
            writeln!(
                out,
                "         between hosts: {bytes:.0} B into, or out of, the host that has most to send or receive"
            )?;
        }
        if self.native_is_faster() {
            writeln!(out, "         tune measured native MPI to be faster than all of these")?;
        }
        writeln!(out)?;
        writeln!(out, "{:>14}  candidates", "predicted us")?;
        for Candidate { algorithm, parameters, predicted, model } in &self.all.serving {
            let form = self.form(parameters);
            let corrected = if predicted == model { String::new() } else { format!(" (model: {:.1})", model * 1e6) };
            writeln!(out, "{:>14.1}  {:<30} {form}{corrected}", predicted * 1e6, algorithm.name)?;
        }
        for (_, why) in &self.all.refused {
            writeln!(out, "{:>14}  {why}", "-")?;
        }
        Ok(())
    }

    fn form(&self, parameters: &Parameters) -> String {
        let form = parameters.form();
        match parameters.packet.filter(|packet| *packet < self.call.space().len()) {
            Some(packet) => format!("{form}, packets of {packet} elements ({})", show_bytes(packet * self.element)),
            None => format!("{form}, whole messages"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: ExplainArgs,
    }

    fn text(line: &str) -> String {
        let mut out = Vec::new();
        assert!(run(&Cli::parse_from(line.split(' ')).args, &mut out).is_ok(), "{line}");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn an_order_and_a_variant_are_told_if_they_were_asked_for() {
        let asked = text("explain scatter --count 100 --algorithm sbnt --order postorder --variant max-left");
        let choice = asked.lines().find(|line| line.starts_with("choice:")).expect("a choice");
        assert!(choice.contains(", order postorder, variant max-left, "), "{asked}");
        let open = text("explain scatter --count 100 --algorithm sbnt");
        assert!(!open.contains(", order ") && !open.contains(", variant "), "{open}");
    }
}
