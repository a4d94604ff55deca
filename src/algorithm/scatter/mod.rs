//! Scatter: block i of the root's vector to rank i.

pub mod direct;
pub mod sbg;
pub mod sbnt;
pub mod sbt;
