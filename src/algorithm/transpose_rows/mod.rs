//! Transposition of a matrix stored by rows: a block from every rank to every rank.

pub mod complete_exchange;
pub mod pairwise_xor;
