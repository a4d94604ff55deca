//! Scatter: block i of the root's vector to rank i.

pub mod sbnt;
pub mod sbt;
