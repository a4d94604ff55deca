//! Reduce-scatter: the element-wise combination of all vectors, block i on rank i.

pub mod histogram;
pub mod multinode_broadcast;
pub mod pairwise_xor;
pub mod sbg;
pub mod sbnt;
