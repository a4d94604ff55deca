//! Send through a subcube beside the two nodes, whole: [`xoc_send_2`] with one group.
//!
//! Reference: Stout and Wagar 1990, section 4, X.O.C. SEND 1. Cost: (2 d + K_(d-1))/d M t_c + (d + 2) tau, exact if lcm(1, ..., d)
//! divides M. Requirements, memory and correctness condition are those of the groups.

use super::xoc_send_2;
use crate::algorithm::{Algorithm, DEFAULTS};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "xoc_send_1",
    summary: "all ports: the part of a longer send that goes round the subcube of the two nodes",
    source: "SW X.O.C. SEND 1",
    packets: &[],
    cost: "(2 d + K_(d-1))/d M t_c + (d + 2) tau, d the distance, K_d = sum of 1/C(d, k)",
    flows: false,
    best_packet: DEFAULTS.best_packet,
    ..xoc_send_2::ALGORITHM
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: xoc_send_2::EXCHANGE.collective,
    name: "xoc_exchange_1",
    formula: xoc_send_2::EXCHANGE.formula,
    ..ALGORITHM
};
