//! Broadcast along a chain of all ranks, however many there are.
//!
//! Algorithm: packet after packet goes from rank to rank: from the root to the other ranks of its host, then through the ranks of the
//! next host and so on. Every rank but the last receives and sends each packet once, and every host but the last one.
//!
//! Reference: classic; Ho and Johnsson 1986, section 3.4, for P ranks instead of the nodes of a cube. M elements, packets of B.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: one-way 2 ceil(M/B) + P - 3, one-port ceil(M/B) + P - 2 rounds of tau + B t_c; for P = 2, ceil(M/B) rounds.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet q enters the rank at position i of the chain in round i - 1 + q; one way at a time, in round
//! i - 1 + 2 q, and leaves it in the next.
//!
//! Example, 6 ranks, 3 on each of two hosts, root 1: 1 2 0 3 4 5; packet 0 enters rank 0 in round 1 and rank 5 in round 4.

use super::packets;
use super::pipeline::Pipeline;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "chain",
    paths: 1,
    summary: "very long messages, any number of ranks and hosts: each receives and sends everything once",
    source: "HJ86 Hamiltonian path",
    section: "3.4",
    differs: "goes through P ranks, host by host, and not through the nodes of a cube",
    cube_edges: false,
    packets: &[PortModel::OneWay, PortModel::OnePort],
    ports: &[PortModel::OneWay, PortModel::OnePort],
    cost: "one-way: (2 ceil(M/B) + P - 3) (tau + B t_c); one-port: (ceil(M/B) + P - 2) (tau + B t_c)",
    formula: |shape| pipeline(shape.size, shape.parameters.ports).formula(shape),
    best_packet: |shape, tau, t_c| pipeline(shape.size, shape.parameters.ports).best_packet(shape, tau, t_c),
    crossing: Some(|shape| shape.count as f64),
    form: Form::Forward(write),
    ..DEFAULTS
};

pub fn pipeline(size: usize, ports: PortModel) -> Pipeline {
    let ranks = size as isize;
    let (per_packet, rest) = match ports {
        PortModel::OneWay if size > 2 => (2, ranks - 3),
        _ => (1, ranks - 2),
    };
    let received = usize::from(size > 1);
    Pipeline { per_packet, rest, alone: per_packet, height: size - 1, received, passed: usize::from(size > 2) }
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    pipeline(shape.size, shape.parameters.ports).reduced(shape, shape.size.saturating_sub(2))
}

/// The chain, as positions of places. The root's host is gone through from the root on, the others in turn after it.
struct Chain {
    size: usize,
    root: usize,
    first: Range<usize>,
}

impl Chain {
    fn position(&self, place: usize) -> usize {
        let Chain { size, root, ref first } = *self;
        match first.contains(&place) {
            true => (place + first.len() - root) % first.len(),
            false => (place + size - first.start) % size,
        }
    }

    fn place(&self, position: usize) -> usize {
        let Chain { size, root, ref first } = *self;
        match position < first.len() {
            true => first.start + (root - first.start + position) % first.len(),
            false => (first.start + position) % size,
        }
    }
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let (size, root) = (problem.call.size, problem.root);
    let pipeline = pipeline(size, parameters.ports);
    route.set_rounds(pipeline.rounds(packets(problem, parameters).count()));
    if node >= size {
        return;
    }
    let chain = Chain { size, root, first: problem.places_of(problem.host_at(root)) };
    let at = chain.position(node);
    let round = |position: usize, q: usize| position - 1 + pipeline.per_packet * q;
    if at > 0 {
        for (q, packet) in packets(problem, parameters) {
            route.receive(round(at, q), chain.place(at - 1), [packet]);
        }
    }
    if at + 1 < size {
        for (q, packet) in packets(problem, parameters) {
            route.send(round(at + 1, q), chain.place(at + 1), [packet]);
        }
    }
}
