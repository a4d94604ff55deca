//! Gather along the spanning balanced n-tree: [`scatter::sbnt`] backwards.
//!
//! Reference: Ho and Johnsson 1988, sections 4 and 5. Orders, variants, cost, memory and correctness condition are
//! those of the scatter; what the root of the scatter sends first arrives last (so postorder becomes preorder).

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::sbnt::gathered,
    form: Form::Backward(scatter::sbnt::write),
    ..scatter::sbnt::ALGORITHM
};
