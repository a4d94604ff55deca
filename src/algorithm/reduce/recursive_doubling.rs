//! Reduce by recursive doubling: [`broadcast::recursive_doubling`] backwards.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 1, run in reverse (as their section 5 does with distributing). Cost and
//! requirements are those of the broadcast.
//!
//! Memory: the node's partial result and one vector a child, in scratch memory.
//!
//! Correctness condition: a node combines what its children send, dimension n - 1 first, before it sends to its parent. With ranks
//! hosted in order the dimensions join neighbouring intervals of ranks, so operations that do not commute are combined in rank
//! order.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    formula: broadcast::recursive_doubling::reduced,
    form: Form::Backward(broadcast::recursive_doubling::write),
    ..broadcast::recursive_doubling::ALGORITHM
};
