//! Send over all nodes between the two, in groups that follow one another.
//!
//! Algorithm: a group spreads over the subcube between the two nodes: at stage k the nodes at distance k from the sender, which
//! hold equal shares of it, each send an equal part of theirs over every link that leads nearer to the receiver. Each group
//! starts as soon as the one before has left the sender.
//!
//! Reference: Stout and Wagar 1990, section 3, O.C. SEND 4; symbols as in [`oc_send_1`](super::oc_send_1), g the number of groups,
//! B the elements of a packet in the first stage, K_d the sum of 1 / C(d, k) over k = 0, ..., d. Packets of B make g = ceil(M /
//! (d B)) groups, as even as possible. (Where lcm(1, ..., d) does not divide a group, rounding may add a few elements to a packet of
//! a later stage.)
//!
//! Requirements: all ports.
//!
//! Cost: (g + K_(d-1) - 1)/(d g) M t_c + (g + d - 1) tau, if g lcm(1, ..., d) divides M; exchange the same. Best g: sqrt((K_(d-1)
//! - 1) M t_c / (d tau)), for about M t_c / d + 2 sqrt((K_(d-1) - 1) M t_c tau / d) + (d - 1) tau.
//!
//! Memory: a relay holds its share of a group.
//!
//! Correctness condition: d C(d - 1, k) links lead from distance k to k + 1; as each carries an equal share, each of the
//! C(d, k + 1) nodes gets k + 1 of them and so an equal share again. The first stage is as long as any, so a node is done with
//! a group when the next one arrives.
//!
//! Example, n = 3, 0 to 7, 6 elements: 0 sends 0 1 to node 1, 2 3 to 2, 4 5 to 4; 1 sends 0 to 3, 1 to 5; 2 sends 2 to 3, 3 to
//! 6; 4 sends 4 to 5, 5 to 6; 3 sends 0 2, 5 sends 1 4, 6 sends 3 5 to 7.

use super::relay::{grouped, Relay};
use super::{journeys, k_sum, meeting, packet_for, Spreading};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Send,
    name: "oc_send_4",
    summary: "all ports, long vectors between far nodes: d times the rate of a link",
    source: "SW O.C. SEND 4",
    section: "3",
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::AllPorts],
    cost: "(g + K_(d-1) - 1)/(d g) M t_c + (g + d - 1) tau, d the distance, g = ceil(M/(d B)), K_d = sum of 1/C(d, k)",
    formula,
    flows: true,
    best_packet,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: Collective::Exchange,
    name: "oc_exchange_4",
    formula: |shape| {
        let (send, group) = (formula(shape), group(shape));
        // Either way waits for a group of the other at most; where shares are rounded up, also for what is rounded.
        let whole = (shape.count + group.len) as f64;
        let relays = group.received().take(group.d.saturating_sub(1) as usize).sum::<usize>() as f64;
        meeting(send, if group.is_even() { whole } else { whole.max(send.path + relays) })
    },
    ..ALGORITHM
};

/// What goes together.
fn group(shape: &Shape) -> Spreading {
    let groups = shape.parameters.groups(shape.count, shape.distance);
    Spreading { d: shape.distance, len: shape.count.div_ceil(groups) }
}

fn formula(shape: &Shape) -> Formula {
    let (d, m) = (shape.distance, shape.count as f64);
    if d == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let (groups, group) = (shape.parameters.groups(shape.count, d), group(shape));
    let relays = || group.received_first().take(d as usize - 1);
    let even = shape.count.is_multiple_of(groups) && group.is_even();
    Formula {
        rounds: groups + d as usize - 1,
        // That is (g + K_(d-1) - 1)/(d g) M where all shares are whole.
        elements: ((groups - 1) * group.longest() + group.in_turn()) as f64,
        moved: f64::from(d) * m,
        load: (groups * group.longest()) as f64,
        scratch: (groups * relays().max().unwrap_or(0)) as f64,
        hops: d as usize,
        // A group as it passes through the distances before the last one, and in the end all.
        path: m + relays().sum::<usize>() as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Elements, Figure::Load, Figure::Scratch], even)
    .at_most(&[Figure::Path], even && d <= 7)
}

/// For the best g.
fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    let d = shape.distance;
    if d == 0 {
        return shape.count as f64;
    }
    packet_for(shape, d, ((k_sum(d - 1) - 1.0) * shape.count as f64 * t_c / (f64::from(d) * tau)).sqrt())
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    for journey in journeys(problem) {
        let d = journey.mask().count_ones();
        let groups = parameters.groups(journey.data.len(), d);
        route.set_rounds(groups + d as usize - 1);
        let mut relay = Relay::new(node);
        relay.spread(0, journey.from, journey.to);
        relay.write(route, grouped(journey.data, groups));
    }
}
