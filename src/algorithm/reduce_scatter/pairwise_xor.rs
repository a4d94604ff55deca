//! Reduce-scatter by direct exchange in XOR order: [`all_gather::pairwise_xor`] backwards.
//!
//! Reference: classic. Cost, requirements and correctness condition are those of the all-gather. A block's owner combines what
//! the others contribute, in XOR order, so the operation must commute.
//!
//! Memory: the blocks that have arrived, in scratch memory.

use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    summary: "long blocks where every pair of ranks is linked: contributions go straight to the block's owner",
    formula: all_gather::pairwise_xor::reduce_scattered,
    form: Form::Backward(all_gather::pairwise_xor::write),
    ..all_gather::pairwise_xor::ALGORITHM
};
