//! Reduce-scatter along a tree of two levels: [`all_gather::two_level`] backwards.
//!
//! Reference: classic k-nomial tree, on hosts. Cost and requirements are those of the all-gather; the operation must commute.
//!
//! Memory: what a rank's children and mates send, but what comes first for its own block.
//!
//! Correctness condition: that of the all-gather, backwards.

use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    formula: all_gather::two_level::reduce_scattered,
    form: Form::Backward(all_gather::two_level::write),
    ..all_gather::two_level::ALGORITHM
};
