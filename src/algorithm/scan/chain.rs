//! Scan along the chain of all ranks, from 0 to P - 1.
//!
//! Algorithm: packet after packet goes from rank to rank, and each adds its own on the way: what it gets is all that is below it, what it
//! sends all up to it. Every rank receives and sends everything once at most.
//!
//! Reference: classic; the pipeline is that of Ho and Johnsson 1986, section 3.4, along all ranks in their order. (Their Hamiltonian path
//! follows the Gray code: results by rank need a path that does not.) M elements, packets of B.
//!
//! Requirements: a network where neighbouring ranks are linked, or shared memory.
//!
//! Cost: one-way 2 ceil(M/B) + P - 3, one-port ceil(M/B) + P - 2 rounds of tau + B t_c; for P = 2, ceil(M/B) rounds.
//!
//! Memory: in place, or where what is sent on is not what the rank ends with, a vector.
//!
//! Correctness condition: packet q enters rank i in round i - 1 + q; one way at a time, in round i - 1 + 2 q, and leaves it in the next.
//!
//! Example, 4 ranks, two packets: the second one's sum of 0 to 1 enters rank 2 in round 2, while that of the first enters rank 3.

use crate::algorithm::broadcast::chain::{self, pipeline};
use crate::algorithm::broadcast::packets;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, Route, Shape};
use crate::collective::Collective;
use crate::schedule::{PartOf, Problem};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scan,
    summary: "long vectors, any number of ranks: each receives and sends everything once",
    differs: "goes through P ranks in their order, and not through the nodes of a cube",
    ordered: true,
    formula: |shape| formula(shape, false),
    form: Form::Combining(write),
    ..chain::ALGORITHM
};

/// The exclusive scan: the same route.
pub const EXCLUSIVE: Algorithm =
    Algorithm { collective: Collective::ExclusiveScan, formula: |shape| formula(shape, true), ..ALGORITHM };

fn formula(shape: &Shape, exclusive: bool) -> Formula {
    let kept = if exclusive { shape.size > 2 } else { shape.in_place && shape.size > 1 };
    Formula { scratch: if kept { shape.count as f64 } else { 0.0 }, ..(chain::ALGORITHM.formula)(shape) }
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    let packets = || packets(problem, parameters);
    let pipeline = pipeline(size, parameters.ports);
    route.set_rounds(pipeline.rounds(packets().count()));
    if node >= size {
        return;
    }
    let round = |rank: usize, q: usize| rank - 1 + pipeline.per_packet * q;
    for (q, packet) in packets() {
        if node > 0 {
            route.receive_part(PartOf::Both, round(node, q), node - 1, [packet.clone()]);
        }
        if node + 1 < size {
            route.send(round(node + 1, q), node + 1, [packet]);
        }
    }
}
