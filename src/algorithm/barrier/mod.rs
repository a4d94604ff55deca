//! Barrier: no rank leaves before all have entered.

pub mod central;
pub mod direct;
pub mod dissemination;
