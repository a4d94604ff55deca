//! All-reduce by a reduction to rank 0 and a broadcast from it, both along the two-rooted complete binary tree.
//!
//! Algorithm: [`broadcast::tcbt`](super::super::broadcast::tcbt) backwards, then forwards.
//!
//! Reference: Ho and Johnsson 1986, sections 1 and 3.4. M elements, packets of B, P = ceil(M/B).
//!
//! Requirements: none.
//!
//! Cost: twice the broadcast's: for n >= 2, one-way 6 P + 4 n - 10, one-port 4 (P + n - 2), all-ports 2 (P + n - 1) rounds of
//! tau + B t_c.
//!
//! Memory: a packet a child, and the partial result of the packet under way.
//!
//! Correctness condition: those of its halves. All ranks get the same bits.
//!
//! Example, n = 1: rank 1 sends to 0, which combines and sends back.

use crate::algorithm::broadcast::tcbt::{self, write};
use crate::algorithm::{Algorithm, Form, Formula, Shape};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    summary: "long vectors in packets on one port: a packet takes a node three steps at most, up and down",
    cost: "twice that of the broadcast",
    formula,
    form: Form::BackwardForward(write, write),
    ..tcbt::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let (up, down) = (tcbt::reduced(shape), (tcbt::ALGORITHM.formula)(shape));
    // The way back uses the links in the other direction. Every rank's result is to be where it combines.
    let tree = tcbt::pipeline(shape.n, shape.parameters.ports);
    Formula { load: down.load, scratch: (children(shape) * shape.count) as f64, ..up.then(down) }
        .through_ports(shape, (tree.received, tree.passed))
}

/// The vectors that a rank keeps apart: those of its two children, but for the one that its own is combined with.
fn children(shape: &Shape) -> usize {
    (shape.n.min(2) as usize).saturating_sub(usize::from(!shape.in_place))
}
