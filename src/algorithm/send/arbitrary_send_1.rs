//! Send between any two nodes over the subcube that they span: [`oc_send_4`].
//!
//! Reference: Stout and Wagar 1990, section 4, ARBITRARY SEND 1: O.C. SEND 4 on the subcube of which the two nodes are opposite
//! corners, the paper's n being the distance d. All else is said there.

use super::oc_send_4;
use crate::algorithm::Algorithm;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "arbitrary_send_1",
    summary: "all ports: over the shortest paths, which for near nodes leaves most of the sender's ports idle",
    source: "SW ARBITRARY SEND 1",
    section: "4",
    differs: "is oc_send_4 (oc_exchange_4)",
    ..oc_send_4::ALGORITHM
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: oc_send_4::EXCHANGE.collective,
    name: "arbitrary_exchange_1",
    formula: oc_send_4::EXCHANGE.formula,
    ..ALGORITHM
};
