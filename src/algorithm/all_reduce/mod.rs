//! All-reduce: the element-wise combination of all vectors, on all ranks.

pub mod direct;
pub mod histogram;
pub mod recursive_doubling;
pub mod sbt;
pub mod tcbt;
