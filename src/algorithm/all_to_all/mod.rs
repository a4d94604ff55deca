//! All-to-all: a block from every rank to every rank.

pub mod complete_exchange;
pub mod pairwise_xor;
pub mod sbg;
pub mod sbnt;
pub mod total_exchange;
