//! Gather along the perfectly balanced shortest-path tree: [`scatter::balanced_tree`] backwards.
//!
//! Reference: Bertsekas et al. 1991, section 3. Cost, memory and correctness condition are those of the scatter; the blocks of
//! the nearest nodes arrive first, those of the farthest last.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::balanced_tree::gathered,
    form: Form::Backward(scatter::balanced_tree::write),
    ..scatter::balanced_tree::ALGORITHM
};
