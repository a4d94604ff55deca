//! All-gather: block of every rank to all ranks.

pub mod complete_broadcast;
pub mod multinode_broadcast;
pub mod pairwise_xor;
pub mod sbg;
pub mod sbnt;
