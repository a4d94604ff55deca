//! Reduce along a tree of two levels: [`broadcast::two_level`] backwards.
//!
//! Reference: classic k-nomial tree, on hosts. Cost and requirements are those of the broadcast.
//!
//! Memory: one vector a child, and a leader's partial result, in scratch memory.
//!
//! Correctness condition: a leader combines what the other ranks of its host send, then what other leaders send, before it sends to its own
//! leader. Each rank's contribution goes up the tree once.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary: "short vectors, hosts with several ranks: one leaves each host, few hops",
    formula: broadcast::two_level::reduced,
    form: Form::Backward(broadcast::two_level::write),
    ..broadcast::two_level::ALGORITHM
};
