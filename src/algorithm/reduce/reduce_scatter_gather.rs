//! Reduce by a reduce-scatter of the vector's parts and a gather: [`broadcast::scatter_all_gather`] backwards.
//!
//! Reference: Rabenseifner 2004, long vectors. Cost and requirements are those of the broadcast; the operation must commute.
//!
//! Memory: the root's, 2 (1 - 2^-n) M elements that it combines with what it has; M less if its result lies elsewhere.
//!
//! Correctness condition: what the broadcast brings to each rank once, goes from it once, combined with what it has got.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    name: "reduce_scatter_gather",
    source: "Rabenseifner 2004",
    differs: "a rank sends each element once, and so the root none of them",
    formula: broadcast::scatter_all_gather::reduced,
    shared_port: 1.0,
    form: Form::Backward(broadcast::scatter_all_gather::write),
    ..broadcast::scatter_all_gather::ALGORITHM
};
