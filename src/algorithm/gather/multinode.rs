//! Gather out of the multinode broadcast: of that, only what goes to the root; [`scatter::multinode`] backwards.
//!
//! Reference: Bertsekas et al. 1991, sections 2 and 3. Cost, memory and correctness condition are those of the scatter.

use crate::algorithm::{scatter, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Gather,
    formula: scatter::balanced_tree::gathered,
    form: Form::Backward(scatter::multinode::write),
    ..scatter::multinode::ALGORITHM
};
