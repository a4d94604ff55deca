//! Send between any two nodes over their own subcube and all those beside it at once.
//!
//! Algorithm: of n slices of the vector, d go together over the subcube that the two nodes span, as in
//! [`oc_send_4`](super::oc_send_4), and each of the n - d others through the parallel subcube across one of the dimensions in which
//! the nodes agree, as in [`xoc_send_2`]. Every port of the sender carries M/n elements.
//!
//! Reference: Stout and Wagar 1990, section 4, ARBITRARY SEND 3; symbols as in [`oc_send_1`](super::oc_send_1), with d the
//! distance (the paper's n) and n the dimension of the cube (its d). The paper's parallel subcubes for nodes 0 and 2^d - 1 start at
//! 2^d, ..., 2^(n-1) (errata 24). Packets of B make g = ceil(M / (n B)) groups in all subcubes.
//!
//! Requirements: all ports.
//!
//! Cost, if n g lcm(1, ..., d) divides M (for d = n: g lcm(1, ..., n)): the longer of (g + K_(d-1) - 1)/(n g) M t_c + (g + d - 1) tau and, for d < n, (g d + d +
//! K_(d-1))/(n g d) M t_c + (g + d + 1) tau, which is the longer one for d <= 4; exchange the same. The formula of the row has
//! the larger number of elements and of rounds, so for 5 <= d < n it may be 2 tau too long.
//!
//! Memory: that of the parts.
//!
//! Correctness condition: the subcubes are disjoint, and each link between two of them has one use.
//!
//! Example, n = 3, 0 to 3, M = 6, g = 1: 0 1 by node 1, 2 3 by node 2; 4 5 to node 4, there 4 by 5, 5 by 6, both from 7 to 3.

use super::relay::{grouped, Relay};
use super::{journeys, k_sum, meeting, packet_for, xoc_send_2, Spreading};
use crate::address::{mask, Ports};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Send,
    name: "arbitrary_send_3",
    summary: "all ports, long vectors: n times the rate of a link, whatever the distance",
    source: "SW ARBITRARY SEND 3",
    section: "4",
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::AllPorts],
    cost:
        "max of (g + K - 1)/(n g) M t_c + (g + d - 1) tau and (d < n) (g d + d + K)/(n g d) M t_c + (g + d + 1) tau, \
           d the distance, g = ceil(M/(n B)), K = K_(d-1) = sum of 1/C(d-1, k)",
    formula,
    flows: true,
    best_packet,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: Collective::Exchange,
    name: "arbitrary_exchange_3",
    formula: |shape| {
        let (send, direct) = (formula(shape), direct(shape));
        let relays = direct.received().take(direct.d.saturating_sub(1) as usize).sum::<usize>() as f64;
        meeting(send, send.path + relays.max(send.path - shape.count as f64))
    },
    ..ALGORITHM
};

/// How many packets' times the first group takes beyond its first: on the shortest paths, and beside them.
fn filling(n: u32, distance: u32) -> f64 {
    let direct = k_sum(distance - 1) - 1.0;
    if distance < n {
        direct.max(1.0 + k_sum(distance - 1) / f64::from(distance))
    } else {
        direct
    }
}

/// What of a group goes on the shortest paths.
fn direct(shape: &Shape) -> Spreading {
    let Shape { n, distance, count, .. } = *shape;
    let groups = shape.parameters.groups(count, n);
    Spreading { d: distance, len: if distance < n { straight(shape) } else { count }.div_ceil(groups) }
}

/// What of the vector goes on the shortest paths, if not all does.
fn straight(shape: &Shape) -> usize {
    part(0..shape.count, shape.distance as usize, shape.n as usize).start
}

fn formula(shape: &Shape) -> Formula {
    let Shape { n, distance, count, .. } = *shape;
    if distance == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let (d, groups) = (distance as usize, shape.parameters.groups(count, n));
    let (straight, direct) = (straight(shape), direct(shape));
    let in_turn = (groups - 1) * direct.longest() + direct.in_turn();
    let relays = || direct.received_first().take(d - 1);
    let waits = relays().sum::<usize>();
    let common = Formula {
        rounds: groups + d - 1,
        // That is (g + K - 1)/(n g) M where all shares are whole.
        elements: in_turn as f64,
        moved: (d * count) as f64,
        load: (groups * direct.longest()) as f64,
        scratch: (groups * relays().max().unwrap_or(0)) as f64,
        hops: d,
        path: (count + waits) as f64,
        ..Formula::NOTHING
    };
    if distance == n {
        let even = count.is_multiple_of(groups) && direct.is_even();
        return common
            .at_most(&[Figure::Elements, Figure::Load, Figure::Scratch], even)
            .at_most(&[Figure::Path], even && d <= 7);
    }
    let slice = count.div_ceil(n as usize);
    let beside = Spreading { d: distance, len: slice.div_ceil(groups) };
    // Meanwhile the receiver takes a group of each of the d slices that come straight.
    let detour = (beside.len + beside.received_first().sum::<usize>()).saturating_sub(straight / groups);
    let even = count.is_multiple_of(n as usize * groups) && beside.is_even() && direct.is_even();
    Formula {
        rounds: groups + d + 1,
        // That is (g d + d + K)/(n g d) M.
        elements: in_turn.max((groups + 1) * beside.len + beside.in_turn()) as f64,
        moved: (d * count + 2 * (count - straight)) as f64,
        load: common.load.max((groups * beside.len) as f64),
        scratch: common.scratch.max((groups * beside.len) as f64),
        hops: d + 2,
        path: (count + waits.max(detour)) as f64,
        ..common
    }
    .at_most(&[Figure::Rounds, Figure::Elements], even && distance <= 4)
    .at_most(&[Figure::Load, Figure::Scratch], even)
    .at_most(&[Figure::Path], even && groups == 1 && d <= 7)
}

/// For the best g of the longer part; the paper takes either part's own.
fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    let Shape { n, distance, .. } = *shape;
    if distance == 0 {
        return shape.count as f64;
    }
    packet_for(shape, n, (filling(n, distance) * shape.count as f64 * t_c / (f64::from(n) * tau)).sqrt())
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    for journey in journeys(problem) {
        let d = journey.mask().count_ones();
        let groups = parameters.groups(journey.data.len(), n);
        route.set_rounds(groups + d as usize + 1);
        let slice = |index| part(journey.data.clone(), index, n as usize);
        let mut direct = Relay::new(node);
        direct.spread(0, journey.from, journey.to);
        direct.write(route, grouped(journey.data.start..slice(d as usize).start, groups));
        for (index, port) in (d as usize..).zip(Ports::from_mask(mask(n) & !journey.mask())) {
            xoc_send_2::relay(node, journey.from, journey.to, port).write(route, grouped(slice(index), groups));
        }
    }
}
