//! Reduce-scatter by halving, on any number of ranks: [`all_gather::bruck`] backwards.
//!
//! Reference: Bruck, Ho, Kipnis, Upfal and Weathersby 1997, section 4, backwards. Cost and requirements are those of the all-gather;
//! the operation must commute.
//!
//! Memory: the partial results that pass through, in scratch memory.
//!
//! Correctness condition: that of the all-gather, backwards.

use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    formula: all_gather::bruck::reduce_scattered,
    form: Form::Backward(all_gather::bruck::write),
    ..all_gather::bruck::ALGORITHM
};
