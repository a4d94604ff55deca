//! Reduce along the two-rooted complete binary tree: [`broadcast::tcbt`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 1 ("the reverse operation, reduction") and 3.4. Cost and requirements are those of
//! the broadcast.
//!
//! Memory: a packet a child, and the partial result of the packet under way, in scratch memory.
//!
//! Correctness condition: that of the broadcast, backwards. The tree does not join the ranks in their order, so the
//! operation must commute.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary:
        "two vectors at most to combine at a node: on one port, packets follow one another at half the rate of a link",
    formula: broadcast::tcbt::reduced,
    form: Form::Backward(broadcast::tcbt::write),
    ..broadcast::tcbt::ALGORITHM
};
