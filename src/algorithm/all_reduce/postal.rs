//! All-reduce by a reduction to rank 0 and a broadcast from it, both along trees for a latency.
//!
//! Algorithm: [`broadcast::postal`](super::super::broadcast::postal) backwards, then forwards.
//!
//! Reference: Bar-Noy and Kipnis 1992, section 3 (BK92).
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: twice the broadcast's.
//!
//! Memory: one vector a child.
//!
//! Correctness condition: those of its halves. All ranks get the same bits.
//!
//! Example, 4 ranks, 2 on each of 2 hosts: 1 to 0 and 3 to 2, then 2 to 0; then 0 to 2, and 0 to 1 and 2 to 3.

use crate::algorithm::broadcast::postal::{self, write};
use crate::algorithm::{postal as tree, Algorithm, Form, Formula, Shape};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    summary: "short vectors, hosts with several ranks: one leaves and enters each host",
    cost: "twice that of the broadcast",
    formula,
    far: Some(|shape| {
        let (messages, hops) = tree::ANY.far(shape);
        (2 * messages, 2 * hops)
    }),
    way: Some(way),
    form: Form::BackwardForward(write, write),
    ..postal::ALGORITHM
};

/// The way up and the way down.
fn way(shape: &Shape) -> Formula {
    let way = postal::way(shape);
    way.then(way).through_ports(shape, tree::ANY.children(shape))
}

fn formula(shape: &Shape) -> Formula {
    postal::formula(shape).up_and_down(shape, tree::ANY.children(shape))
}
