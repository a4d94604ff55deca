//! `hypercoll algorithms`: the registry, with every formula worked out, and proven of the schedules.

use crate::call::CallArgs;
use crate::check::json_of;
use crate::Failure;
use hypercoll::algorithm::verify::{verify, Report};
use hypercoll::algorithm::{registry, Algorithm, Formula, Parameters, PortModel};
use hypercoll::collective::{Call, Collective, Permutation};
use hypercoll::Error;
use serde_json::json;
use std::io::Write;

/// Arguments of `hypercoll algorithms`.
#[derive(clap::Args)]
pub struct AlgorithmsArgs {
    /// Only those of this collective
    collective: Option<Collective>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print a Markdown table (that of docs/algorithms.md)
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// The cube on which the formulas are worked out.
const DIMENSION: u32 = 4;
/// Elements of a vector or a block.
const COUNT: usize = 3840;
/// Rows and columns of matrices.
const SIDE: usize = 48;
/// A start-up, in the time that an element takes.
const TAU: f64 = 100.0;

fn count(collective: Collective) -> usize {
    if collective.multiplies() {
        SIDE
    } else {
        COUNT
    }
}

/// A row's formula worked out for a port model, with the packet size that takes the least time, if packets gain anything, and all
/// dimensions at once, if that does.
struct Example {
    parameters: Parameters,
    formula: Formula,
    report: Report,
}

impl Example {
    /// One for each of the port models that are shown and that the algorithm serves.
    fn all(algorithm: &Algorithm) -> Result<Vec<Example>, Failure> {
        let shown = algorithm.ports.iter().filter(|&&ports| ports != PortModel::OneWay);
        shown.filter_map(|&ports| Example::of(algorithm, ports).transpose()).collect()
    }

    fn of(algorithm: &Algorithm, ports: PortModel) -> Result<Option<Example>, Failure> {
        let count = count(algorithm.collective);
        let (call, usual) = CallArgs::default().resolve(algorithm, 1 << DIMENSION, count, Some(ports))?;
        let formula = |parameters: &Parameters| (algorithm.formula)(&algorithm.shape(&call, parameters));
        let mut choices = Vec::new();
        for symmetrized in [false, true] {
            let whole = Parameters { ports, symmetrized, packet: None, ..usual };
            let packet = (algorithm.best_packet)(&algorithm.shape(&call, &whole), TAU, 1.0).round().max(1.0) as usize;
            choices.push(whole);
            if packet < count && !algorithm.cuts(ports) {
                choices.push(Parameters { packet: Some(packet), ..whole });
            }
        }
        choices.retain(|parameters| algorithm.accepts(&call, parameters).is_ok());
        let time = |parameters: &Parameters| formula(parameters).time(TAU, 1.0);
        let Some(parameters) = choices.into_iter().min_by(|a, b| time(a).total_cmp(&time(b))) else { return Ok(None) };
        let report = verify(algorithm, &call, &parameters);
        if let Some(violation) = report.violations.first() {
            return Err(Failure::Usage(format!("{algorithm:?}: {violation}")));
        }
        Ok(Some(Example { parameters, formula: formula(&parameters), report }))
    }

    /// Rounds, and elements one after the other.
    fn short(&self) -> String {
        let packet = self.parameters.packet.map_or(String::new(), |packet| format!(" (B = {packet})"));
        format!("{} / {}{packet}", self.formula.rounds, self.formula.elements.ceil())
    }

    fn json(&self) -> serde_json::Value {
        let Parameters { ports, packet, symmetrized, .. } = self.parameters;
        let Formula { rounds, elements, moved, load, scratch, hops, path, .. } = self.formula;
        json!({
            "ports": ports.name(), "packet": packet, "symmetrized": symmetrized, "time": self.formula.time(TAU, 1.0),
            "rounds": rounds, "elements": elements, "transmissions": moved, "max_link_load": load,
            "scratch": scratch, "hops": hops, "path": path,
            "figures": self.report.figures.iter().map(json_of).collect::<Vec<_>>(),
        })
    }
}

/// What a call must be, in words; what the algorithm itself says of calls that it refuses.
fn requirements(algorithm: &Algorithm) -> String {
    let mut requirements = Vec::new();
    if !algorithm.cube_edges {
        requirements.push("every two ranks linked".to_string());
    }
    if algorithm.collective.reduces() {
        let operation = match (algorithm.ordered, algorithm.symmetrizes) {
            (true, true) => "symmetrised: a commutative operation",
            (true, false) => "any operation",
            _ => "a commutative operation",
        };
        requirements.push(operation.to_string());
    }
    for why in probes(algorithm.collective).iter().filter_map(|call| refusal(algorithm, call)) {
        // One word on each argument is enough.
        let argument = |text: &str| text.split_once(": ").map(|(argument, _)| argument.to_string());
        if requirements.iter().all(|known| argument(known).is_none() || argument(known) != argument(&why)) {
            requirements.push(why);
        }
    }
    if requirements.is_empty() {
        return "none".into();
    }
    requirements.join("; ")
}

/// Calls that not every algorithm serves: any number of ranks, any distance, any permutation.
fn probes(collective: Collective) -> Vec<Call> {
    let mut probes = vec![Call::new(collective, 6, 60), Call::new(collective, 8, 60)];
    if collective.has_peer() {
        probes.extend([0, 1, 3, 7].map(|peer| Call { peer, ..Call::new(collective, 8, 60) }));
    }
    if collective.meaning().permutation == Some(Permutation::Any) {
        let shift: Vec<usize> = (0..8).map(|rank| (rank + 1) % 8).collect();
        probes.push(Call { permutation: Some(shift.into()), ..Call::new(collective, 8, 60) });
    }
    probes
}

/// Why no port model serves a call, if that is so.
fn refusal(algorithm: &Algorithm, call: &Call) -> Option<String> {
    let mut refusals = Vec::new();
    for &ports in algorithm.ports {
        for symmetrized in [false, algorithm.symmetrizes] {
            match algorithm.accepts(call, &Parameters { symmetrized, ..Parameters::new(ports) }) {
                Ok(()) => return None,
                Err(Error::Unsuited { argument, why, .. }) => refusals.push(format!("{argument}: {why}")),
                Err(error) => refusals.push(error.to_string()),
            }
        }
    }
    refusals.into_iter().next()
}

fn names(ports: &[PortModel]) -> Vec<&'static str> {
    ports.iter().map(|p| p.name()).collect()
}

pub fn run(args: &AlgorithmsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let wanted = Collective::ALL.into_iter().filter(|&c| args.collective.is_none_or(|only| only == c));
    let rows: Vec<&Algorithm> = wanted.flat_map(registry::of).collect();
    match (args.json, args.markdown) {
        (true, _) => as_json(&rows, out),
        (_, true) => as_markdown(&rows, out),
        _ => as_text(&rows, out),
    }
}

fn as_json(rows: &[&Algorithm], out: &mut dyn Write) -> Result<(), Failure> {
    let mut list = Vec::new();
    for a in rows {
        let examples = Example::all(a)?;
        list.push(json!({
            "collective": a.collective.name(),
            "name": a.name,
            "source": a.source,
            "section": a.section,
            "differs": a.differs,
            "summary": a.summary,
            "requirements": requirements(a),
            "ports": names(a.ports),
            "packets": names(a.packets),
            "symmetrizes": a.symmetrizes,
            "cube_edges": a.cube_edges,
            "orders": a.orders.iter().map(|order| order.name()).collect::<Vec<_>>(),
            "variants": a.variants,
            "cost": a.cost,
            "example": {
                "dimension": DIMENSION,
                "count": count(a.collective),
                "tau": TAU,
                "tc": 1.0,
                "by_ports": examples.iter().map(Example::json).collect::<Vec<_>>(),
            },
        }));
    }
    writeln!(out, "{}", serde_json::Value::from(list))?;
    Ok(())
}

/// A table for each collective.
fn as_markdown(rows: &[&Algorithm], out: &mut dyn Write) -> Result<(), Failure> {
    let mut collective = None;
    for a in rows {
        if collective.replace(a.collective) != Some(a.collective) {
            let gap = if std::ptr::eq(*a, rows[0]) { "" } else { "\n" };
            writeln!(out, "{gap}### {}\n", a.collective)?;
            writeln!(
                out,
                "| algorithm | from | best at | cost | one port | all ports | link |\n|---|---|---|---|---|---|---|"
            )?;
        }
        let differs = if a.differs.is_empty() { String::new() } else { format!("; {}", a.differs) };
        let examples = Example::all(a)?;
        let of = |ports: PortModel| examples.iter().find(|example| example.parameters.ports == ports);
        let figures = |ports: PortModel| of(ports).map_or("-".into(), Example::short);
        let load =
            of(PortModel::AllPorts).or(of(PortModel::OnePort)).map_or(0.0, |example| example.formula.load.ceil());
        writeln!(
            out,
            "| `{}` | {}{differs} | {} | {} | {} | {} | {load} |",
            a.name,
            origin(a),
            a.summary,
            a.cost,
            figures(PortModel::OnePort),
            figures(PortModel::AllPorts),
        )?;
    }
    Ok(())
}

/// Its name in its paper, and where it is there.
fn origin(algorithm: &Algorithm) -> String {
    match algorithm.section {
        "-" => algorithm.source.to_string(),
        sections => format!("{}, section {sections}", algorithm.source),
    }
}

fn as_text(rows: &[&Algorithm], out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(
        out,
        "figures: rounds / elements one after the other (best packet), n = {DIMENSION}, {COUNT} elements ({SIDE} x {SIDE} \
         matrices), a start-up as long as {TAU} elements"
    )?;
    let mut collective = None;
    for a in rows {
        if collective.replace(a.collective) != Some(a.collective) {
            writeln!(out, "{}", a.collective)?;
        }
        writeln!(out, "  {:<30} {}", a.name, a.summary)?;
        writeln!(out, "  {:<30} {}; requires: {}", "", origin(a), requirements(a))?;
        if !a.differs.is_empty() {
            writeln!(out, "  {:<30} differs: {}", "", a.differs)?;
        }
        writeln!(out, "  {:<30} ports: {}", "", names(a.ports).join(", "))?;
        if !a.packets.is_empty() {
            writeln!(out, "  {:<30} packets with: {}", "", names(a.packets).join(", "))?;
        }
        if !a.orders.is_empty() {
            let orders: Vec<_> = a.orders.iter().map(|order| order.name()).collect();
            writeln!(out, "  {:<30} orders: {}", "", orders.join(", "))?;
        }
        writeln!(out, "  {:<30} cost: {}", "", a.cost)?;
        let examples = Example::all(a)?;
        let figures = examples.iter().map(|example| format!("{} {}", example.parameters.ports, example.short()));
        writeln!(out, "  {:<30} {}", "", figures.collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}
