//! The sends against the paper's statements and against definitions written anew.

use super::{arbitrary_send_2, arbitrary_send_3, k_sum, oc_send_4, spread_unit, xoc_send_2};
use crate::algorithm::registry::ALGORITHMS;
use crate::algorithm::verify::{schedules, verify};
use crate::algorithm::{Algorithm, Figure, Parameters, PortModel, Shape};
use crate::collective::{Call, Collective};
use crate::executor::simulator::{simulate, Machine};
use crate::schedule::Kind;
use crate::topology::{msbt::Ersbt, Tree};
use std::collections::{BTreeMap, BTreeSet};

fn call(collective: Collective, n: u32, count: usize, root: usize, peer: usize) -> Call {
    Call { root, peer, ..Call::new(collective, 1 << n, count) }
}

fn all_ports(packet: Option<usize>) -> Parameters {
    Parameters { packet, symmetrized: false, ..Parameters::new(PortModel::AllPorts) }
}

/// The simulated time on all ports, without barriers between rounds.
fn simulated(algorithm: &Algorithm, call: &Call, parameters: &Parameters, tau: f64, t_c: f64) -> f64 {
    let machine = Machine::new(tau, t_c, PortModel::AllPorts);
    simulate(&schedules(algorithm, call, parameters), &machine).unwrap().time
}

/// Every row, for every distance, with and without groups, with counts and packets for which the formulas are exact: the common
/// tests have few such.
#[test]
fn formulas_hold_for_every_distance() {
    let mut exact = BTreeSet::new();
    for n in 1..=6u32 {
        let count = 2 * n as usize * spread_unit(n);
        for algorithm in ALGORITHMS.iter().filter(|a| a.collective.has_peer()) {
            for d in 0..=n {
                let root = 0b011001 & ((1 << n) - 1);
                let call = call(algorithm.collective, n, count, root, root ^ (((1 << d) - 1) << (n - d)));
                for ports in PortModel::ALL {
                    for packet in [None, Some(count), Some(count / 2 / n as usize), Some(count / 2), Some(count / 4)] {
                        let parameters = Parameters { packet, symmetrized: false, ..Parameters::new(ports) };
                        if algorithm.accepts(&call, &parameters).is_err() {
                            continue;
                        }
                        let report = verify(algorithm, &call, &parameters);
                        assert_eq!(report.violations, [], "{algorithm:?} n = {n} d = {d} {parameters:?}");
                        let formula = (algorithm.formula)(&Shape::new(&call, &parameters));
                        if [Figure::Rounds, Figure::Elements].iter().all(|&figure| !formula.at_most.contains(figure)) {
                            exact.insert((algorithm.collective, algorithm.name, d, packet.is_some()));
                        }
                    }
                }
            }
        }
    }
    for algorithm in ALGORITHMS.iter().filter(|a| a.collective.has_peer()) {
        for d in 0..=5u32 {
            for packets in [false, true] {
                let taken = !packets || !algorithm.packets.is_empty();
                let case = (algorithm.collective, algorithm.name, d, packets);
                assert!(!taken || exact.contains(&case), "never exact: {case:?}");
            }
        }
    }
}

/// Which links a send uses, each with the positions that it carries.
fn carried(algorithm: &Algorithm, call: &Call, parameters: &Parameters) -> BTreeMap<(usize, usize), usize> {
    let mut links = BTreeMap::new();
    for schedule in schedules(algorithm, call, parameters) {
        for operation in schedule.operations() {
            if let Kind::Send { peer } = operation.kind {
                *links.entry((schedule.rank, peer)).or_default() += schedule.len(operation);
            }
        }
    }
    links
}

/// ARBITRARY SEND 2 is what is left of the broadcast if only the paths to the receiver are kept: those of the MSBT's trees.
#[test]
fn the_second_arbitrary_send_runs_along_the_broadcast_s_trees() {
    for n in 2..=6u32 {
        for root in [0, 1, (1 << n) - 1] {
            for c in 1..1usize << n {
                if c.count_ones() + 1 == n {
                    continue; // the second wave
                }
                let call = call(Collective::Send, n, n as usize, root, root ^ c);
                let mut expected = BTreeMap::new();
                for tree in (0..n).map(|i| Ersbt::new(n, i)) {
                    let mut at = c;
                    while let Some(parent) = tree.parent(at) {
                        *expected.entry((parent ^ root, at ^ root)).or_default() += 1;
                        at = parent;
                    }
                }
                assert_eq!(
                    carried(&arbitrary_send_2::ALGORITHM, &call, &all_ports(None)),
                    expected,
                    "{n} {root} {c:b}"
                );
                assert!(expected.values().all(|&slices| slices == 1));
            }
        }
    }
}

/// ARBITRARY SEND 3: within the subcube of the two nodes only the O.C. SEND sends, in each parallel subcube one X.O.C. SEND, and
/// between them only the corners' links are used, each by one slice.
#[test]
fn the_parts_of_the_third_arbitrary_send_share_no_link() {
    for n in 2..=5u32 {
        let slice = 60;
        for root in [0, 3, (1 << n) - 1] {
            for c in 1..1usize << n {
                let peer = root ^ c;
                let d = c.count_ones() as usize;
                let call = call(Collective::Send, n, n as usize * slice, root, peer);
                let mut inside = 0;
                for ((from, to), load) in carried(&arbitrary_send_3::ALGORITHM, &call, &all_ports(None)) {
                    let (outside_from, outside_to) = ((from ^ root) & !c, (to ^ root) & !c);
                    if outside_from != outside_to {
                        assert!(from == root || to == peer, "{from} to {to} crosses into or out of a subcube");
                        assert_eq!(load, slice);
                    } else {
                        assert!(outside_from.count_ones() <= 1);
                        inside += load;
                    }
                }
                assert_eq!(inside, d * slice * d + (n as usize - d) * slice * d);
            }
        }
    }
}

/// Both directions at once: no link carries data of both vectors, so the exchange is as fast as the send.
#[test]
fn an_exchange_takes_the_time_of_a_send() {
    let rows = |collective| ALGORITHMS.iter().filter(move |a| a.collective == collective);
    for (send, exchange) in rows(Collective::Send).zip(rows(Collective::Exchange)) {
        assert_eq!(send.source, exchange.source);
        for d in 1..=4usize {
            let (one, both) =
                [Collective::Send, Collective::Exchange].map(|c| call(c, 5, 600, 6, 6 ^ ((1 << d) - 1))).into();
            let parameters = all_ports(send.packets.first().map(|_| 60));
            let loads = carried(exchange, &both, &parameters);
            for (link, load) in carried(send, &one, &parameters) {
                assert_eq!(loads[&link], load);
            }
            let times = [(send, &one), (exchange, &both)].map(|(a, call)| simulated(a, call, &parameters, 7.0, 1.0));
            assert_eq!(times[0], times[1], "{send:?}, d = {d}");
        }
    }
}

/// The case for which the row's formula is no more than a bound: for 5 <= d < n either part may be the longer one, the direct one
/// (K_(d-1) - 1 > 1 + K_(d-1)/d) as long as start-ups are cheap.
#[test]
fn far_arbitrary_sends_take_the_longer_of_both_parts() {
    for (n, d) in [(6u32, 5u32), (7, 5), (7, 6)] {
        for groups in [1usize, 2, 5] {
            let count = n as usize * groups * 60;
            let call = call(Collective::Send, n, count, 0, (1 << d) - 1);
            for tau in [0.0, 1.0, 50.0, 1000.0] {
                let found = simulated(&arbitrary_send_3::ALGORITHM, &call, &all_ports(Some(60)), tau, 1.0);
                let k: f64 = [8.0 / 3.0, 13.0 / 5.0][d as usize - 5];
                let (g, packet) = (groups as f64, 60.0);
                let (d, direct) = (f64::from(d), (g + k - 1.0) * packet + (g + f64::from(d) - 1.0) * tau);
                let beside = (g * d + d + k) / d * packet + (g + d + 1.0) * tau;
                assert!((found - direct.max(beside)).abs() < 1e-9, "n = {n} d = {d} g = {g} tau = {tau}: {found}");
                assert_eq!(direct > beside, tau <= 1.0, "n = {n} d = {d} g = {g} tau = {tau}");
            }
        }
    }
}

/// The paper's best times, for long vectors and a start-up that makes the best number of groups a whole one.
#[test]
fn the_best_packets_take_the_paper_s_times() {
    let (n, t_c) = (5u32, 1.0);
    for d in 1..=n {
        let (count, k) = (5 * 4 * 3 * 2 * 60 * 7, k_sum(d - 1));
        let (m, dd, nn) = (count as f64, f64::from(d), f64::from(n));
        let call = call(Collective::Send, n, count, 0, (1 << d) - 1);
        // The time t M t_c + 2 sqrt(a M t_c tau) + b tau, by sections 3 and 4, of the vector's part that decides.
        let opposite = (oc_send_4::ALGORITHM, 1.0 / dd, (k - 1.0) / dd, dd - 1.0);
        let beside = (xoc_send_2::ALGORITHM, 1.0, (dd + k) / dd, dd + 1.0);
        let waves = (arbitrary_send_2::ALGORITHM, 1.0 / nn, (dd.min(nn - 2.0) + 1.0) / nn, dd.min(nn - 2.0) + 1.0);
        let last = if d < n { ((dd + k) / (dd * nn), dd + 1.0) } else { ((k - 1.0) / nn, nn - 1.0) };
        let all = (arbitrary_send_3::ALGORITHM, 1.0 / nn, last.0, last.1);
        for (algorithm, rate, filling, stages) in [opposite, beside, waves, all] {
            if algorithm.accepts(&call, &all_ports(None)).is_err() || filling == 0.0 {
                continue;
            }
            // g = sqrt(filling M t_c / tau) is to be 7.
            let tau = filling * m * t_c / 49.0;
            let packet = (algorithm.best_packet)(&Shape::new(&call, &all_ports(None)), tau, t_c);
            assert!((packet - packet.round()).abs() < 1e-6, "{algorithm:?} d = {d}: {packet}");
            let best = rate * m * t_c + 2.0 * (filling * m * t_c * tau).sqrt() + stages * tau;
            let time = |packet: f64| simulated(&algorithm, &call, &all_ports(Some(packet as usize)), tau, t_c);
            let found = time(packet.round());
            assert!((found - best).abs() < 1e-6 * best, "{algorithm:?} d = {d}: {found} for {best}");
            assert!(time(packet * 0.8) > found && time(packet * 1.25) > found);
        }
    }
}

/// The paper's values; its upper bound on K_d is an equality for d = 5, 6, 7 (and no more for 8).
#[test]
fn k_is_the_paper_s() {
    let expected = [1.0, 2.0, 2.5, 8.0 / 3.0, 8.0 / 3.0, 13.0 / 5.0];
    for (d, expected) in (0..).zip(expected) {
        assert!((k_sum(d) - expected).abs() < 1e-12, "K_{d}");
    }
    let bound = |d: f64| 2.0 + 2.0 / d + 4.0 / (d * (d - 1.0)) + 6.0 * (d - 5.0) / (d * (d - 1.0) * (d - 2.0));
    for d in 5..20 {
        let bound = bound(f64::from(d));
        assert_eq!(d < 8, (k_sum(d) - bound).abs() < 1e-12, "K_{d}");
        assert!(k_sum(d) < bound + 1e-12 && k_sum(d) >= 2.0 + 2.0 / f64::from(d));
    }
}

#[test]
fn units_are_what_the_binomials_divide() {
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(spread_unit), [1, 1, 2, 6, 12, 60, 60, 420, 840]);
    let binomial = |n: usize, k: usize| (0..k).fold(1, |product, i| product * (n - i) / (i + 1));
    for d in 1..=30usize {
        for k in 0..d {
            assert!(spread_unit(d as u32).is_multiple_of(d * binomial(d - 1, k)));
        }
    }
}

/// Packets of B have B elements at most; the rounding of a spread group may add a few, fewer than one a dimension more.
#[test]
fn packets_are_as_short_as_asked_for() {
    for algorithm in ALGORITHMS.iter().filter(|a| a.collective.has_peer() && !a.packets.is_empty()) {
        for (n, d) in [(1, 1), (2, 1), (3, 3), (5, 2), (5, 4), (6, 5), (6, 6), (7, 5)] {
            for (count, packet) in [(1, 1), (2, 1), (57, 1), (1000, 7), (1000, 64), (1000, 999), (1000, 5000)] {
                let call = call(algorithm.collective, n, count, 1, 1 ^ ((1 << d) - 1));
                let parameters = all_ports(Some(packet));
                if algorithm.accepts(&call, &parameters).is_err() {
                    continue;
                }
                let slack = if algorithm.flows { d as usize } else { 0 };
                for schedule in schedules(algorithm, &call, &parameters) {
                    for operation in schedule.operations() {
                        let len = schedule.len(operation);
                        assert!(len <= packet + slack, "{algorithm:?} n = {n} d = {d} {count} {packet}: {len}");
                    }
                }
            }
        }
    }
}
