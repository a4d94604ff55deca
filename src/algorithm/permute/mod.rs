//! Permute: the vector of rank i to rank p(i), for a permutation p known to all.

pub mod direct;
pub mod inversion;
pub mod permuted_send;
