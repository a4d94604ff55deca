//! Transposition of a matrix stored by submatrices on a grid of ranks: a permutation of the submatrices.

pub mod direct;
pub mod lc_inversion;
pub mod permuted_send;
