//! All-reduce by rank 0: a reduction to it and a broadcast from it, both direct.
//!
//! Algorithm: [`broadcast::direct`](super::super::broadcast::direct) backwards, then forwards.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory; few ranks.
//!
//! Cost: 2 (N - 1) (M t_c + tau) at rank 0; two hops.
//!
//! Memory: the vectors of the ranks that have arrived, in scratch memory.
//!
//! Correctness condition: those of its halves. All ranks get the same bits.
//!
//! Example, 3 ranks: 1, then 2 to 0, which combines; then 0 to 2, then to 1.

use crate::algorithm::broadcast::direct::{self, write};
use crate::algorithm::{Algorithm, Form, Formula, Shape};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    summary: "short vectors of few ranks that share a memory: two hops",
    cost: "2 (N - 1) (M t_c + tau)",
    formula,
    form: Form::BackwardForward(write, write),
    ..direct::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let (up, down) = (direct::reduced(shape), direct::formula(shape));
    // The way back uses the links in the other direction.
    Formula { load: down.load, ..up.then(down) }.through_ports(shape, (shape.size - 1, 0))
}
