//! Gather along a tree of two levels: [`scatter::two_level`] backwards.
//!
//! Reference: classic k-nomial tree, on hosts. Cost, requirements, memory and correctness condition are those of the scatter.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    summary: "short blocks, hosts with several ranks: leaves each host once, few hops",
    formula: scatter::two_level::gathered,
    form: Form::Backward(scatter::two_level::write),
    ..scatter::two_level::ALGORITHM
};
