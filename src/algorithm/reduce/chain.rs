//! Reduce along a chain of all ranks, however many there are: [`broadcast::chain`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 1 ("the reverse operation, reduction") and 3.4. Cost and requirements are those of
//! the broadcast.
//!
//! Memory: the partial result of the packet under way, in scratch memory.
//!
//! Correctness condition: that of the broadcast, backwards. The chain begins at the root, so the operation must commute.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary: "very long vectors, any number of ranks and hosts: every rank combines one vector with its own",
    formula: broadcast::chain::reduced,
    form: Form::Backward(broadcast::chain::write),
    ..broadcast::chain::ALGORITHM
};
