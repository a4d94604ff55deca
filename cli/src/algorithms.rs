//! `hypercoll algorithms`: the registry, with every formula worked out and compared with the schedule.

use crate::call::CallArgs;
use crate::Failure;
use hypercoll::algorithm::{registry, verify::schedules, Algorithm, Parameters, PortModel, Shape};
use hypercoll::collective::{Call, Collective};
use hypercoll::schedule::Cost;
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

/// The cube on which the formulas are worked out, and the count: one that they divide evenly.
const DIMENSION: u32 = 4;
const COUNT: usize = 3840;

/// What a call costs.
#[derive(PartialEq)]
struct Value {
    rounds: usize,
    transmissions: f64,
    max_link_load: f64,
}

impl Value {
    /// Rounds, transmissions, largest load.
    fn short(&self) -> String {
        format!("{} / {} / {}", self.rounds, self.transmissions, self.max_link_load)
    }

    fn json(&self) -> serde_json::Value {
        let Value { rounds, transmissions, max_link_load } = self;
        json!({ "rounds": rounds, "transmissions": transmissions, "max_link_load": max_link_load })
    }
}

/// A row's formula and its schedule on the cube of [`DIMENSION`], with the widest port model that it serves.
struct Example {
    ports: PortModel,
    formula: Value,
    schedule: Value,
}

impl Example {
    fn of(algorithm: &Algorithm) -> Result<Example, Failure> {
        let (call, parameters) = CallArgs::default().resolve(algorithm, 1 << DIMENSION, COUNT, None)?;
        let formula = (algorithm.formula)(&Shape::new(&call, &parameters));
        let cost = Cost::of(&schedules(algorithm, &call, &parameters));
        Ok(Example {
            ports: parameters.ports,
            formula: Value {
                rounds: formula.rounds,
                transmissions: formula.moved.round(),
                max_link_load: formula.load.round(),
            },
            schedule: Value {
                rounds: cost.rounds,
                transmissions: cost.elements as f64,
                max_link_load: cost.max_link_load as f64,
            },
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
    if collective == Collective::Permute {
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
    let rows = wanted.flat_map(registry::of);
    if args.json {
        let rows: Result<Vec<_>, Failure> = rows
            .map(|a| {
                let example = Example::of(a)?;
                Ok(json!({
                    "collective": a.collective.name(),
                    "name": a.name,
                    "source": a.source,
                    "section": a.section,
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
                        "dimension": DIMENSION, "count": COUNT, "ports": example.ports.name(),
                        "formula": example.formula.json(), "schedule": example.schedule.json(),
                    },
                }))
            })
            .collect();
        writeln!(out, "{}", serde_json::Value::from(rows?))?;
        return Ok(());
    }
    if args.markdown {
        writeln!(
            out,
            "| collective | algorithm | source | best at | cost | by formula | by schedule |\n|---|---|---|---|---|---|---|"
        )?;
        for a in rows {
            let Example { ports, formula, schedule } = Example::of(a)?;
            let note = if ports == PortModel::AllPorts { String::new() } else { format!(" ({ports})") };
            writeln!(
                out,
                "| {} | `{}` | {} | {} | {} | {}{note} | {} |",
                a.collective,
                a.name,
                a.source,
                a.summary,
                a.cost,
                formula.short(),
                schedule.short()
            )?;
        }
        return Ok(());
    }
    writeln!(
        out,
        "values: rounds / transmissions / largest load of a link, n = {DIMENSION}, {COUNT} elements, the widest port model"
    )?;
    let mut collective = None;
    for a in rows {
        if collective.replace(a.collective) != Some(a.collective) {
            writeln!(out, "{}", a.collective)?;
        }
        writeln!(out, "  {:<30} {}", a.name, a.summary)?;
        writeln!(out, "  {:<30} {}, section {}; requires: {}", "", a.source, a.section, requirements(a))?;
        writeln!(out, "  {:<30} ports: {}", "", names(a.ports).join(", "))?;
        if !a.packets.is_empty() {
            writeln!(out, "  {:<30} packets with: {}", "", names(a.packets).join(", "))?;
        }
        if !a.orders.is_empty() {
            let orders: Vec<_> = a.orders.iter().map(|order| order.name()).collect();
            writeln!(out, "  {:<30} orders: {}", "", orders.join(", "))?;
        }
        writeln!(out, "  {:<30} cost: {}", "", a.cost)?;
        let Example { ports, formula, schedule } = Example::of(a)?;
        let (formula, schedule) = (formula.short(), schedule.short());
        writeln!(out, "  {:<30} {ports}: {formula} by formula, {schedule} by schedule", "")?;
    }
    Ok(())
}
