//! Reduce by symmetrised recursive doubling: [`broadcast::recursive_doubling_symmetrized`] backwards.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 2, run in reverse (as their section 5 does with distributing). Cost and
//! requirements are those of the broadcast.
//!
//! Memory: the node's partial results of the packets under way, in scratch memory.
//!
//! Correctness condition: that of the broadcast, backwards: every rank contributes to each packet once, up one tree. The trees join
//! the ranks in different orders, so the operation must commute.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    formula: broadcast::recursive_doubling_symmetrized::reduced,
    form: Form::Backward(broadcast::recursive_doubling_symmetrized::write),
    ..broadcast::recursive_doubling_symmetrized::ALGORITHM
};
