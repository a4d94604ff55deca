//! Quarter turn of submatrices by permuted send: [`permute::permuted_send`].
//!
//! Reference: Stout and Wagar 1990, sections 6 and 10. Any grid; slower than [`squares`](super::squares). Requirements, cost, memory
//! and correctness condition are those of the permutation.

use crate::algorithm::{permute, Algorithm};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::QuarterTurn,
    summary: "any grid of submatrices: no link is ever a bottleneck",
    ..permute::permuted_send::ALGORITHM
};
