//! Gather along the spanning binomial tree: [`scatter::sbt`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 4.2.1 ("the reverse operation"). Cost, memory and correctness condition are those
//! of the scatter; a node's blocks wait for those of its subtree.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::sbt::gathered,
    form: Form::Backward(scatter::sbt::write),
    ..scatter::sbt::ALGORITHM
};
