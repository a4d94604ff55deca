//! Gather along multiple spanning binomial trees: [`scatter::msbt`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 3.2. Cost, requirements, memory and correctness condition are those of the scatter; the
//! parts of all blocks set out together, and those of the farthest nodes arrive last.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::msbt::gathered,
    form: Form::Backward(scatter::msbt::write),
    ..scatter::msbt::ALGORITHM
};
