//! Reduce by pipelined waves: [`broadcast::pipelined_wave`] backwards.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 4, run in reverse (as their section 5 does with distributing). Cost and
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
    formula: broadcast::pipelined_wave::reduced,
    form: Form::Backward(broadcast::pipelined_wave::write),
    ..broadcast::pipelined_wave::ALGORITHM
};
