//! Gather: block of every rank to the root. Every gather is a scatter backwards.

pub mod direct;
pub mod sbg;
pub mod sbnt;
pub mod sbt;
