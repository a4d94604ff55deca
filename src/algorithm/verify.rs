//! Checks an algorithm as a whole: the schedules of all ranks, the port model and the paper's formula.

use super::{Algorithm, Parameters};
use crate::collective::{Call, Collective, Layout, MatrixProduct};
use crate::executor::simulator::{simulate, Machine};
use crate::schedule::{check, legal, Report, Schedule, Violation};

/// Builds the schedules of all ranks.
pub fn schedules(algorithm: &Algorithm, call: &Call, parameters: &Parameters) -> Vec<Schedule> {
    (0..call.size).map(|rank| algorithm.schedule(call, parameters, rank)).collect()
}

/// The forms that a call of this shape can take: as it is; with several peers; for a permutation the identity, shifts, an
/// exchange of neighbours and the reversal; with blocks of unequal lengths; for matrices unequal sides and other grids; in
/// place; with an operation that does not commute.
pub fn forms(collective: Collective, size: usize, count: usize, root: usize) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut call = Call::new(collective, size, count).with_root(root);
    if collective.has_peer() {
        for peer in [root, (root + 1) % size, size / 2] {
            call.peer = peer;
            calls.push(call.clone());
        }
        call.peer = size - 1 - root;
    }
    if collective == Collective::Permute {
        for shift in [0, 1, size / 2] {
            call.permutation = Some((0..size).map(|i| (i + shift) % size).collect());
            calls.push(call.clone());
        }
        call.permutation = Some((0..size).map(|i| i ^ 1).collect());
        if size.is_multiple_of(2) {
            calls.push(call.clone());
        }
        call.permutation = Some((0..size).rev().collect());
    }
    if count > 0 && count < 5 {
        let layout = match collective {
            Collective::AllToAll | Collective::TransposeRows => {
                Some(Layout::of_pairs(size, |from, to| (3 * from + to) % (count + 1)))
            }
            _ if collective.permutes() => Some(Layout::of_vectors((0..size).map(|rank| rank % (count + 1)))),
            _ => None,
        };
        calls.extend(layout.map(|layout| call.clone().with_layout(layout)));
    }
    if collective == Collective::MatrixMultiply && size.is_power_of_two() {
        // Unequal sides, on all grids.
        for grid_rows in (0..=size.ilog2()).map(|n1| 1 << n1) {
            let sides = [(count, count + 2, count / 2), (3 * count, 2 * count, count), (count, 4 * count, 5 * count)];
            calls.extend(sides.map(|(rows, inner, columns)| {
                let product = MatrixProduct { rows, inner, columns, grid_rows, grid_columns: size / grid_rows };
                Call { matrices: Some(product), ..call.clone() }
            }));
        }
    }
    calls.push(call.clone());
    if collective.has_in_place() {
        calls.push(Call { in_place: true, ..call.clone() });
    }
    if collective.reduces() {
        calls.push(Call { ordered: true, ..call });
    }
    calls
}

/// Builds and checks the schedules of all ranks; on whole cubes also against the port model and, where nothing is rounded,
/// against the formula: rounds, the largest load of a link, and the elements that follow one another, are equal to it. Signals
/// are counted for every size.
pub fn verify(algorithm: &Algorithm, call: &Call, parameters: &Parameters) -> Report {
    let schedules = schedules(algorithm, call, parameters);
    let mut report = check(call, &schedules, algorithm.cube_edges);
    let signals = (algorithm.signals)(call.size) as f64;
    let counted = match call.collective {
        Collective::Barrier => true,
        _ => signals > 0.0 && call.count > 0 && parameters.packet.is_none(),
    };
    if counted && call.avoid.is_none() {
        compare(&mut report.violations, "signals", report.cost.messages as f64, signals);
    }
    if !call.size.is_power_of_two() {
        return report;
    }
    // Two ranks' messages meet on a link only as the port model allows; a direct algorithm counts ports, not links.
    report.violations.extend(legal(&schedules, parameters.ports));
    if call.layout.is_some() || call.avoid.is_some() {
        return report;
    }
    let cut = parameters.packet.is_some() && algorithm.cuts(parameters.ports);
    let shape = algorithm.shape(call, parameters);
    let formula = (algorithm.formula)(&shape);
    let mut compare = |what, found, expected| compare(&mut report.violations, what, found, expected);
    let moved = report.cost.elements as f64;
    // A permutation's fixed points need no message.
    if !call.collective.permutes() || moved > formula.moved {
        compare("elements moved", moved, formula.moved);
    }
    if (algorithm.exact)(&shape) {
        // Without rounds to wait for, the formula counts the start-ups that follow one another instead.
        if !algorithm.flows {
            compare("rounds", report.cost.rounds as f64, formula.rounds as f64);
        }
        // The papers charge every packet in full; the last one may be shorter.
        if call.count.is_multiple_of(shape.packet()) {
            compare("largest load of a link", report.cost.max_link_load as f64, formula.load);
            if !algorithm.flows {
                compare("elements", report.cost.longest_sum() as f64, formula.elements);
            } else if !cut {
                // Cut into packets, what was early whole waits behind packets of others.
                let machine = Machine::new(1.0, 1.0, parameters.ports);
                let time = simulate(&schedules, &machine).map_or(f64::INFINITY, |timeline| timeline.time);
                compare("time for tau = t_c = 1", time, formula.time(1.0, 1.0));
            }
        }
    } else if report.cost.rounds > formula.rounds && !algorithm.flows {
        compare("rounds at most", report.cost.rounds as f64, formula.rounds as f64);
    }
    report
}

/// A violation if what was found is not what the formula says.
fn compare(violations: &mut Vec<Violation>, what: &'static str, found: f64, expected: f64) {
    if (found - expected).abs() > 1e-6 * expected.abs() {
        violations.push(Violation::Formula { what, found: found.to_string(), expected: expected.to_string() });
    }
}

#[cfg(test)]
mod tests {
    use super::super::registry::ALGORITHMS;
    use super::super::Shape;
    use super::*;
    use crate::schedule::{Avoided, PortModel};
    use crate::topology::sbnt::Variant;

    /// Every call shape that an algorithm is to be tried with.
    fn calls(collective: Collective, size: usize, count: usize) -> Vec<Call> {
        let roots: Vec<usize> = if !collective.has_root() {
            vec![0]
        } else if size <= 8 {
            (0..size).collect()
        } else {
            vec![0, 1, size / 2, size - 1]
        };
        roots.into_iter().flat_map(|root| forms(collective, size, count, root)).collect()
    }

    /// Port models, symmetrised or not, packets, orders and variants, accepted or not.
    fn parameters(algorithm: &'static Algorithm) -> impl Iterator<Item = Parameters> {
        let orders = std::iter::once(None).chain(algorithm.orders.iter().copied().map(Some));
        let variants = if algorithm.variants { &Variant::ALL[..] } else { &Variant::ALL[..1] };
        let choices = orders.flat_map(move |order| variants.iter().map(move |&variant| (order, variant)));
        let packets = |choice| [None, Some(1), Some(4)].map(|packet| (choice, packet));
        choices.flat_map(packets).flat_map(|((order, variant), packet)| {
            PortModel::ALL.into_iter().flat_map(move |ports| {
                [false, true].map(|symmetrized| Parameters { packet, ports, symmetrized, order, variant })
            })
        })
    }

    fn try_all(sizes: impl Iterator<Item = usize>, counts: &[usize]) {
        let mut tried = 0;
        for size in sizes {
            for algorithm in ALGORITHMS {
                for &count in counts {
                    for call in calls(algorithm.collective, size, count) {
                        for parameters in parameters(algorithm) {
                            // What cutting does shows with few packets already.
                            let cut = parameters.packet.filter(|_| algorithm.cuts(parameters.ports));
                            if cut.is_some_and(|packet| packet == 1 || count > 12)
                                || algorithm.accepts(&call, &parameters).is_err()
                            {
                                continue;
                            }
                            let report = verify(algorithm, &call, &parameters);
                            tried += 1;
                            assert!(
                                report.violations.is_empty(),
                                "{algorithm:?} {call:?} {parameters:?}: {:#?}",
                                &report.violations[..report.violations.len().min(5)]
                            );
                        }
                    }
                }
            }
        }
        assert!(tried > 0);
    }

    /// Whole messages that cost one unit each and do not share ports take as long as the longest chain of them (as long as
    /// they all fit in the window).
    #[test]
    fn hops_are_the_longest_chain() {
        use crate::executor::simulator::{simulate, Machine};
        for algorithm in ALGORITHMS {
            for n in 0..=4u32 {
                for symmetrized in [false, true] {
                    // (Matrices with sides of 960 fill so much memory that some is used again, and waited for.)
                    let count = if algorithm.collective == Collective::MatrixMultiply { 96 } else { 960 };
                    let mut call = Call::new(algorithm.collective, 1 << n, count);
                    call.permutation = Some((0..1 << n).rev().collect());
                    let one_port = !symmetrized && algorithm.ports.contains(&PortModel::OnePort);
                    let ports = if one_port { PortModel::OnePort } else { PortModel::AllPorts };
                    let parameters = Parameters { symmetrized, ..Parameters::new(ports) };
                    if algorithm.accepts(&call, &parameters).is_err() {
                        continue;
                    }
                    let machine = Machine::new(1.0, 0.0, PortModel::AllPorts);
                    let chain = simulate(&schedules(algorithm, &call, &parameters), &machine).unwrap().time;
                    let hops = (algorithm.formula)(&Shape::new(&call, &parameters)).hops;
                    assert_eq!(chain, hops as f64, "{algorithm:?} n = {n} {parameters:?}");
                }
            }
        }
    }

    /// The links of a cube of `size` ranks, one at a time, and the pairs of them, as far as they can be avoided.
    fn avoidable(size: usize, pairs: bool) -> Vec<Avoided> {
        let edges = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
        let edges: Vec<_> = edges.filter(|&edge| Avoided::new(size, &[edge]).is_ok()).collect();
        let mut sets: Vec<Vec<(usize, usize)>> = edges.iter().map(|&edge| vec![edge]).collect();
        if pairs {
            sets.extend(edges.iter().enumerate().flat_map(|(i, &a)| edges[..i].iter().map(move |&b| vec![b, a])));
        }
        sets.iter().filter_map(|links| Avoided::new(size, links).ok()).collect()
    }

    /// Builds and checks one call of an algorithm, plain or in order, with links to be avoided.
    fn try_avoided(algorithm: &Algorithm, call: &Call, ports: &[PortModel]) {
        for &ports in ports {
            let usual = Parameters::new(ports);
            let parameters = Parameters { symmetrized: algorithm.symmetrizes && usual.symmetrized, ..usual };
            for ordered in [false, call.collective.reduces()] {
                let call = Call { ordered, ..call.clone() };
                if algorithm.accepts(&call, &parameters).is_ok() {
                    let report = verify(algorithm, &call, &parameters);
                    assert_eq!(report.violations, [], "{algorithm:?} {call:?} {parameters:?}");
                }
            }
        }
    }

    /// Every single faulty link on up to 9 ranks, from every root, and every pair on 4 and 8: whatever the algorithm, the
    /// links carry nothing and all else holds.
    #[test]
    fn avoided_links_carry_nothing() {
        for size in 3..=9usize {
            for avoid in avoidable(size, size == 4 || size == 8) {
                let roots = if avoid.links().count() == 1 { size } else { 1 };
                for algorithm in ALGORITHMS {
                    for root in 0..if algorithm.collective.has_root() { roots } else { 1 } {
                        let call = Call { avoid: Some(avoid.clone()), ..Call::new(algorithm.collective, size, 4) };
                        try_avoided(algorithm, &call.with_root(root), &PortModel::ALL);
                    }
                }
            }
        }
    }

    /// The same for every pair of links on 16 and 32 ranks: for each pair a few of the algorithms and one port model, all of
    /// them in turn.
    #[test]
    fn avoided_pairs_on_larger_cubes() {
        let mut turn = PortModel::ALL.iter().flat_map(|&ports| ALGORITHMS.iter().map(move |a| (a, ports))).cycle();
        for (size, a_pair) in [(16, 12), (32, 2)] {
            for avoid in avoidable(size, true) {
                for (algorithm, ports) in turn.by_ref().take(a_pair) {
                    let call = Call { avoid: Some(avoid.clone()), ..Call::new(algorithm.collective, size, 2) };
                    try_avoided(algorithm, &call, &[ports]);
                }
            }
        }
    }

    /// A broadcast by the MSBT has trees left, and a scatter by the SBnT has another tree, unless the link is at its root: no
    /// element goes a way round.
    #[test]
    fn single_links_need_no_way_round() {
        for n in 2..=5u32 {
            let size = 1 << n;
            for avoid in avoidable(size, false) {
                for (collective, name) in [(Collective::Broadcast, "msbt"), (Collective::Scatter, "sbnt")] {
                    let algorithm = crate::algorithm::registry::find(collective, name).unwrap();
                    let call = Call { avoid: Some(avoid.clone()), ..Call::new(collective, size, 60) };
                    for packet in [None, Some(4)] {
                        let parameters =
                            Parameters { packet, symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
                        let moved = verify(algorithm, &call, &parameters).cost.elements as f64;
                        let formula = (algorithm.formula)(&Shape::new(&call, &parameters)).moved;
                        let at_root = avoid.links().any(|(a, _)| a == 0);
                        let free = if name == "msbt" { n > 2 || at_root } else { !at_root };
                        assert!(moved == formula || !free, "{algorithm:?} {call:?}: {moved} for {formula}");
                        assert!(moved > formula || free, "{algorithm:?} {call:?}: the check fails where it must");
                    }
                }
            }
        }
    }

    #[test]
    fn all_algorithms_on_small_sizes() {
        try_all(1..=9, &[0, 1, 3, 12]);
    }

    #[test]
    fn all_algorithms_on_larger_sizes() {
        try_all([13, 16, 21, 32].into_iter(), &[5]);
    }

    /// Counts that divide evenly for n <= 5, so that the formulas are compared.
    #[test]
    fn formulas_hold_where_nothing_is_rounded() {
        try_all([1, 2, 4, 8, 16, 32].into_iter(), &[60, 96]);
    }
}
