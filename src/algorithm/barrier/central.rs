//! Barrier by rank 0: all signal to it, then it signals to all.
//!
//! Algorithm: rank r signals rank 0 in round r - 1 and waits for its signal of round P - 2 + r.
//!
//! Reference: classic (the central barrier).
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: 2 (P - 1) start-ups of rank 0; two hops, where dissemination has ceil(log2 P).
//!
//! Memory: none.
//!
//! Correctness condition: rank 0's signals are started when those of all ranks have come.
//!
//! Example, P = 3: 1, then 2 to 0; then 0 to 1, then to 2.

use super::dissemination;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Barrier,
    name: "central",
    summary: "ranks that share few cores: fewest signals",
    source: "classic",
    ports: &[PortModel::OneWay, PortModel::OnePort],
    cost: "2 (P - 1) tau",
    formula,
    signals,
    form: Form::Forward(write),
    ..dissemination::ALGORITHM
};

fn signals(ranks: usize) -> usize {
    2 * (ranks - 1)
}

fn formula(shape: &Shape) -> Formula {
    let rounds = signals(shape.size);
    Formula { rounds, hops: rounds.min(2), ..Formula::NOTHING }
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let others = problem.call.size - 1;
    route.set_rounds(2 * others);
    for rank in (1..=others).filter(|&rank| node == 0 || node == rank) {
        let peer = if node == 0 { rank } else { 0 };
        route.signal(rank - 1, peer, node != 0);
        route.signal(others + rank - 1, peer, node == 0);
    }
}
