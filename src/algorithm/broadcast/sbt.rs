//! Broadcast along the spanning binomial tree (SBT).
//!
//! Algorithm: every node passes what it gets to the neighbours across the leading zeroes of its relative address. One
//! port at a time, all packets go through dimension 0, then all through dimension 1, and so on: in each dimension the
//! nodes that have the data double. With all ports, packet after packet goes down the tree through all ports at once.
//!
//! Reference: Ho and Johnsson 1986, sections 3.1 and 3.3.1. M elements, packets of B, P = ceil(M/B), c = relative address,
//! k = highest 1 of c.
//!
//! Requirements: none.
//!
//! Cost: one-way, one-port P n rounds of tau + B t_c; all-ports P + n - 1 rounds.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: a node with highest bit k has packet q after round k P + q (one-port) or, at level l, after round
//! l - 1 + q (all-ports), and sends it later than that: through m > k in round m P + q, or in round l + q.
//!
//! Example, n = 3, root 0, one packet, one port: round 0: 0 to 1; round 1: 0 to 2, 1 to 3; round 2: 0 to 4, 1 to 5, 2 to 6,
//! 3 to 7. Backwards it is a reduction that joins across dimension 2 first.

use super::{packets, pipeline::down, ALL_PACKETS};
use crate::address::dimension_for;
use crate::algorithm::{strides, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{sbt::Sbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "sbt",
    summary: "fewest rounds for short messages; pipelined for long ones on all ports",
    source: "HJ86 SBT",
    section: "3.3.1",
    ordered: true,
    packets: ALL_PACKETS,
    cost: "one-way, one-port: ceil(M/B) n (tau + B t_c); all-ports: (ceil(M/B) + n - 1) (tau + B t_c)",
    formula,
    best_packet,
    crossing: Some(crossing),
    strides: strides::tree,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The lowest dimension comes first, so that all ranks of a host have everything when it goes on to other hosts: each sends it there. At
/// most as much, where they fill no subcube.
pub(super) fn crossing(shape: &Shape) -> f64 {
    (shape.on_host.0.next_power_of_two() * dimension_for(shape.hosts) as usize * shape.count) as f64
}

/// The cost of the broadcast.
pub fn formula(shape: &Shape) -> Formula {
    let (n, p) = (shape.n as usize, shape.packets());
    if n == 0 || p == 0 {
        return Formula::NOTHING;
    }
    // In the last round, or on one port in the last of each dimension, only the last packet is on its way.
    let (rounds, alone) = match shape.parameters.ports {
        PortModel::AllPorts => (p + n - 1, 1),
        PortModel::OneWay | PortModel::OnePort => (p * n, n),
    };
    let (m, b) = (shape.count as f64, shape.packet() as f64);
    Formula {
        rounds,
        elements: shape.in_packets(rounds, alone),
        moved: (shape.size - 1) as f64 * m,
        load: m,
        port: n as f64 * m,
        hops: n,
        // Packets follow one another down the tree without waiting for the last one.
        path: m + (n - 1) as f64 * b,
        ..Formula::NOTHING
    }
}

/// The cost of the reduction, which is the same backwards: the root receives n vectors, the first of its children n - 1 of them.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if forward == Formula::NOTHING {
        return forward;
    }
    let (n, m) = (f64::from(shape.n), shape.count as f64);
    // A leaf among the root's children is the first to send, and from then on there is always something to receive.
    Formula { scratch: if shape.in_place { n } else { n - 1.0 } * m, path: n * m, ..forward }
}

/// All ports: sqrt(M tau / (t_c (n - 1))); one port: the whole vector.
pub fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    match shape.parameters.ports {
        PortModel::AllPorts if shape.n > 1 => (shape.count as f64 * tau / (t_c * (shape.n - 1) as f64)).sqrt(),
        _ => shape.count as f64,
    }
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let tree = Sbt::new(problem.n);
    let n = problem.n as usize;
    let count = packets(problem, parameters).count();
    let all_ports = parameters.ports == PortModel::AllPorts;
    route.set_rounds(if all_ports { count + n } else { count * n });
    let round = |c: usize, q: usize| match tree.parent_port(c) {
        _ if all_ports => tree.level(c) as usize - 1 + q,
        port => port.map_or(0, |k| k as usize) * count + q,
    };
    down(problem, &tree, node, route, || packets(problem, parameters), round);
}
