//! Gather: block of every rank to the root. Every gather is a scatter backwards.

pub mod sbnt;
pub mod sbt;
