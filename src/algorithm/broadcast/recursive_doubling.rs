//! Broadcast by recursive doubling, one dimension at a time.
//!
//! Algorithm: in step k every node that has the vector sends it across dimension k, so that those who have it double.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 1. d there is n here, m is M; tau there is t_c here, beta there is tau
//! here.
//!
//! Requirements: none. It uses one port at a time under every port model, so all ports gain nothing.
//!
//! Cost: n M t_c + n tau.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: a node with highest bit k of its relative address has the vector after step k, from the node without
//! that bit: the edges are those of the SBT, and the one-port broadcast of [`super::sbt`] in one packet is the same.
//!
//! Example, n = 3, root 0: step 0: 0 to 1; step 1: 0 to 2, 1 to 3; step 2: 0 to 4, 1 to 5, 2 to 6, 3 to 7.

use super::packet_down;
use super::sbt;
use crate::algorithm::{strides, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{sbt::Sbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "recursive_doubling",
    summary: "the plain form: one dimension at a time, the whole vector in each",
    source: "SW BROADCAST 1",
    section: "2",
    ordered: true,
    ports: &PortModel::ALL,
    cost: "n (M t_c + tau)",
    formula,
    crossing: Some(sbt::crossing),
    strides: strides::tree,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the broadcast.
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let m = shape.count as f64;
    Formula {
        rounds: n,
        elements: n as f64 * m,
        moved: (shape.size - 1) as f64 * m,
        load: m,
        hops: n,
        path: n as f64 * m,
        ..Formula::NOTHING
    }
}

/// The cost of the reduction, which is the same backwards: the root receives n vectors, the first of its children n - 1.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    let vectors = if shape.in_place { shape.n } else { shape.n.saturating_sub(1) };
    Formula { scratch: f64::from(vectors) * forward.load, ..forward }
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    route.set_rounds(problem.n as usize);
    let tree = Sbt::new(problem.n);
    packet_down(problem, &tree, node, route, problem.vector(), |c| tree.parent_port(c).map_or(0, |k| k as usize));
}
