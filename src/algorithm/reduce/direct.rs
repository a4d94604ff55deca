//! Reduce by the root itself: [`broadcast::direct`] backwards.
//!
//! Reference: classic. Cost and requirements are those of the broadcast.
//!
//! Memory: the vectors of the ranks that have arrived, in scratch memory.
//!
//! Correctness condition: the root combines the vectors of the nearest ranks first, on either side, so that its partial
//! result is always that of an interval of ranks: operations that do not commute are combined in rank order.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary: "short vectors of few ranks that share a memory",
    formula: broadcast::direct::reduced,
    form: Form::Backward(broadcast::direct::write),
    ..broadcast::direct::ALGORITHM
};
