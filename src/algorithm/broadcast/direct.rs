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

use crate::algorithm::{always, direct, no_packet, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "direct",
    summary: "few ranks that share a memory: no rank waits for another's copy",
    source: "classic direct",
    section: "-",
    cube_edges: false,
    ordered: true,
    packets: &[],
    symmetrizes: false,
    ports: &[PortModel::OneWay, PortModel::OnePort],
    cost: "(N - 1) (M t_c + tau)",
    formula,
    exact: always,
    best_packet: no_packet,
    form: Form::Forward(write),
};

/// Rounds and elements of the root, here and in the other direct algorithms with a root.
pub fn formula(shape: &Shape) -> Formula {
    let rounds = if shape.count == 0 { 0 } else { shape.nodes() - 1 };
    Formula { rounds, elements: (rounds * shape.count) as f64 }
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    direct::write(problem, node, route, |_| problem.vector());
}
