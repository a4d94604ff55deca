//! All-reduce by a reduction to rank 0 and a broadcast from it, both along the spanning binomial tree.
//!
//! Algorithm: [`broadcast::sbt`](super::super::broadcast::sbt) backwards, then forwards.
//!
//! Reference: Ho and Johnsson 1986, section 3.3.1. M elements, packets of B, P = ceil(M/B).
//!
//! Requirements: none.
//!
//! Cost: twice the broadcast's: one-way, one-port 2 P n rounds of tau + B t_c; all-ports 2 (P + n - 1) rounds.
//!
//! Memory: one packet a child.
//!
//! Correctness condition: those of its halves. All ranks get the same bits.
//!
//! Example, n = 1: rank 1 sends to 0, which combines and sends back.

use crate::algorithm::broadcast::sbt::{self, write};
use crate::algorithm::{Algorithm, Form, Formula, Shape};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    summary: "few messages in all: short vectors on more ranks than cores",
    cost: "twice that of the broadcast",
    formula,
    form: Form::BackwardForward(write, write),
    ..sbt::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let (up, down) = (sbt::reduced(shape), (sbt::ALGORITHM.formula)(shape));
    // The way back uses the links in the other direction. Every rank's result is to be where it combines.
    let n = shape.n as usize;
    Formula { load: down.load, scratch: (children(shape) * shape.count) as f64, ..up.then(down) }
        .through_ports(shape, (n, n.saturating_sub(1)))
}

/// The vectors that rank 0 keeps apart: those of its children, but for the one that its own is combined with.
fn children(shape: &Shape) -> usize {
    (shape.n as usize).saturating_sub(usize::from(!shape.in_place))
}
