//! Gather along the two-rooted complete binary tree: [`scatter::tcbt`] backwards.
//!
//! Reference: Ho and Johnsson 1986, sections 4 ("the reverse operation") and 4.3. Cost, memory and correctness condition are
//! those of the scatter; with all ports, the blocks of the nearest nodes arrive first.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::tcbt::gathered,
    form: Form::Backward(scatter::tcbt::write),
    ..scatter::tcbt::ALGORITHM
};
