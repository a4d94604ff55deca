//! All-gather: block of every rank to all ranks.

pub mod complete_broadcast;
