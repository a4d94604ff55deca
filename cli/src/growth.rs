//! `hypercoll growth`: what a call takes before its first message, as the number of ranks grows: the choice of an algorithm, and the
//! plan of one rank.

use crate::call::CallArgs;
use crate::figures::chart::{draw, Axis, Figure, Series};
use crate::Failure;
use hypercoll::algorithm::registry::ALGORITHMS;
use hypercoll::algorithm::{Algorithm, PortModel};
use hypercoll::collective::Collective;
use hypercoll::schedule::{BufferRange, Schedule};
use hypercoll::select::{choose, Machine};
use serde_json::{json, Value};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Arguments of `hypercoll growth`.
#[derive(clap::Args)]
pub struct GrowthArgs {
    /// Only this collective
    collective: Option<Collective>,
    /// Largest dimension: up to 2^N ranks
    #[arg(long, default_value_t = LAST, value_parser = clap::value_parser!(u32).range(10..=i64::from(LAST)))]
    max_dim: u32,
    /// Elements of the vector or of a block
    #[arg(long, default_value_t = 1)]
    count: usize,
    /// Directory for a picture of each collective; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The largest dimension.
const LAST: u32 = 20;
/// A number of ranks that is no power of two: between the last two powers.
const ODD: usize = 1_000_003;
/// An algorithm whose plan takes longer is not asked for more ranks.
const LONG: Duration = Duration::from_secs(1);

/// One number of ranks: the plan of an algorithm for rank 0, the root where there is one, which has as much to do as any; or the choice.
struct Plan {
    collective: Collective,
    /// The algorithm; none for the choice.
    algorithm: Option<&'static str>,
    size: usize,
    time: Duration,
    /// What the plan consists of; the choice has nothing.
    operations: usize,
    bytes: usize,
}

impl Plan {
    fn name(&self) -> &'static str {
        self.algorithm.unwrap_or(CHOICE)
    }
}

/// The name of the choice among algorithms.
const CHOICE: &str = "(choice)";

/// Bytes of a schedule, but for what links it to others.
fn bytes(schedule: &Schedule) -> usize {
    let operations = schedule.operations();
    let ranges: usize = operations.iter().map(|operation| schedule.ranges(operation).len()).sum();
    let links: usize = operations.iter().map(|operation| 2 * schedule.dependencies(operation).len()).sum();
    size_of_val(operations) + ranges * size_of::<BufferRange>() + (links + operations.len()) * size_of::<u32>()
}

fn plan(algorithm: &'static Algorithm, size: usize, count: usize) -> Option<Plan> {
    let ports = algorithm.ports.contains(&PortModel::OnePort).then_some(PortModel::OnePort);
    let (call, parameters) = CallArgs::default().resolve(algorithm, size, count, ports).ok()?;
    let start = Instant::now();
    let schedule = algorithm.schedule(&call, &parameters, 0);
    let time = start.elapsed();
    Some(Plan {
        collective: algorithm.collective,
        algorithm: Some(algorithm.name),
        size,
        time,
        operations: schedule.operations().len(),
        bytes: bytes(&schedule),
    })
}

/// The choice on the network built in, the second time that it is made.
fn choice(collective: Collective, size: usize, count: usize) -> Option<Plan> {
    let (call, options) = CallArgs::default().open(collective, size, count).ok()?;
    let (element, machine) = (size_of::<f64>(), Machine::network());
    choose(&call, element, &options, &machine).ok()?;
    let start = Instant::now();
    choose(&call, element, &options, &machine).ok()?;
    Some(Plan { collective, algorithm: None, size, time: start.elapsed(), operations: 0, bytes: 0 })
}

pub fn run(args: &GrowthArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut sizes: Vec<usize> = (10..=args.max_dim).map(|dimension| 1 << dimension).collect();
    if args.max_dim == LAST {
        sizes.insert(sizes.len() - 1, ODD);
    }
    let mut plans: Vec<Plan> = Vec::new();
    let asked = |collective| args.collective.is_none_or(|only| only == collective);
    for collective in Collective::ALL.into_iter().filter(|collective| asked(*collective)) {
        plans.extend(sizes.iter().filter_map(|&size| choice(collective, size, args.count)));
    }
    for algorithm in ALGORITHMS.iter().filter(|row| asked(row.collective)) {
        for &size in &sizes {
            let Some(plan) = plan(algorithm, size, args.count) else { continue };
            let long = plan.time > LONG;
            plans.push(plan);
            if long {
                break;
            }
        }
    }
    if let Some(directory) = &args.out {
        std::fs::create_dir_all(directory).map_err(|error| format!("out: {}: {error}", directory.display()))?;
        for collective in Collective::ALL {
            let Some(figure) = figure(collective, args, &plans) else { continue };
            let path = directory.join(format!("growth-{}.svg", collective.name()));
            std::fs::write(&path, draw(&figure)?).map_err(|error| format!("out: {}: {error}", path.display()))?;
        }
    }
    if args.json {
        let row = |plan: &Plan| {
            json!({
                "collective": plan.collective.name(), "algorithm": plan.algorithm, "size": plan.size,
                "seconds": plan.time.as_secs_f64(), "operations": plan.operations, "bytes": plan.bytes,
            })
        };
        writeln!(out, "{}", Value::from(plans.iter().map(row).collect::<Vec<_>>()))?;
        return Ok(());
    }
    writeln!(out, "{:<22} {:<32} {:>9} {:>12} {:>11} {:>12}", "", "", "ranks", "us", "operations", "bytes")?;
    // The first and the last of each algorithm's: what lies between is in the pictures and the JSON.
    for group in plans.chunk_by(|a, b| (a.collective, a.algorithm) == (b.collective, b.algorithm)) {
        let ends = if group.len() > 1 { vec![&group[0], &group[group.len() - 1]] } else { vec![&group[0]] };
        for plan in ends {
            let Plan { collective, size, time, operations, bytes, .. } = plan;
            let (collective, name, micros) = (collective.name(), plan.name(), time.as_secs_f64() * 1e6);
            writeln!(out, "{collective:<22} {name:<32} {size:>9} {micros:>12.1} {operations:>11} {bytes:>12}")?;
        }
    }
    Ok(())
}

/// The times of a collective's choice and of all its algorithms.
fn figure(collective: Collective, args: &GrowthArgs, plans: &[Plan]) -> Option<Figure> {
    let own = || plans.iter().filter(|plan| plan.collective == collective);
    let mut series: Vec<Series> = Vec::new();
    for plan in own() {
        let point = ((plan.size as f64).log2(), plan.time.as_secs_f64());
        match series.iter_mut().find(|series| series.label == plan.name()) {
            Some(series) => series.simulated.push(point),
            None => series.push(Series { simulated: vec![point], ..Series::new(plan.name().into()) }),
        }
    }
    for series in &mut series {
        series.formula.clone_from(&series.simulated);
    }
    let of = match args.count {
        _ if !collective.has_data() => String::new(),
        1 => ", one element".into(),
        count => format!(", {count} elements"),
    };
    let odd = if args.max_dim == LAST { "; 10^6 + 3 ranks between 2^19 and 2^20" } else { "" };
    (!series.is_empty()).then(|| Figure {
        name: collective.name(),
        title: "Before the first message: the choice, and the plan of one rank",
        setting: format!("{}{of}{odd}", collective.name()),
        marks: "measured once, on one core",
        formula: "what the rank itself sends, receives and combines is the bound",
        x: Axis::dimension(),
        y: Axis::seconds("time"),
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hypercoll::algorithm::registry;

    /// A rank of a broadcast has a few operations, however many ranks there are.
    #[test]
    fn a_plan_is_as_long_as_what_the_rank_does() {
        let of = |collective, name, size| {
            let algorithm = registry::find(collective, name).expect("an algorithm");
            let plan = plan(algorithm, size, 1).expect("a plan");
            (plan.operations, plan.bytes)
        };
        for size in [1 << 10, 1 << 20, ODD] {
            let (operations, bytes) = of(Collective::Broadcast, "sbt", size);
            assert!(operations <= 22 && bytes < 4096, "{size}: {operations} operations, {bytes} bytes");
        }
        // Every rank sends to every other.
        assert!(of(Collective::AllToAll, "shift", 1 << 10).0 >= 2 * 1023);
    }
}
