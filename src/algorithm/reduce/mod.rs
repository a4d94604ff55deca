//! Reduce: the element-wise combination of all vectors, on the root. Every reduce is a broadcast backwards.

pub mod direct;
pub mod msbt;
pub mod sbt;
