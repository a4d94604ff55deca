//! Send over all nodes between the two, whole: [`oc_send_4`] with one group.
//!
//! Reference: Stout and Wagar 1990, section 3, O.C. SEND 3. In round k the nodes at distance k from the sender each cut what they
//! hold into d - k equal packets, which are C(d - 1, k) times shorter than those of the first round. Cost: K_(d-1)/d M t_c + d
//! tau, exact if lcm(1, ..., d) divides M. Requirements, memory and correctness condition are those of the groups.

use super::oc_send_4;
use crate::algorithm::{Algorithm, DEFAULTS};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "oc_send_3",
    summary: "all ports: the rounds between the first and the last are short, as all nodes on the way share the load",
    source: "SW O.C. SEND 3",
    packets: &[],
    cost: "K_(d-1)/d M t_c + d tau, d the distance, K_d = sum of 1/C(d, k)",
    flows: false,
    best_packet: DEFAULTS.best_packet,
    ..oc_send_4::ALGORITHM
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: oc_send_4::EXCHANGE.collective,
    name: "oc_exchange_3",
    formula: oc_send_4::EXCHANGE.formula,
    ..ALGORITHM
};
