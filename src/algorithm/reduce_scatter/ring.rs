//! Reduce-scatter round a ring of all ranks: [`all_gather::ring`] backwards.
//!
//! Reference: classic. Cost and requirements are those of the all-gather; the operation must commute.
//!
//! Memory: the partial result that is under way, in scratch memory.
//!
//! Correctness condition: that of the all-gather, backwards: what a rank receives it combines with its own and sends on.

use crate::algorithm::by_hosts::{scattered, Course};
use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    formula: |shape| scattered(Course::Ring, shape),
    form: Form::Backward(all_gather::ring::write),
    ..all_gather::ring::ALGORITHM
};
