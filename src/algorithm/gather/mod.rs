//! Gather: block of every rank to the root. Every gather is a scatter backwards.

pub mod balanced_tree;
pub mod bst;
pub mod direct;
pub mod distribute;
pub mod distribute_waves;
pub mod sbg;
pub mod sbnt;
pub mod sbt;
pub mod tcbt;
