//! Gather along the spanning balanced n-tree: [`scatter::sbnt`] backwards.
//!
//! Reference: Ho and Johnsson 1988, section 5. Cost, memory and correctness condition are those of the scatter; the blocks of
//! the nearest nodes arrive first, those of the farthest last.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    form: Form::Backward(scatter::sbnt::write),
    ..scatter::sbnt::ALGORITHM
};
