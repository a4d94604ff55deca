//! Reduce along multiple spanning binomial trees: [`broadcast::msbt`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 1 ("the reverse operation, reduction") and 3.3.2. Cost and requirements are those
//! of the broadcast.
//!
//! Memory: the node's partial results of the packets under way, in scratch memory.
//!
//! Correctness condition: that of the broadcast, backwards. The trees join the ranks in n different orders, so the operation
//! must commute.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary: "long vectors: n times the rate of the SBT, on one port as well as on all",
    formula: broadcast::msbt::reduced,
    form: Form::Backward(broadcast::msbt::write),
    ..broadcast::msbt::ALGORITHM
};
