//! Reduce-scatter along N translated MSBT graphs: [`all_gather::msbt`] backwards.
//!
//! Algorithm: the contributions to part j of a block come together along tree j of the block's owner, from its leaves to its root.
//!
//! Reference: Ho and Johnsson 1986, section 3.2. Cost and correctness condition are those of the all-gather; the operation must commute.
//!
//! Memory: the partial results that pass through, in scratch memory.

use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    formula: all_gather::msbt::reduce_scattered,
    form: Form::Backward(all_gather::msbt::write),
    ..all_gather::msbt::ALGORITHM
};
