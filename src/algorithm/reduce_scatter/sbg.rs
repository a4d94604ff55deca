//! Reduce-scatter along N translated spanning balanced graphs: [`all_gather::sbg`] backwards.
//!
//! Algorithm: the contributions to a block come together along the graph of the block's owner, from its leaves to its
//! root.
//!
//! Reference: Ho and Johnsson 1988, sections 3 to 5. Cost and correctness condition are those of the
//! all-gather; the operation must commute.
//!
//! Memory: the partial results that pass through, in scratch memory.

use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    formula: all_gather::sbg::reduce_scattered,
    form: Form::Backward(all_gather::sbg::write),
    ..all_gather::sbg::ALGORITHM
};
