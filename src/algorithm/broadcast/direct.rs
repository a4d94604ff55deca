//! Broadcast by the root itself.
//!
//! Algorithm: the root sends its vector to every rank, the farthest first.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory; few ranks.
//!
//! Cost: (N - 1) (M t_c + tau) at the root; every message is one hop.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: every rank is sent the vector once.
//!
//! Example, 4 ranks, root 1: to 3, then 0, then 2.

use crate::algorithm::{direct, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "direct",
    summary: "few ranks that share a memory: no rank waits for another to copy",
    source: "classic direct",
    section: "-",
    cube_edges: false,
    ordered: true,
    ports: &[PortModel::OneWay, PortModel::OnePort],
    cost: "(N - 1) (M t_c + tau)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the broadcast, and of the scatter; every rank receives one message.
pub fn formula(shape: &Shape) -> Formula {
    let gathered = gathered(shape);
    Formula { path: gathered.load, ..gathered }
}

/// The cost of the gather: the root receives all messages.
pub fn gathered(shape: &Shape) -> Formula {
    let rounds = shape.size - 1;
    if shape.count == 0 || rounds == 0 {
        return Formula::NOTHING;
    }
    let elements = (rounds * shape.count) as f64;
    Formula {
        rounds,
        elements,
        moved: elements,
        load: shape.count as f64,
        port: elements,
        hops: 1,
        path: elements,
        ..Formula::NOTHING
    }
}

/// The cost of the reduction: the first vector that arrives is the root's result so far, if its own is elsewhere.
pub fn reduced(shape: &Shape) -> Formula {
    let gathered = gathered(shape);
    Formula { scratch: gathered.elements - if shape.in_place { 0.0 } else { gathered.load }, ..gathered }
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    direct::write(problem, node, route, |_| problem.vector());
}
