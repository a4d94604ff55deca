//! Transposition by rows by direct exchange in XOR order: [`all_to_all::pairwise_xor`].
//!
//! Reference: classic. Requirements, cost, memory and correctness condition are those of the all-to-all.

use crate::algorithm::{all_to_all, Algorithm, DEFAULTS};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::TransposeRows,
    // There is no other that sends every block straight to its target.
    among_hosts: DEFAULTS.among_hosts,
    ..all_to_all::pairwise_xor::ALGORITHM
};
