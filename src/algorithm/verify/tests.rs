//! All algorithms, with all that can be asked of them, on small sizes.

use super::super::registry::ALGORITHMS;
use super::super::Shape;
use super::*;
use crate::address::{Hosts, Torus};
use crate::algorithm::{Latency, Lengths, OnTorus};
use crate::collective::{Collective, Known, Layout};
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
            [false, true].map(|symmetrized| Parameters {
                packet,
                symmetrized,
                order,
                variant,
                ..Parameters::new(ports)
            })
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
    try_all([1, 2, 4, 8, 16].into_iter(), &[60, 96]);
    try_all(std::iter::once(32), &[160]);
}

/// Lengths of blocks, evenly random, heavy-tailed, and one long block among short ones; with some of 0.
fn lengths(size: usize) -> [Vec<usize>; 3] {
    let of = |length: &dyn Fn(usize) -> usize| (0..size).map(length).collect();
    [
        of(&|rank| (7 * rank + 3) % 5),
        of(&|rank| 9 / (1 + (5 * rank + 2) % size)),
        of(&|rank| 40 * usize::from(rank == 1) + rank % 2),
    ]
}

/// With no more than what its row says that it must know of the lengths of blocks, a rank makes the schedule that it makes with all: so
/// what is proven of calls with all lengths is proven of those.
#[test]
fn a_rank_need_not_know_more_lengths_than_the_row_says() {
    let (mut passing, mut own) = (0, 0);
    for size in [2, 3, 4, 5, 7, 8, 13, 16] {
        let algorithms = ALGORITHMS.iter().filter(|a| matches!(a.collective, Collective::Scatter | Collective::Gather));
        for (algorithm, root) in algorithms.flat_map(|algorithm| (0..size.min(3)).map(move |root| (algorithm, root))) {
            let call = Call::new(algorithm.collective, size, 0).with_root(root);
            for (parameters, lengths) in parameters(algorithm).flat_map(|p| lengths(size).map(|lengths| (p, lengths))) {
                let all = call.clone().with_layout(Layout::of_vectors(lengths.clone()));
                let needs = algorithm.needs(&call, &parameters);
                if algorithm.accepts(&all, &parameters).is_err() || needs == Lengths::All {
                    continue;
                }
                for rank in 0..size {
                    let (known, blocks) = match needs {
                        _ if rank == root => (Known::Own, (0..size).collect()),
                        Lengths::Own => (Known::Own, vec![rank]),
                        _ => {
                            let (sum, longest) = (lengths.iter().sum(), lengths.iter().copied().max().unwrap());
                            (Known::Passing { sum, longest }, algorithm.passing(&call, &parameters, rank))
                        }
                    };
                    passing += usize::from(needs == Lengths::Passing && blocks.len() < size);
                    own += usize::from(needs == Lengths::Own);
                    let some = Layout::of_some(size, known, blocks.into_iter().map(|block| (block, lengths[block])));
                    let some = call.clone().with_layout(some);
                    let [some, all] = [&some, &all].map(|call| algorithm.schedule(call, &parameters, rank));
                    assert_eq!(some, all, "{algorithm:?} {parameters:?}, root {root}, rank {rank}: {lengths:?}");
                }
            }
        }
    }
    assert!(passing > 1000 && own > 1000);
}

/// The same of an all-to-all, of which a rank knows what it sends and receives.
#[test]
fn a_rank_of_an_all_to_all_need_not_know_other_rows() {
    let (mut tried, mut packets) = (0, 0);
    for size in [1, 2, 3, 5, 8, 13] {
        let length = |from: usize, to: usize| (3 * from + 5 * to) % 7;
        let all = Call::new(Collective::AllToAll, size, 0).with_layout(Layout::of_pairs(size, length));
        for algorithm in ALGORITHMS.iter().filter(|a| a.collective == Collective::AllToAll && a.lengths == Lengths::Own)
        {
            for parameters in parameters(algorithm).filter(|p| algorithm.needs(&all, p) == Lengths::Own) {
                if algorithm.accepts(&all, &parameters).is_err() {
                    continue;
                }
                for rank in 0..size {
                    let [sends, receives]: [Vec<usize>; 2] = [
                        (0..size).map(|to| length(rank, to)).collect(),
                        (0..size).map(|from| length(from, rank)).collect(),
                    ];
                    let row = all.clone().with_layout(Layout::of_row(rank, &sends, &receives));
                    assert!(algorithm.accepts(&row, &parameters).is_ok());
                    let [row, all] = [&row, &all].map(|call| algorithm.schedule(call, &parameters, rank));
                    assert_eq!(row, all, "{algorithm:?} {parameters:?}, rank {rank} of {size}");
                    tried += 1;
                    packets += usize::from(parameters.packet.is_some());
                }
            }
        }
    }
    assert!(packets > 50 && tried > packets);
}

/// One rank alone has a block: where the row says that all links share it, none carries more than an n-th, whoever has it; elsewhere some
/// link carries more than that, for some rank.
#[test]
fn all_links_share_a_long_block_where_the_row_says_so() {
    use Collective::{AllGather, Gather, ReduceScatter, Scatter};
    const N: u32 = 3;
    const LONG: usize = 60;
    let algorithms = ALGORITHMS.iter().filter(|a| [Scatter, Gather, AllGather, ReduceScatter].contains(&a.collective));
    let mut shared = 0;
    for algorithm in algorithms.filter(|a| a.cube_edges && a.ports.contains(&PortModel::AllPorts)) {
        let parameters = Parameters { symmetrized: algorithm.symmetrizes, ..Parameters::new(PortModel::AllPorts) };
        let largest = (1..1usize << N).map(|rank| {
            let lengths = (0..1 << N).map(|other| if other == rank { LONG } else { 0 });
            let call = Call::new(algorithm.collective, 1 << N, 0).with_layout(Layout::of_vectors(lengths));
            verify(algorithm, &call, &parameters).cost.max_link_load
        });
        assert_eq!(largest.max() == Some(LONG / N as usize), algorithm.shares, "{algorithm:?}");
        shared += usize::from(algorithm.shares);
    }
    assert_eq!(shared, 4);
}

/// Trees for many latencies, and on tori of many shapes, with one rank on each host and with several, from every root.
#[test]
fn trees_are_sound_for_every_latency() {
    let tori = ["2", "5", "8", "3x2", "2x3", "4x4", "1x5", "3x3x2", "2x2x2x2", "5x3", "7x2"];
    let tori = tori.map(|sides| sides.parse::<Torus>().expect("a torus"));
    let algorithms = || ALGORITHMS.iter().filter(|algorithm| algorithm.way.is_some());
    assert!(algorithms().count() > 3);
    for (torus, ranks) in tori.into_iter().flat_map(|torus| [1, 3].map(|ranks| (torus, ranks))) {
        let hosts = Hosts::with_ranks(&vec![ranks; torus.hosts()], false);
        let size = ranks * torus.hosts();
        for (far, near, link) in [(1, 1, 0), (1, 2, 1), (2, 4, 2), (3, 1, 1), (5, 3, 3), (9, 9, 0)] {
            for on in [None, Some(OnTorus { torus, link })] {
                let parameters =
                    Parameters { latency: Latency { far, near, torus: on }, ..Parameters::new(PortModel::OnePort) };
                for algorithm in algorithms() {
                    for root in 0..if algorithm.collective.has_root() { size } else { 1 } {
                        let call = Call { hosts: hosts.clone(), ..Call::new(algorithm.collective, size, 4) };
                        let call = call.with_root(root);
                        algorithm.accepts(&call, &parameters).expect("served");
                        let report = verify(algorithm, &call, &parameters);
                        assert_eq!(report.violations, [], "{algorithm:?} {call:?} {parameters:?}");
                    }
                }
            }
        }
    }
}
