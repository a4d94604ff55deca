//! All-reduce by histogramming and complete broadcast.
//!
//! Algorithm: the vector is cut into one block a rank; a reduce-scatter ([`reduce_scatter::histogram`]) leaves each block's
//! result on its rank, and an all-gather ([`all_gather::complete_broadcast`]) brings it to all. The partial results lie in
//! the receive buffer.
//!
//! Reference: Stout and Wagar 1990, section 8 ("if it is desired that all nodes contain all sums"). M elements.
//!
//! Requirements: symmetrised the operation must commute.
//!
//! Cost: symmetrised, all-ports 2 (1 - 2^-n)/n M t_c + 2 n tau; plain 2 (1 - 2^-n) M t_c + 2 n tau; plain, one-way twice that.
//!
//! Memory: what arrives in one round of the first half, at most a quarter of the vector (half, in place).
//!
//! Correctness condition: those of its halves.
//!
//! Example, n = 1: ranks 0 and 1 exchange halves, combine, and exchange the combined halves.

use crate::algorithm::all_gather::complete_broadcast::{self, write};
use crate::algorithm::{Algorithm, Form, Formula, Shape};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    name: "histogram",
    summary: "long vectors: each element travels twice; symmetrised, every link is busy in every round",
    source: "SW HISTOGRAM",
    section: "8",
    cost:
        "symmetrised, all-ports: 2 (1 - 2^-n)/n M t_c + 2 n tau; plain: 2 (1 - 2^-n) M t_c + 2 n tau (one-way: twice)",
    formula,
    exact: |shape| {
        shape.count % (shape.nodes() * if shape.parameters.symmetrized { shape.n.max(1) as usize } else { 1 }) == 0
    },
    form: Form::BackwardForward(write, write),
    ..complete_broadcast::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    if shape.count == 0 {
        return Formula::default();
    }
    // Blocks of M / 2^n elements, which need not be whole.
    let block = shape.count as f64 / shape.nodes() as f64;
    let half = complete_broadcast::formula(&Shape { count: 1, ..*shape }).scaled(block);
    half.then(half)
}
