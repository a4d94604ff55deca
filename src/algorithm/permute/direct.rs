//! Permutation by direct messages.
//!
//! Algorithm: every rank sends its vector to its target and receives from its source; a rank that is its own target copies.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: m t_c + tau (one-way not offered, as a rank sends and receives at once).
//!
//! Memory: none besides the vectors.
//!
//! Correctness condition: the targets are a permutation.
//!
//! Example, 3 ranks, p = (1, 2, 0): 0 to 1, 1 to 2, 2 to 0.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Permute,
    name: "direct",
    summary: "where every pair of ranks is linked: one message a rank",
    source: "classic direct",
    section: "-",
    cube_edges: false,
    ports: &[PortModel::OnePort],
    cost: "m t_c + tau",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    if shape.count == 0 || shape.moving == 0 {
        return Formula::NOTHING;
    }
    let elements = shape.count as f64;
    Formula {
        rounds: 1,
        elements,
        moved: elements * shape.moving as f64,
        load: elements,
        hops: 1,
        path: elements,
        ..Formula::NOTHING
    }
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    route.set_rounds(1);
    let Some(target) = problem.target(node) else { return };
    let source = (0..problem.nodes()).find(|&from| problem.target(from) == Some(node));
    if target != node {
        route.send(0, target, [problem.block(node)]);
    }
    if let Some(source) = source.filter(|&source| source != node) {
        route.receive(0, source, [problem.block(source)]);
    }
}
