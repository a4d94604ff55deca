//! All-gather in lanes: by doubling among hosts, then by shifts within each.
//!
//! Algorithm: the l-th ranks of all hosts are lane l. Before step k a rank holds the blocks of its lane on the 2^k hosts from its own on; it
//! sends them to the host 2^k places before it, and receives as many from the one 2^k places behind it, in the last step only what is
//! missing. Then it sends what its lane has brought to the other ranks of its host. Where hosts have fewer ranks than others, those have several
//! lanes, one after the other.
//!
//! Reference: Traeff and Hunold 2020, "Decomposing MPI collectives for exploiting multi-lane communication"; among hosts as in
//! [`bruck`]. H hosts of R ranks, P = H R.
//!
//! Requirements: a network where every two ranks are linked.
//!
//! Cost: (P - 1) m t_c + (ceil(log2 H) + R - 1) tau, of which (P - R) m go into and out of each host.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: that of `bruck`, for each lane; after its last step a rank holds all blocks of its lanes, and the ranks of a host
//! have all lanes.
//!
//! Example, 4 ranks, 2 on each of 2 hosts, rank 0: 0 to 2, 2 from 2; 0 2 to 1, 1 3 from 1.

use super::{bruck, shift};
use crate::algorithm::by_hosts::{give, waves};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    name: "lanes",
    summary: "rather short blocks, hosts with several ranks: few start-ups, each block enters every host once",
    source: "TH20 multi-lane",
    differs: "among hosts by doubling; with one rank a host, `bruck`",
    cost: "(P - 1) m t_c + (ceil(log2 H) + R - 1) tau, (P - R) m of it between hosts of R ranks",
    formula,
    far: Some(|shape| (between(shape), bruck::hops(shape.hosts))),
    all_lead: true,
    shared_port: SHARED_PORT,
    // With one rank a host it is `bruck`.
    among_hosts: |hosts, ranks| ranks.0 == 1 || are_a_cube(hosts, ranks),
    form: Form::Forward(write),
    ..shift::ALGORITHM
};

/// Of what the shifts of `shift` need, all-gathers of blocks of 32 KiB on hosts of 2 and 3 ranks took 1.05 to 1.1 times as much, in packets of 4 KiB.
const SHARED_PORT: f64 = 1.05;

/// Whether hosts are a cube with their ranks, along whose edges everything goes in fewer messages.
pub fn are_a_cube(hosts: usize, (most, fewest): (usize, usize)) -> bool {
    hosts.is_power_of_two() && most.is_power_of_two() && most == fewest
}

/// Messages between hosts that a rank sends one after the other.
pub fn between(shape: &Shape) -> usize {
    let (most, fewest) = shape.on_host;
    bruck::steps(shape.hosts).count() * waves(most, fewest)
}

pub fn formula(shape: &Shape) -> Formula {
    let Shape { size, count, hosts, on_host: (most, fewest), .. } = *shape;
    if size == 1 || count == 0 {
        return Formula::NOTHING;
    }
    let lanes = waves(most, fewest);
    // In a later shift there are only the ranks of hosts that have so many.
    let shifts: usize = (1..most).map(|shift| waves(most, fewest.max(shift + 1))).sum();
    let elements = ((hosts - 1) * lanes + hosts * shifts) * count;
    let alone = most == 1;
    Formula {
        rounds: between(shape) + most - 1,
        elements: elements as f64,
        moved: (size * (size - 1) * count) as f64,
        load: (count * if alone { bruck::most_sent(hosts) } else { hosts * lanes }) as f64,
        // Between the same two ranks messages of several lanes follow one another, each but the first once.
        hops: bruck::hops(hosts) + lanes - 1 + usize::from(!alone),
        path: elements as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Elements, Figure::Load, Figure::Hops, Figure::Path], most == fewest)
}

/// Blocks that the rank that receives the most receives.
pub fn received(shape: &Shape) -> usize {
    let (most, fewest) = shape.on_host;
    let of = |ranks: usize| waves(most, ranks) * (ranks * shape.hosts - 1);
    (fewest..=most).map(of).max().unwrap_or(0)
}

/// The cost of the reduce-scatter, which is the same backwards; all that a rank receives but what comes first for its own block is kept.
pub fn scattered(shape: &Shape) -> Formula {
    let kept = received(shape).saturating_sub(1) * shape.count;
    Formula { scratch: kept as f64, ..formula(shape) }.at_most(&[Figure::Scratch], shape.on_host.0 == shape.on_host.1)
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    write_lanes(problem, node, route, |hosts, lane| {
        let places = hosts.map(|host| problem.places_of(host));
        let of_lane = places.filter(move |places| lane < places.len()).map(move |places| places.start + lane);
        of_lane.map(|place| problem.block(place))
    });
}

/// Writes that what every lane has on some hosts, `items(hosts, lane)`, goes to all ranks of all hosts.
pub fn write_lanes<I: IntoIterator<Item = Range<usize>>>(
    problem: &Problem,
    node: usize,
    route: &mut Route,
    items: impl Fn(Range<usize>, usize) -> I,
) {
    let hosts = problem.hosts();
    let ranks = |host: usize| problem.places_of(host % hosts);
    // The first host has the most ranks, the last one the fewest.
    let (lanes, fewest) = (ranks(0).len(), ranks(hosts - 1).len());
    let waves = waves(lanes, fewest);
    let between = bruck::steps(hosts).count() * waves;
    route.set_rounds(between + lanes - 1);
    if node >= problem.call.size {
        return;
    }
    let host = problem.host_at(node);
    let mates = ranks(host);
    let of = |mate: usize| (mate - mates.start..lanes).step_by(mates.len());
    for (step, (held, sent)) in bruck::steps(hosts).enumerate() {
        let carried = |first: usize, lane: usize| {
            let (first, end) = (first % hosts, first % hosts + sent);
            items(first..end.min(hosts), lane).into_iter().chain(items(0..end.saturating_sub(hosts), lane))
        };
        for lane in of(node) {
            let round = step * waves + lane / fewest;
            let at = |host: usize| ranks(host).start + lane % ranks(host).len();
            route.send(round, at(host + hosts - held), carried(host, lane));
            route.receive(round, at(host + held), carried(host + held, lane));
        }
    }
    give(&mates, node, between, route, |mate, _| of(mate).flat_map(|lane| items(0..hosts, lane)));
}
