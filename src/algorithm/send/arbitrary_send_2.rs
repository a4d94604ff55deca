//! Send between any two nodes along the paths of a broadcast's waves.
//!
//! Algorithm: the vector is cut into n slices, one for each port of the sender, and each slice into g groups that follow one
//! another. A slice that starts over a dimension in which the nodes differ takes the path of [`oc_send_2`](super::oc_send_2).
//! One that starts over another dimension then crosses those in which they differ, in ascending order cyclically after its own,
//! and last its own again. Nothing else of the broadcast is sent.
//!
//! For nodes at distance n - 1 the one slice that would come back last does so by the broadcast's second wave: its last group
//! follows, one round later, the last group of the slice before it (cyclically) along that one's path.
//!
//! Reference: Stout and Wagar 1990, section 4, ARBITRARY SEND 2, from section 2, BROADCAST 3A, 3B, 4; symbols as in
//! [`oc_send_1`](super::oc_send_1), with d the distance (the paper's n) and n the dimension of the cube (its d). Packets of B
//! make g = ceil(M / (n B)).
//!
//! Requirements: all ports.
//!
//! Cost, if n g divides M: packets of M/(n g) elements, d + g + 1 rounds for d <= n - 2 (printed d + g - 1: errata 23), n + g - 1
//! for the others; exchange the same. Best g: sqrt((min(d + 2, n) - 1) M t_c / (n tau)).
//!
//! Memory: a relay holds a packet of a slice or two.
//!
//! Correctness condition: the paths are those from the root to the receiver in the n trees of the MSBT graph, along which the
//! waves run; these share no directed edge.
//!
//! Example, n = 3, 0 to 1, g = 1: slice 0 over port 0; slice 1 by 2 and 3, slice 2 by 4 and 5. n = 3, 0 to 3: slice 0 by 1,
//! slice 1 by 2; slice 2 in the group before the last by 4, 5 and 7, in the last one after slice 1 by 2.

use super::relay::{cyclic, grouped, Relay};
use super::{journeys, meeting, packet_for};
use crate::address::{mask, Ports};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Send,
    name: "arbitrary_send_2",
    summary: "all ports: every port of the sender is busy, and all packets are equal",
    source: "SW ARBITRARY SEND 2",
    section: "4",
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::AllPorts],
    cost: "(min(d + 2, n) + g - 1) (M t_c/(n g) + tau), d the distance, g = ceil(M/(n B))",
    formula,
    best_packet,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: Collective::Exchange,
    name: "arbitrary_exchange_2",
    formula: |shape| {
        let send = formula(shape);
        meeting(send, 2.0 * send.path - shape.count as f64)
    },
    ..ALGORITHM
};

/// The rounds of one group; with the second wave for the last one.
fn stages(n: u32, distance: u32) -> usize {
    n.min(distance + 2) as usize
}

fn formula(shape: &Shape) -> Formula {
    let Shape { n, distance, count, .. } = *shape;
    if distance == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let (d, groups) = (distance as usize, shape.parameters.groups(shape.count, n));
    let rounds = stages(n, distance) + groups - 1;
    let packet = count.div_ceil(n as usize).div_ceil(groups) as f64;
    // What comes back from beyond the receiver takes two more steps; the second wave spares the last group the detour.
    let beyond = part(0..count, d, n as usize).start..count;
    let even = count.is_multiple_of(groups * n as usize);
    let of_slices = if distance + 1 == n { groups + 1 } else { groups } as f64;
    let spared = if distance + 1 == n { part(beyond.clone(), groups - 1, groups) } else { 0..0 };
    Formula {
        rounds,
        elements: rounds as f64 * packet,
        moved: (d * count + 2 * (beyond.len() - spared.len())) as f64,
        load: packet * of_slices,
        // A relay is on the way of one slice; the second wave shares its way with another.
        scratch: if n == 1 { 0.0 } else { packet * of_slices },
        hops: stages(n, distance),
        // Slices over shortest paths wait for one another only at the receiver; what comes round is there before the others are all
        // received, but for neighbours, or where those are shorter.
        path: count as f64 + (if even { d.max(2).min(n as usize) } else { stages(n, distance) } - 1) as f64 * packet,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Elements, Figure::Load], even)
    .at_most(&[Figure::Scratch, Figure::Path], false)
    // Slices of the shortest vectors are empty.
    .at_most(&[Figure::Rounds, Figure::Hops], count >= n as usize * groups)
}

/// For the best g.
fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    if shape.distance == 0 {
        return shape.count as f64;
    }
    let filling = stages(shape.n, shape.distance) as f64 - 1.0;
    packet_for(shape, shape.n, (filling * shape.count as f64 * t_c / (f64::from(shape.n) * tau)).sqrt())
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    for journey in journeys(problem) {
        let mask_n = mask(n);
        let groups = parameters.groups(journey.data.len(), n);
        route.set_rounds(stages(n, journey.mask().count_ones()) + groups - 1);
        let (near, far) = (Ports::from_mask(journey.mask()), Ports::from_mask(mask_n & !journey.mask()));
        for (slice, port) in near.iter().chain(far.iter()).enumerate() {
            let data = part(journey.data.clone(), slice, n as usize);
            let mut relay = Relay::new(node);
            if near.contains(port) {
                relay.path(0, journey.from, cyclic(journey.mask(), port));
                relay.write(route, grouped(data, groups));
                continue;
            }
            let around = [port].into_iter().chain(cyclic(journey.mask(), port)).chain([port]);
            relay.path(0, journey.from, around);
            if far.len() > 1 {
                relay.write(route, grouped(data, groups));
                continue;
            }
            relay.write(route, grouped(data.clone(), groups).take(groups - 1));
            let mut second = Relay::new(node);
            second.path(1, journey.from, cyclic(journey.mask(), (port + n - 1) % n));
            second.write(route, grouped(data, groups).skip(groups - 1));
        }
    }
}
