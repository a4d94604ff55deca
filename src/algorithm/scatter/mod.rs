//! Scatter: block i of the root's vector to rank i.

pub mod balanced_tree;
pub mod bst;
pub mod direct;
pub mod distribute;
pub mod distribute_waves;
pub mod sbg;
pub mod sbnt;
pub mod sbt;
pub mod tcbt;
