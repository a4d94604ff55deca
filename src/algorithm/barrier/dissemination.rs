//! Barrier by dissemination.
//!
//! Algorithm: in round k rank r signals rank r + 2^k and waits for the signal of rank r - 2^k (modulo P).
//!
//! Reference: classic (Hensgen, Finkel and Manber 1988). P ranks, not nodes: it needs no cube.
//!
//! Requirements: every two ranks are linked.
//!
//! Cost: ceil(log2 P) rounds of tau (one-way: not offered, as a rank sends and receives at once).
//!
//! Memory: none.
//!
//! Correctness condition: after round k a rank has heard, through others, of the 2^(k+1) - 1 ranks before it.
//!
//! Example, P = 5, rank 0: signals 1, 2, 4 and waits for 4, 3, 1.

use crate::address::dimension_for;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Barrier,
    name: "dissemination",
    summary: "fewest rounds for any number of ranks",
    source: "classic dissemination barrier",
    section: "-",
    cube_edges: false,
    ports: &[PortModel::OnePort],
    cost: "ceil(log2 P) tau",
    formula,
    signals: |ranks| ranks * dimension_for(ranks) as usize,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    Formula { rounds: shape.n as usize, hops: shape.n as usize, ..Formula::NOTHING }
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    route.set_rounds(problem.n as usize);
    if node >= size {
        return;
    }
    for k in 0..problem.n as usize {
        route.signal(k, (node + (1 << k)) % size, true);
        route.signal(k, (node + size - (1 << k)) % size, false);
    }
}
