//! Reduce along trees in which no rank receives more than two messages: [`broadcast::binary`] backwards.
//!
//! Reference: Sanders and Sibeyn 2003, section 3 (SS03). Cost and requirements are those of the broadcast.
//!
//! Memory: one vector a child, and a leader's partial result, in scratch memory.
//!
//! Correctness condition: a rank combines what its children send, the second one of the broadcast first, before it sends to its own parent.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary: "rather short vectors, any number of ranks: two children at most, so that no port is held up",
    formula: broadcast::binary::reduced,
    form: Form::Backward(broadcast::binary::write),
    ..broadcast::binary::ALGORITHM
};
