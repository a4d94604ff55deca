//! Transposition by rows by direct exchange in XOR order: [`all_to_all::pairwise_xor`].
//!
//! Reference: classic. Requirements, cost, memory and correctness condition are those of the all-to-all.

use crate::algorithm::{all_to_all, Algorithm};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm =
    Algorithm { collective: Collective::TransposeRows, ..all_to_all::pairwise_xor::ALGORITHM };
