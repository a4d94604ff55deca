//! Gather by the root itself: [`scatter::direct`] backwards.
//!
//! Reference: classic. Cost, memory and correctness condition are those of the scatter.

use crate::algorithm::{broadcast, scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: broadcast::direct::gathered,
    form: Form::Backward(scatter::direct::write),
    ..scatter::direct::ALGORITHM
};
