//! Quarter turn of submatrices by direct messages: [`permute::direct`].
//!
//! Reference: classic. Requirements, cost, memory and correctness condition are those of the permutation.

use crate::algorithm::{permute, Algorithm};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm { collective: Collective::QuarterTurn, ..permute::direct::ALGORITHM };
