//! Reduce along trees for a latency: [`broadcast::postal`] backwards.
//!
//! Reference: Bar-Noy and Kipnis 1992, section 3 (BK92); Karp, Sahay, Santos and Schauser 1993, on summation, where additions take no
//! time. Cost and requirements are those of the broadcast.
//!
//! Memory: one vector a child, and a leader's partial result, in scratch memory.
//!
//! Correctness condition: a rank combines what its children send, the last one of the broadcast first, before it sends to its own parent.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary: "short vectors: a rank receives while others are under way; leaves each host once",
    formula: broadcast::postal::reduced,
    form: Form::Backward(broadcast::postal::write),
    ..broadcast::postal::ALGORITHM
};
