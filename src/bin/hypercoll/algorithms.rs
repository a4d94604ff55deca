//! `hypercoll algorithms`: the registry.

use crate::Failure;
use hypercoll::algorithm::{registry::ALGORITHMS, Algorithm, PortModel};
use hypercoll::collective::Collective;
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
    /// Print a Markdown table (the README's)
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

fn requirements(algorithm: &Algorithm) -> String {
    let mut requirements = Vec::new();
    if !algorithm.cube_edges {
        requirements.push("every two ranks linked");
    }
    if algorithm.collective.reduces() {
        requirements.push(match (algorithm.ordered, algorithm.symmetrizes) {
            (true, true) => "symmetrised: a commutative operation",
            (true, false) => "any operation",
            _ => "a commutative operation",
        });
    }
    if requirements.is_empty() {
        return "none".into();
    }
    requirements.join("; ")
}

fn names(ports: &[PortModel]) -> Vec<&'static str> {
    ports.iter().map(|p| p.name()).collect()
}

pub fn run(args: &AlgorithmsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let rows = ALGORITHMS.iter().filter(|a| args.collective.is_none_or(|c| c == a.collective));
    if args.json {
        let rows: Vec<_> = rows
            .map(|a| {
                json!({
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
                    "cost": a.cost,
                })
            })
            .collect();
        writeln!(out, "{}", serde_json::Value::from(rows))?;
        return Ok(());
    }
    if args.markdown {
        writeln!(out, "| collective | algorithm | source | best at | cost |\n|---|---|---|---|---|")?;
        for a in rows {
            writeln!(out, "| {} | `{}` | {} | {} | {} |", a.collective, a.name, a.source, a.summary, a.cost)?;
        }
        return Ok(());
    }
    let mut collective = None;
    for a in rows {
        if collective.replace(a.collective) != Some(a.collective) {
            writeln!(out, "{}", a.collective)?;
        }
        writeln!(out, "  {:<20} {}", a.name, a.summary)?;
        writeln!(out, "  {:<20} {}, section {}; requires: {}", "", a.source, a.section, requirements(a))?;
        writeln!(out, "  {:<20} ports: {}", "", names(a.ports).join(", "))?;
        if !a.packets.is_empty() {
            writeln!(out, "  {:<20} packets with: {}", "", names(a.packets).join(", "))?;
        }
        writeln!(out, "  {:<20} cost: {}", "", a.cost)?;
    }
    Ok(())
}
