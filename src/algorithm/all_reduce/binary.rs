//! All-reduce by a reduction to rank 0 and a broadcast from it, both along trees in which no rank has more than two children.
//!
//! Algorithm: [`broadcast::binary`](super::super::broadcast::binary) backwards, then forwards.
//!
//! Reference: Sanders and Sibeyn 2003, section 3 (SS03).
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: twice the broadcast's.
//!
//! Memory: one vector a child.
//!
//! Correctness condition: those of its halves. All ranks get the same bits.
//!
//! Example, 4 ranks on hosts of their own, lambda = 1: 1 to 0 and 3 to 2, then 2 to 0; then 0 to 2, and 0 to 1 and 2 to 3.

use crate::algorithm::broadcast::binary::{self, write};
use crate::algorithm::postal::TWO;
use crate::algorithm::{Algorithm, Form, Formula, Shape};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    summary: "rather short vectors, any number of ranks: two children at most, up and down",
    cost: "twice that of the broadcast",
    formula,
    far: Some(|shape| {
        let (messages, hops) = TWO.far(shape);
        (2 * messages, 2 * hops)
    }),
    way: Some(way),
    crossing: Some(|shape| (TWO.crossing_twice(shape) * shape.count) as f64),
    form: Form::BackwardForward(write, write),
    ..binary::ALGORITHM
};

/// The way up and the way down.
fn way(shape: &Shape) -> Formula {
    let way = TWO.way(shape).with_vectors(shape, TWO.children(shape));
    way.then(way).through_ports(shape, TWO.children(shape))
}

fn formula(shape: &Shape) -> Formula {
    binary::formula(shape).up_and_down(shape, TWO.children(shape))
}
