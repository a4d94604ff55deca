//! Reduce-scatter along N trees at once: the multinode broadcast, [`all_gather::multinode_broadcast`], backwards.
//!
//! Algorithm: the contributions to block i flow up node i's copy of the tree, and are combined where branches meet.
//!
//! Reference: Bertsekas et al. 1991, section 2; the reversal is ours. Cost, requirements and correctness condition are those of
//! the all-gather. Trees join ranks in different orders, so the operation must commute.
//!
//! Memory: the partial results that pass through, in scratch memory.

use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    differs: "the paper broadcasts; backwards is ours",
    formula: all_gather::multinode_broadcast::reduce_scattered,
    form: Form::Backward(all_gather::multinode_broadcast::write),
    ..all_gather::multinode_broadcast::ALGORITHM
};
