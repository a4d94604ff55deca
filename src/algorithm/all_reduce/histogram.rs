//! All-reduce by histogramming and complete broadcast.
//!
//! Algorithm: the vector is cut into one block a rank; a reduce-scatter leaves each block's result on its rank, and an all-gather
//! brings it to all. The partial results lie in the receive buffer. Symmetrised, each of n slices of the vector is cut into blocks of
//! its own, in the order in which the exchange of that slice joins them, so that every message is one piece of every slice.
//!
//! Reference: Stout and Wagar 1990, section 8 ("if it is desired that all nodes contain all sums"). M elements.
//!
//! Requirements: symmetrised the operation must commute.
//!
//! Cost: symmetrised, all-ports 2 (1 - 2^-n)/n M t_c + 2 n tau; plain 2 (1 - 2^-n) M t_c + 2 n tau; plain, one-way twice that. Where
//! 2^n n (plain: 2^n) does not divide M: 2 times the sum of ceil(L/2^i), i = 1, ..., n, for slices of L = ceil(M/n) (plain: M).
//!
//! Memory: what arrives in one round of the first half, at most a quarter of the vector (half, in place).
//!
//! Correctness condition: those of its halves.
//!
//! Example, n = 1: ranks 0 and 1 exchange halves, combine, and exchange the combined halves.

use crate::algorithm::all_gather::complete_broadcast;
use crate::algorithm::exchange::Exchange;
use crate::algorithm::{halved, Algorithm, Form, Formula, Parameters, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    name: "histogram",
    summary: "long vectors: each element travels twice; symmetrised, every link is busy in every round",
    source: "SW HISTOGRAM",
    section: "8",
    differs: "cuts the vector into slices first, then each slice into blocks",
    cost:
        "symmetrised, all-ports: 2 (1 - 2^-n)/n M t_c + 2 n tau; plain: 2 (1 - 2^-n) M t_c + 2 n tau (one-way: twice)",
    formula,
    crossing: Some(halved::crossing),
    form: Form::BackwardForward(write, write),
    ..complete_broadcast::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    // What the first step brings is combined with the rank's own where the result is to be.
    let first = if shape.in_place { 1 } else { 2 };
    Formula { scratch: halved::exchanged(shape, first..=shape.n) as f64, ..halved::there_and_back(shape) }
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let exchange = Exchange::new(problem.n, parameters).far_first(problem);
    exchange.spread(node, route, |slice, done, v| halved::parts(&exchange, problem, slice, done, v));
}
