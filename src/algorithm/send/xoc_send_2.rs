//! Send through a subcube beside the two nodes, in groups that follow one another.
//!
//! Algorithm: a group crosses a dimension in which the two nodes agree, spreads there over the subcube parallel to theirs as in
//! [`oc_send_4`](super::oc_send_4), and comes back over the same dimension. No link between the nodes that `oc_send_4` uses
//! is used, which is what it is for: it is a part of [`arbitrary_send_3`](super::arbitrary_send_3).
//!
//! Reference: Stout and Wagar 1990, section 4, X.O.C. SEND 2 (which is "similar to" O.C. SEND 4, not 2: errata 25); symbols as in
//! [`oc_send_1`](super::oc_send_1), where the paper's n is d. Packets of B, those of the way in, make g = ceil(M / B) groups.
//!
//! Requirements: all ports; two nodes that agree in a dimension, of which the lowest is used.
//!
//! Cost: (g d + d + K_(d-1))/(g d) M t_c + (g + d + 1) tau, if g lcm(1, ..., d) divides M; exchange the same. Best g: sqrt((d +
//! K_(d-1)) M t_c / (d tau)), for about M t_c + 2 sqrt((d + K_(d-1)) M t_c tau / d) + (d + 1) tau.
//!
//! Memory: the relays at the corners hold a group, those between them their share of it.
//!
//! Correctness condition: that of the spreading. The way in and the way out are the longest stages.
//!
//! Example, n = 2, 0 to 1: 0 to 2, 2 to 3, 3 to 1.

use super::relay::{grouped, Relay};
use super::{journeys, k_sum, packet_for, Spreading};
use crate::address::mask;
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS};
use crate::collective::{Call, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Send,
    name: "xoc_send_2",
    summary: "all ports: leaves the links of the two nodes' subcube to other sends",
    source: "SW X.O.C. SEND 2",
    section: "4",
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::AllPorts],
    suits,
    cost: "(g d + d + K_(d-1))/(g d) M t_c + (g + d + 1) tau, d the distance, g = ceil(M/B), K_d = sum of 1/C(d, k)",
    formula,
    flows: true,
    best_packet,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: Collective::Exchange,
    name: "xoc_exchange_2",
    formula: |shape| {
        let send = formula(shape);
        if send == Formula::NOTHING {
            return send;
        }
        // The corners keep what goes either way, and hand on the last group of it.
        let group = shape.count.div_ceil(shape.parameters.groups(shape.count, 1));
        let both = Formula { moved: 2.0 * send.moved, scratch: 2.0 * send.scratch, ..send };
        let corners = (2 * shape.count + group) as f64;
        // Between them, a group that goes the other way may be in front.
        let between = send.path + if shape.distance > 1 { group as f64 } else { 0.0 };
        both.with_path(corners.max(between), false)
    },
    ..ALGORITHM
};

fn suits(call: &Call, parameters: &Parameters) -> Result<(), Unsuited> {
    let Shape { n, distance, .. } = Shape::new(call, parameters);
    if distance > 0 && distance == n {
        let (root, peer) = (call.root, call.peer);
        return Err(("peer", format!("needs a dimension in which {root} and {peer} agree; they are opposite corners")));
    }
    Ok(())
}

fn formula(shape: &Shape) -> Formula {
    let (distance, m) = (shape.distance, shape.count as f64);
    if distance == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let groups = shape.parameters.groups(shape.count, 1);
    let group = Spreading { d: distance, len: shape.count.div_ceil(groups) };
    let even = shape.count.is_multiple_of(groups) && group.is_even();
    Formula {
        rounds: groups + distance as usize + 1,
        // That is (g d + d + K_(d-1))/(g d) M where all shares are whole.
        elements: ((groups + 1) * group.len + group.in_turn()) as f64,
        moved: f64::from(distance + 2) * m,
        load: m,
        scratch: m,
        hops: distance as usize + 2,
        path: m + (group.len + group.received_first().sum::<usize>()) as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Elements], even)
    .at_most(&[Figure::Path], even && distance <= 7)
}

/// For the best g.
fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    if shape.distance == 0 {
        return shape.count as f64;
    }
    let d = f64::from(shape.distance);
    packet_for(shape, 1, ((d + k_sum(shape.distance - 1)) * shape.count as f64 * t_c / (d * tau)).sqrt())
}

/// What a node does of a send through the subcube across `port`.
pub fn relay(node: usize, from: usize, to: usize, port: u32) -> Relay {
    let mut relay = Relay::new(node);
    relay.path(0, from, [port]);
    relay.spread(1, from ^ 1 << port, to ^ 1 << port);
    relay.path((from ^ to).count_ones() as usize + 1, to ^ 1 << port, [port]);
    relay
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    for journey in journeys(problem) {
        let port = (mask(problem.n) & !journey.mask()).trailing_zeros();
        let groups = parameters.groups(journey.data.len(), 1);
        route.set_rounds(groups + journey.mask().count_ones() as usize + 1);
        relay(node, journey.from, journey.to, port).write(route, grouped(journey.data, groups));
    }
}
