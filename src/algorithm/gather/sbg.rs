//! Gather along the spanning balanced graph: [`scatter::sbg`] backwards.
//!
//! Reference: Ho and Johnsson 1988, sections 3 to 5. Cost, memory and correctness condition are those of the scatter;
//! the blocks of the nearest nodes arrive first, those of the farthest last.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::sbg::gathered,
    form: Form::Backward(scatter::sbg::write),
    ..scatter::sbg::ALGORITHM
};
