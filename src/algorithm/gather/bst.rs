//! Gather along the balanced spanning tree (BST) of 1986: [`scatter::bst`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 4.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::sbnt::gathered,
    form: Form::Backward(scatter::sbnt::write),
    ..scatter::bst::ALGORITHM
};
