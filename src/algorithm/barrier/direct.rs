//! Barrier by signals of all to all.
//!
//! Algorithm: every rank signals every other, the next one first, and waits for the signals of all.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory; few ranks, as they send P (P - 1) signals.
//!
//! Cost: tau on all ports, P (P - 1) signals in all; one hop, where dissemination has ceil(log2 P).
//!
//! Memory: none.
//!
//! Correctness condition: a rank has heard of each other rank from that rank itself.
//!
//! Example, P = 3, rank 0: signals 1 and 2, and waits for 2 and 1.

use super::dissemination;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Barrier,
    name: "direct",
    summary: "few ranks that share a memory: one hop",
    source: "classic",
    ports: &[PortModel::AllPorts],
    cost: "tau",
    formula,
    signals: |ranks| ranks * (ranks - 1),
    form: Form::Forward(write),
    ..dissemination::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let rounds = usize::from(shape.size > 1);
    Formula { rounds, hops: rounds, ..Formula::NOTHING }
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    route.set_rounds(1);
    if node >= size {
        return;
    }
    for distance in 1..size {
        route.signal(0, (node + distance) % size, true);
    }
    for distance in 1..size {
        route.signal(0, (node + size - distance) % size, false);
    }
}
