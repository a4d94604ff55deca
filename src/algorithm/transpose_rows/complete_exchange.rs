//! Transposition by rows by complete exchange: [`all_to_all::complete_exchange`].
//!
//! Reference: Stout and Wagar 1990, section 7.1. However the rows are dealt out, as long as evenly, every node has a block of an
//! N x N matrix for every other, m = N^2 / 2^(2n) elements: the time is N^2 t_c / 2^(n+1) + n tau. Requirements, memory and
//! correctness condition are those of the all-to-all.

use crate::algorithm::{all_to_all, Algorithm};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::TransposeRows,
    source: "SW MATRIX TRANSPOSITION",
    section: "7.1",
    ..all_to_all::complete_exchange::ALGORITHM
};
