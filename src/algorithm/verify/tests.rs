//! All algorithms, with all that can be asked of them, on small sizes.

use super::super::registry::ALGORITHMS;
use super::super::Shape;
use super::*;
use crate::collective::Collective;
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
                    let parameters = Parameters { packet, symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
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
