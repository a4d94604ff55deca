//! All-reduce by a reduction to rank 0 and a broadcast from it, both along a tree of two levels.
//!
//! Algorithm: [`broadcast::two_level`](super::super::broadcast::two_level) backwards, then forwards.
//!
//! Reference: classic k-nomial tree, on hosts.
//!
//! Requirements: a network where every two ranks are linked.
//!
//! Cost: twice the broadcast's.
//!
//! Memory: one vector a child.
//!
//! Correctness condition: those of its halves. All ranks get the same bits.
//!
//! Example, 4 ranks, 2 on each of 2 hosts: 1 to 0 and 3 to 2, then 2 to 0; then 0 to 2, and 0 to 1 and 2 to 3.

use crate::algorithm::broadcast::two_level::{self, write};
use crate::algorithm::{two_level as tree, Algorithm, Form, Formula, Shape};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    summary: "short vectors, hosts with several ranks: one leaves and enters each host, few messages",
    cost: "twice that of the broadcast",
    formula,
    far: Some(|shape| {
        let (messages, hops) = tree::far(shape);
        (2 * messages, 2 * hops)
    }),
    form: Form::BackwardForward(write, write),
    ..two_level::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    two_level::formula(shape).up_and_down(shape, tree::children(shape))
}
