//! Gather by waves of packets: [`scatter::distribute_waves`] backwards.
//!
//! Reference: Stout and Wagar 1990, section 5 ("its dual operation, collecting"). Cost, memory and correctness condition are those
//! of the scatter: wavelets join in C_1 to packets that grow by r from wave to wave.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::distribute_waves::gathered,
    form: Form::Backward(scatter::distribute_waves::write),
    ..scatter::distribute_waves::ALGORITHM
};
