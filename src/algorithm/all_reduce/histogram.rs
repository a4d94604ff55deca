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
use crate::algorithm::exchange::{crossing, longest_even_part, Exchange};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::collective::{part, Collective};
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
    crossing: Some(|shape| 2.0 * crossing(&Shape { count: shape.count.div_ceil(shape.size), ..*shape })),
    form: Form::BackwardForward(write, write),
    ..complete_broadcast::ALGORITHM
};

/// The longest of the parts of a slice of `len` elements that the i-th step from the end exchanges: of one in 2, 4, ..., 2^n parts; or, if some
/// nodes have no rank, 2^(n-i) blocks.
pub fn part_exchanged(shape: &Shape, len: usize, i: u32) -> usize {
    match shape.size == shape.nodes() {
        true => len.div_ceil(1 << i),
        false => (len.div_ceil(shape.size) << (shape.n - i)).min(len),
    }
}

/// The cost of the all-reduce.
pub fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let exchange = Exchange::of_shape(shape);
    let slices = exchange.slices() as usize;
    let slice = |s: usize| part(0..count, s, slices).len();
    let part_of = |len: usize, i: u32| part_exchanged(shape, len, i);
    let parts = |len: usize, from: u32| (from..=n).map(|i| part_of(len, i)).sum::<usize>();
    let all = |from: u32| (0..slices).map(|s| parts(slice(s), from)).sum::<usize>();
    // Over a link go, there and back, both of the parts into which a step divides one.
    let (load, _) = exchange.loads(|s, t| part_of(slice(s as usize), n - 1 - t));
    let (_, each) = exchange.loads(|s, t| part_of(slice(s as usize), n - t));
    let even = count.is_multiple_of(slices * shape.nodes());
    // One way at a time the other of two parts has a round of its own, if there is anything of it.
    let one_way = parameters.ports == PortModel::OneWay;
    let others: Vec<usize> = (1..=n).map(|i| longest_even_part(count, i)).filter(|&len| one_way && len > 0).collect();
    Formula {
        rounds: 2 * (n as usize + others.len()),
        elements: (2 * (each + others.iter().sum::<usize>())) as f64,
        moved: (2 * (shape.size - 1) * count) as f64,
        load: load as f64,
        // What the first step brings is combined with the rank's own where the result is to be.
        scratch: all(if shape.in_place { 1 } else { 2 }) as f64,
        hops: 2 * n as usize,
        path: (2 * all(1)) as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Scratch, Figure::Path], even)
    .at_most(&[Figure::Load], slices == 1 || even)
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let exchange = Exchange::new(problem.n, parameters).far_first(problem);
    exchange.spread(node, route, |slice, done, v| exchange.parts(problem, slice, done, v));
}
