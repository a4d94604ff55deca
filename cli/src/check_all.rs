//! `hypercoll check --all`: every algorithm, over all that can be asked of it, on all cores.

use crate::check::found;
use crate::Failure;
use hypercoll::address::dimension_for;
use hypercoll::algorithm::{
    registry::ALGORITHMS,
    verify::{forms, verify},
    Algorithm, Parameters,
};
use hypercoll::collective::{Call, Collective};
use hypercoll::topology::sbnt::Variant;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex, PoisonError};

/// Up to this size every size is tried, with every root.
const EVERY: usize = 33;
/// The larger sizes.
const LARGE: [usize; 3] = [64, 128, 256];
/// From this size on, all-to-all exchanges are checked one at a time: one takes a gigabyte or more.
const HEAVY: usize = 128;

/// What was tried and found of one algorithm, on one size or on all.
#[derive(Default)]
struct Tally {
    schedules: usize,
    messages: usize,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.schedules += other.schedules;
        self.messages += other.messages;
        self.failures.extend(other.failures);
    }
}

/// Checks all algorithms and reports on each in the order of the registry.
pub fn run(as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    // The largest sizes of an algorithm first, so that no core is left with one of them at the end.
    let sizes: Vec<usize> = (1..=EVERY).chain(LARGE).rev().collect();
    let jobs: Vec<(usize, usize)> =
        (0..ALGORITHMS.len()).flat_map(|index| sizes.iter().map(move |&size| (index, size))).collect();
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(jobs.len() as u64) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let mut rows = Vec::new();
    let mut wrong = 0;
    let (next, heavy) = (AtomicUsize::new(0), Mutex::new(()));
    let (sender, receiver) = mpsc::channel();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| -> Result<(), Failure> {
        for _ in 0..cores {
            let (sender, jobs, next, heavy) = (sender.clone(), &jobs, &next, &heavy);
            scope.spawn(move || {
                while let Some(&(index, size)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let algorithm = &ALGORITHMS[index];
                    let _alone = (size >= HEAVY && is_heavy(algorithm.collective))
                        .then(|| heavy.lock().unwrap_or_else(PoisonError::into_inner));
                    if sender.send((index, check(algorithm, size))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // Tallies come in any order; algorithms are reported in the registry's.
        let mut tallies: Vec<(usize, Tally)> = ALGORITHMS.iter().map(|_| Default::default()).collect();
        let mut reported = 0;
        for (index, tally) in receiver {
            tallies[index].0 += 1;
            tallies[index].1.add(tally);
            bar.inc(1);
            while reported < ALGORITHMS.len() && tallies[reported].0 == sizes.len() {
                let tally = &tallies[reported].1;
                wrong += tally.failures.len();
                rows.push(report(&ALGORITHMS[reported], tally, as_json, out)?);
                reported += 1;
            }
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    if as_json {
        writeln!(out, "{}", json!({ "ok": wrong == 0, "algorithms": rows }))?;
    }
    found(wrong)
}

fn report(
    algorithm: &Algorithm,
    tally: &Tally,
    as_json: bool,
    out: &mut dyn Write,
) -> Result<serde_json::Value, Failure> {
    let Tally { schedules, messages, failures } = tally;
    if !as_json {
        let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
        writeln!(
            out,
            "{:<21} {:<30} {schedules:>8} schedules {messages:>10} messages  {verdict}",
            algorithm.collective, algorithm.name
        )?;
        for failure in failures.iter().take(5) {
            writeln!(out, "  {failure}")?;
        }
        out.flush()?;
    }
    Ok(json!({
        "collective": algorithm.collective.name(),
        "algorithm": algorithm.name,
        "ok": failures.is_empty(),
        "schedules": schedules,
        "messages": messages,
        "violations": failures,
    }))
}

/// Whether every rank has something for every other one.
fn is_heavy(collective: Collective) -> bool {
    matches!(collective, Collective::AllToAll | Collective::TransposeRows)
}

fn check(algorithm: &Algorithm, size: usize) -> Tally {
    let mut tally = Tally::default();
    for (call, parameters) in calls(algorithm, size) {
        if algorithm.accepts(&call, &parameters).is_err() {
            continue;
        }
        let report = verify(algorithm, &call, &parameters);
        tally.schedules += size;
        tally.messages += report.cost.messages;
        tally.failures.extend(report.violations.iter().map(|v| format!("{call:?} {parameters:?}: {v}")));
    }
    tally
}

/// What is tried of an algorithm on so many ranks (and taken if the algorithm accepts it).
fn calls(algorithm: &Algorithm, size: usize) -> Vec<(Call, Parameters)> {
    let collective = algorithm.collective;
    let mut few = vec![0, 1, size / 2, size - 1];
    few.retain(|&root| root < size);
    let roots = match (collective.has_root(), size <= EVERY) {
        (false, _) => vec![0],
        (true, true) => (0..size).collect(),
        (true, false) => few.clone(),
    };
    let mut all = Vec::new();
    for root in roots {
        let is_usual = few.contains(&root);
        let is_end = root == 0 || root == size - 1;
        for count in counts(collective, size, is_usual) {
            let mut forms = forms(collective, size, count, root);
            if size >= HEAVY && collective.permutes() {
                // The last one is the reversal, the longest way for every vector.
                forms.drain(..forms.len() - 1);
            }
            for call in forms {
                let choices = parameters(algorithm, size, count, is_end);
                all.extend(choices.into_iter().map(|parameters| (call.clone(), parameters)));
            }
        }
    }
    all
}

/// Whole cubes are tried with a count that nothing divides unevenly as well, so that all formulas are exact.
fn counts(collective: Collective, size: usize, is_usual: bool) -> Vec<usize> {
    let mut counts = match size {
        _ if size <= EVERY && is_usual && (size <= 16 || size.is_power_of_two()) => vec![0, 1, 3, 7, 60],
        _ if size <= EVERY && is_usual => vec![3, 7],
        _ if size <= EVERY => vec![7],
        _ if is_heavy(collective) && size >= HEAVY => vec![],
        _ => vec![7],
    };
    if size.is_power_of_two() {
        counts.push(even_count(collective, dimension_for(size)));
    }
    counts
}

/// A count that is a multiple of 2^n and of all numbers up to n; for matrices a side that is cut evenly up to n = 8.
fn even_count(collective: Collective, n: u32) -> usize {
    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 {
            a
        } else {
            gcd(b, a % b)
        }
    }
    if collective == Collective::MatrixMultiply {
        return 3 << 6;
    }
    (1..=n as usize).fold(1, |all, k| all / gcd(all, k) * k) << n
}

/// The parameters: orders and trees besides the usual ones with the first and the last root only, and both at once with
/// few counts and packets.
fn parameters(algorithm: &Algorithm, size: usize, count: usize, is_end: bool) -> Vec<Parameters> {
    let mut packets = vec![None];
    if !algorithm.packets.is_empty() {
        match count {
            0..=12 if size <= EVERY => packets.extend([Some(1), Some(4)]),
            0..=100 => packets.push(Some(4)),
            _ => packets.push(Some(count / 4)),
        }
    }
    let mut choices = Vec::new();
    for &ports in algorithm.ports {
        for &packet in &packets {
            for symmetrized in [false, true] {
                if symmetrized && !algorithm.symmetrizes {
                    continue;
                }
                let plain = Parameters { packet, symmetrized, ..Parameters::new(ports) };
                choices.push(plain);
                if !is_end {
                    continue;
                }
                choices.extend(algorithm.orders.iter().map(|&order| Parameters { order: Some(order), ..plain }));
                for variant in Variant::ALL.into_iter().filter(|&v| algorithm.variants && v != Variant::default()) {
                    let with_orders = (count == 7 || count > 100) && packet != Some(1);
                    let orders = algorithm.orders.iter().map(|&order| Some(order)).filter(|_| with_orders);
                    choices.extend(std::iter::once(None).chain(orders).map(|order| Parameters {
                        order,
                        variant,
                        ..plain
                    }));
                }
            }
        }
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use hypercoll::algorithm::registry;

    #[test]
    fn even_counts_divide() {
        let counts = [0, 1, 2, 3, 4, 8].map(|n| even_count(Collective::Scatter, n));
        assert_eq!(counts, [1, 2, 8, 48, 192, 215_040]);
    }

    #[test]
    fn all_roots_orders_and_variants_are_among_the_calls() {
        let scatter = registry::find(Collective::Scatter, "sbnt").expect("sbnt");
        let all = calls(scatter, 16);
        for root in 0..16 {
            assert!(all.iter().any(|(call, _)| call.root == root));
        }
        for variant in Variant::ALL.into_iter().filter(|_| scatter.variants) {
            assert!(all.iter().any(|(_, parameters)| parameters.variant == variant), "{variant}");
        }
        for &order in scatter.orders {
            assert!(all.iter().any(|(_, parameters)| parameters.order == Some(order)), "{order}");
        }
        assert!(all.iter().any(|(call, _)| call.count == even_count(Collective::Scatter, 4)));
    }
}
