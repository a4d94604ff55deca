//! Transposition by submatrices by permuted send: [`permute::permuted_send`].
//!
//! Reference: Stout and Wagar 1990, section 7.2, which takes it for comparison. Any grid; twice as long as
//! [`lc_inversion`](super::lc_inversion). Requirements, cost, memory and correctness condition are those of the permutation.

use crate::algorithm::{permute, Algorithm};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::TransposeSubmatrices,
    summary: "any grid of submatrices: no link is ever a bottleneck",
    ..permute::permuted_send::ALGORITHM
};
