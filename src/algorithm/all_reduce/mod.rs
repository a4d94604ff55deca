//! All-reduce: the element-wise combination of all vectors, on all ranks.

pub mod histogram;
pub mod sbt;
