//! Reduce along the spanning binomial tree: [`broadcast::sbt`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 1 ("the reverse operation, reduction") and 3.3.1. Cost and requirements are those
//! of the broadcast.
//!
//! Memory: one packet a child, and the node's partial result, in scratch memory.
//!
//! Correctness condition: a node combines what its children send, dimension n - 1 first, before it sends to its parent. Each
//! rank's contribution goes up the tree once. With ranks hosted in order ([`crate::address::Hosting`]) the dimensions join
//! neighbouring intervals of ranks, so operations that do not commute are combined in rank order.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    formula: broadcast::sbt::reduced,
    form: Form::Backward(broadcast::sbt::write),
    ..broadcast::sbt::ALGORITHM
};
