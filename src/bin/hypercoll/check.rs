//! `hypercoll check`: proves schedules right without running them.

use crate::Failure;
use hypercoll::algorithm::{
    registry,
    verify::{forms, verify},
    Algorithm, Parameters, PortModel, Shape,
};
use hypercoll::collective::{Call, Collective};
use hypercoll::schedule::Report;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::io::{IsTerminal, Write};

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
    /// Root
    #[arg(long, default_value_t = 0)]
    root: usize,
    /// Elements of the vector or of a block
    #[arg(long, default_value_t = 60)]
    count: usize,
    /// Packet size in elements
    #[arg(long)]
    packet: Option<usize>,
    /// Port model: one-way, one-port, all-ports
    #[arg(long)]
    ports: Option<PortModel>,
    /// All dimensions at once (true) or one at a time (false)
    #[arg(long)]
    symmetrized: Option<bool>,
    /// In place (all-gather, all-reduce, reduce)
    #[arg(long)]
    in_place: bool,
    /// The operation of a reduction does not commute
    #[arg(long)]
    ordered: bool,
    /// Permutation of the ranks: the target of rank 0, 1, ... (default: reversal)
    #[arg(long, value_delimiter = ',')]
    permutation: Option<Vec<usize>>,
    /// Print the schedule of this rank
    #[arg(long)]
    show: Option<usize>,
    /// Check every algorithm, with sizes 1 to 33 and 64, several roots, counts, packets and port models
    #[arg(long, conflicts_with_all = ["collective", "algorithm", "show"])]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The parameters of a command line: what is left open is what the port model suggests.
pub fn parameters(
    algorithm: &Algorithm,
    ordered: bool,
    packet: Option<usize>,
    ports: Option<PortModel>,
    symmetrized: Option<bool>,
) -> Parameters {
    // Without a word the widest model that the algorithm serves: for the papers' algorithms, all ports.
    let ports = ports.unwrap_or(match symmetrized {
        Some(false) if algorithm.symmetrizes => PortModel::OnePort,
        _ => algorithm.ports.iter().copied().max().unwrap_or(PortModel::OnePort),
    });
    let usual = algorithm.symmetrizes && ports == PortModel::AllPorts && !ordered;
    Parameters { packet, symmetrized: symmetrized.unwrap_or(usual), ..Parameters::new(ports) }
}

pub fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let (Some(collective), Some(name)) = (args.collective, &args.algorithm) else { return all(args, out) };
    let algorithm = registry::find(collective, name).map_err(|e| e.to_string())?;
    let size = args.size as usize;
    let call = Call {
        in_place: args.in_place,
        ordered: args.ordered,
        permutation: permutation(collective, size, args.permutation.as_deref())?,
        ..Call::new(collective, size, args.count).with_root(args.root)
    };
    if args.root >= size || !collective.has_root() && args.root > 0 {
        return Err(Failure::Usage(format!("root: {} is no root of {collective} on {size} ranks", args.root)));
    }
    if args.in_place && !collective.has_in_place() {
        return Err(Failure::Usage(format!("in-place: {collective} has no such form")));
    }
    if args.ordered && !collective.reduces() {
        return Err(Failure::Usage(format!("ordered: {collective} has no operation")));
    }
    let parameters = parameters(algorithm, args.ordered, args.packet, args.ports, args.symmetrized);
    algorithm.accepts(&call, &parameters).map_err(|e| e.to_string())?;
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
            writeln!(out, "{formula}; the schedule: {} rounds, {} elements", c.rounds, c.longest_sum())?;
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

fn found(violations: usize) -> Result<(), Failure> {
    match violations {
        0 => Ok(()),
        n => Err(Failure::Found(format!("{n} violations"))),
    }
}

/// The permutation of a call, checked; reversal if none is given.
pub fn permutation(
    collective: Collective,
    size: usize,
    given: Option<&[usize]>,
) -> Result<Option<std::sync::Arc<[usize]>>, Failure> {
    if collective != Collective::Permute {
        return match given {
            None => Ok(None),
            Some(_) => Err(Failure::Usage(format!("permutation: {collective} has none"))),
        };
    }
    let permutation: Vec<usize> = given.map_or_else(|| (0..size).rev().collect(), <[usize]>::to_vec);
    let mut sorted = permutation.clone();
    sorted.sort_unstable();
    if sorted != (0..size).collect::<Vec<_>>() {
        return Err(Failure::Usage(format!("permutation: {permutation:?} is no permutation of 0..{size}")));
    }
    Ok(Some(permutation.into()))
}

/// The calls that `--all` tries for an algorithm and a size.
fn calls(collective: Collective, size: usize) -> Vec<Call> {
    let mut roots = vec![0];
    if collective.has_root() {
        roots.extend([1, size / 2, size - 1]);
        roots.retain(|&r| r < size);
        roots.sort_unstable();
        roots.dedup();
    }
    let counts: &[usize] = if size > 33 { &[7] } else { &[0, 1, 7, 60] };
    let shapes = counts.iter().flat_map(|&count| roots.iter().map(move |&root| (count, root)));
    shapes.flat_map(|(count, root)| forms(collective, size, count, root)).collect()
}

fn all(args: &CheckArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let sizes: Vec<usize> = (1..=33).chain([64]).collect();
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::new((registry::ALGORITHMS.len() * sizes.len()) as u64)
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let mut rows = Vec::new();
    let mut wrong = 0;
    for algorithm in registry::ALGORITHMS {
        let (mut schedules, mut messages, mut failures) = (0usize, 0usize, Vec::new());
        for &size in &sizes {
            bar.set_message(format!("{algorithm:?} on {size} ranks"));
            for call in calls(algorithm.collective, size) {
                for ports in PortModel::ALL {
                    for (packet, symmetrized) in [(None, false), (None, true), (Some(1), false), (Some(4), false)] {
                        let parameters = Parameters { packet, symmetrized, ..Parameters::new(ports) };
                        if algorithm.accepts(&call, &parameters).is_err() {
                            continue;
                        }
                        let Report { cost, violations } = verify(algorithm, &call, &parameters);
                        schedules += size;
                        messages += cost.messages;
                        failures.extend(violations.iter().map(|v| format!("{call:?} {parameters:?}: {v}")));
                    }
                }
            }
            bar.inc(1);
        }
        wrong += failures.len();
        if args.json {
            rows.push(json!({
                "collective": algorithm.collective.name(),
                "algorithm": algorithm.name,
                "ok": failures.is_empty(),
                "schedules": schedules,
                "messages": messages,
                "violations": failures,
            }));
        } else {
            let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
            writeln!(
                out,
                "{:<15} {:<20} {schedules:>8} schedules {messages:>9} messages  {verdict}",
                algorithm.collective, algorithm.name
            )?;
            for failure in failures.iter().take(5) {
                writeln!(out, "  {failure}")?;
            }
        }
    }
    bar.finish_and_clear();
    if args.json {
        writeln!(out, "{}", json!({ "ok": wrong == 0, "algorithms": rows }))?;
    }
    found(wrong)
}
