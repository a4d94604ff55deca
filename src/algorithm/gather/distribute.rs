//! Gather by opposite-corner sends from every node at once ("collecting"): [`scatter::distribute`] backwards.
//!
//! Reference: Stout and Wagar 1990, section 5 ("its dual operation, collecting"). Cost, memory and correctness condition are those
//! of the scatter: all blocks set out in the first round, and the farthest arrive in the last.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::distribute::gathered,
    form: Form::Backward(scatter::distribute::write),
    ..scatter::distribute::ALGORITHM
};
