//! All-gather by direct exchange in XOR order.
//!
//! Algorithm: in round k = 1, ..., N - 1 every node exchanges its own block with the node whose address differs from its own
//! by k. Every block goes straight from its owner to every rank.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: (N - 1) (m t_c + tau); one-way twice that.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: for each k, v -> v XOR k pairs the nodes.
//!
//! Example, n = 2, node 1: own block to, and theirs from, 0 (k = 1), 3 (k = 2), 2 (k = 3).

use crate::algorithm::{all_to_all, exchange, Algorithm, Form, Formula, Parameters, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    summary: "long blocks where every pair of ranks is linked: no block waits for another",
    among_hosts: DEFAULTS.among_hosts,
    form: Form::Forward(write),
    ..all_to_all::pairwise_xor::ALGORITHM
};

/// The cost of the reduce-scatter, which is the same backwards.
pub fn reduce_scattered(shape: &Shape) -> Formula {
    super::reduce_scattered(ALGORITHM.formula, shape)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    exchange::pairwise(problem, parameters, node, route, |from, _| problem.block(from));
}
