//! `hypercoll check --all`: every algorithm, over all that can be asked of it, on all cores.
//!
//! Besides what is wrong with single calls, it tells of every bound that a row states whether some call reaches it: one that none
//! reaches says nothing.

use crate::check::found;
use crate::Failure;
use hypercoll::address::dimension_for;
use hypercoll::algorithm::{
    registry::ALGORITHMS,
    verify::{forms, verify},
    Algorithm, Figure, Parameters,
};
use hypercoll::collective::{Avoided, Blocks, Call, Collective, Permutation};
use hypercoll::topology::sbnt::Variant;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex, PoisonError};

/// From this size on, all-to-all exchanges are checked one at a time: one takes a gigabyte or more.
const HEAVY: usize = 128;

/// How much is tried.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Up to this size every size is tried, with every root.
    every: usize,
    /// The larger sizes.
    large: &'static [usize],
    /// What is not tried, in words.
    left_out: &'static str,
}

impl Extent {
    /// All that can be tried in some minutes.
    pub const FULL: Extent = Extent {
        every: 33,
        large: &[64, 128, 256],
        left_out: "sizes above 33 but 64, 128 and 256; on these, most roots; all-to-all exchanges of long blocks on 128 and 256 ranks",
    };
    /// What is tried in less than three.
    pub const SHORT: Extent = Extent {
        every: 9,
        large: &[13, 16, 32, 64, 128],
        left_out: "sizes above 9 but 13, 16, 32, 64 and 128; on these, most roots; all-to-all exchanges of long blocks on 128 ranks \
                   (without --short: all sizes to 33 with all roots, and 256)",
    };
}

/// What was tried and found of one algorithm, on one size or on all.
#[derive(Default)]
struct Tally {
    schedules: usize,
    messages: usize,
    failures: Vec<String>,
    /// The figures that the row states as bounds for some call on whole cubes, and whether one reached them.
    bounds: BTreeMap<&'static str, bool>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.schedules += other.schedules;
        self.messages += other.messages;
        self.failures.extend(other.failures);
        for (figure, reached) in other.bounds {
            *self.bounds.entry(figure).or_default() |= reached;
        }
    }

    /// The bounds that nothing reaches are wrong.
    fn close(&mut self) {
        let idle = self.bounds.iter().filter(|(_, &reached)| !reached);
        let idle = idle.map(|(figure, _)| format!("{figure}: stated as a bound, which no call reaches"));
        self.failures.extend(idle.collect::<Vec<_>>());
    }
}

/// Checks all algorithms and reports on each in the order of the registry.
pub fn run(extent: Extent, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    // The largest sizes of an algorithm first, so that no core is left with one of them at the end.
    let sizes: Vec<usize> = (1..=extent.every).chain(extent.large.iter().copied()).rev().collect();
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
                    if sender.send((index, check(algorithm, extent, size))).is_err() {
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
                let tally = &mut tallies[reported].1;
                tally.close();
                wrong += tally.failures.len();
                rows.push(report(&ALGORITHMS[reported], tally, as_json, out)?);
                reported += 1;
            }
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    if as_json {
        writeln!(out, "{}", json!({ "ok": wrong == 0, "algorithms": rows, "left_out": extent.left_out }))?;
    } else {
        writeln!(out, "left out: {}", extent.left_out)?;
    }
    found(wrong)
}

fn report(
    algorithm: &Algorithm,
    tally: &Tally,
    as_json: bool,
    out: &mut dyn Write,
) -> Result<serde_json::Value, Failure> {
    let Tally { schedules, messages, failures, bounds } = tally;
    if !as_json {
        let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
        writeln!(
            out,
            "{:<21} {:<30} {schedules:>8} schedules {messages:>10} messages  {} bounds reached  {verdict}",
            algorithm.collective,
            algorithm.name,
            bounds.values().filter(|&&reached| reached).count()
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
        "bounds": bounds.keys().collect::<Vec<_>>(),
        "violations": failures,
    }))
}

/// Whether every rank has something for every other one.
fn is_heavy(collective: Collective) -> bool {
    collective.meaning().blocks == Blocks::Pairs
}

fn check(algorithm: &Algorithm, extent: Extent, size: usize) -> Tally {
    let mut tally = Tally::default();
    for (call, parameters) in calls(algorithm, extent, size) {
        if algorithm.accepts(&call, &parameters).is_err() {
            continue;
        }
        let report = verify(algorithm, &call, &parameters);
        tally.schedules += size;
        tally.messages += report.cost.messages;
        let stated = (algorithm.formula)(&algorithm.shape(&call, &parameters)).at_most;
        for figure in Figure::ALL.into_iter().filter(|&figure| report.whole && stated.contains(figure)) {
            let compared = report.figures.iter().filter(|compared| compared.figure == figure.name());
            for compared in compared.filter(|compared| compared.stated > 0.0) {
                *tally.bounds.entry(compared.figure).or_default() |= compared.is_reached();
            }
        }
        tally.failures.extend(report.violations.iter().map(|v| format!("{call:?} {parameters:?}: {v}")));
    }
    tally
}

/// What is tried of an algorithm on so many ranks (and taken if the algorithm accepts it).
fn calls(algorithm: &Algorithm, extent: Extent, size: usize) -> Vec<(Call, Parameters)> {
    let collective = algorithm.collective;
    let mut few = vec![0, 1, size / 2, size - 1];
    few.retain(|&root| root < size);
    let roots = match (collective.has_root(), size <= extent.every) {
        (false, _) => vec![0],
        (true, true) => (0..size).collect(),
        (true, false) => few.clone(),
    };
    let mut all = Vec::new();
    for root in roots {
        let is_usual = few.contains(&root);
        let is_end = root == 0 || root == size - 1;
        for count in counts(collective, extent, size, is_usual) {
            let mut forms = forms(collective, size, count, root);
            if size >= HEAVY && collective.permutes() {
                // The last one is the reversal, the longest way for every vector.
                forms.drain(..forms.len() - 1);
            }
            for call in forms {
                let choices = parameters(algorithm, extent, size, count, is_end);
                all.extend(choices.into_iter().map(|parameters| (call.clone(), parameters)));
            }
        }
        // A faulty link at the root, and one elsewhere.
        for link in [(root, root ^ 1), (root ^ 3, root ^ 7)].into_iter().filter(|_| is_end && size <= 32) {
            let Ok(avoid) = Avoided::new(size, &[link]) else { continue };
            for mut call in forms(collective, size, 7, root) {
                call.avoid = Some(avoid.clone());
                let choices = parameters(algorithm, extent, size, 7, false);
                all.extend(choices.into_iter().map(|parameters| (call.clone(), parameters)));
            }
        }
    }
    all
}

/// Whole cubes are tried with a count that nothing divides unevenly as well, so that all formulas are exact.
fn counts(collective: Collective, extent: Extent, size: usize, is_usual: bool) -> Vec<usize> {
    let mut counts = match size {
        _ if size <= 33 && is_usual && (size <= 16 || size.is_power_of_two()) => vec![0, 1, 3, 7, 60],
        _ if size <= extent.every && is_usual => vec![3, 7],
        _ if size <= extent.every => vec![7],
        _ if is_heavy(collective) && size >= HEAVY => vec![],
        _ => vec![7],
    };
    if size.is_power_of_two() {
        counts.push(even_count(collective, dimension_for(size)));
    }
    counts
}

/// A count that an algorithm of the collective cuts evenly: mostly a multiple of 2^n and of all numbers up to n; for matrices a side,
/// up to n = 8.
fn even_count(collective: Collective, n: u32) -> usize {
    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 {
            a
        } else {
            gcd(b, a % b)
        }
    }
    let packets = 4 * n.max(1) as usize;
    let divided = (1..=n as usize).fold(24, |all, k| all / gcd(all, k) * k);
    let meaning = collective.meaning();
    match meaning.blocks {
        Blocks::Product => 3 << 6,
        // n trees of whole packets; vectors that are no longer, as formulas hold where memory is not used again.
        Blocks::Parts if meaning.root => 3 * packets * n.max(1) as usize,
        Blocks::Ends { .. } => divided * packets / 2,
        // Whole packets too: 4 n of them, and 24 for inversions.
        _ => (divided << n) / gcd(divided << n, packets) * packets,
    }
}

/// The parameters: orders and trees besides the usual ones with the first and the last root only, and both at once with
/// few counts and packets.
fn parameters(algorithm: &Algorithm, extent: Extent, size: usize, count: usize, is_end: bool) -> Vec<Parameters> {
    let mut packets = vec![None];
    if !algorithm.packets.is_empty() {
        match count {
            0..=12 if size <= extent.every => packets.extend([Some(1), Some(4)]),
            0..=100 => packets.push(Some(4)),
            _ => packets.push(Some(count / packets_of_a_vector(algorithm.collective, size))),
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

/// So many packets that each of n trees has several, or each round of an inversion's subcubes the same; of the blocks of a scatter,
/// of which there are many, fewer. The count is a multiple of them.
fn packets_of_a_vector(collective: Collective, size: usize) -> usize {
    let meaning = collective.meaning();
    match meaning.blocks {
        Blocks::Ranks if meaning.root => 4,
        Blocks::Ranks if matches!(meaning.permutation, Some(Permutation::Grid { .. })) => 24,
        _ => 4 * dimension_for(size).max(1) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hypercoll::algorithm::registry;

    #[test]
    fn even_counts_divide() {
        let counts = [0, 1, 2, 3, 4, 8].map(|n| even_count(Collective::Scatter, n));
        for (n, count) in [0usize, 1, 2, 3, 4, 8].into_iter().zip(counts) {
            let divisors = (1..=n).chain([24, 4 * n.max(1), 1 << n]);
            assert!(divisors.into_iter().all(|divisor| count.is_multiple_of(divisor)), "{count} for n = {n}");
        }
    }

    #[test]
    fn all_roots_orders_and_variants_are_among_the_calls() {
        let scatter = registry::find(Collective::Scatter, "sbnt").expect("sbnt");
        let all = calls(scatter, Extent::FULL, 16);
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
