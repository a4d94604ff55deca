//! Reduce along a Hamiltonian path with the root in its middle: [`broadcast::hamiltonian_path_middle`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 1 ("the reverse operation, reduction") and 3.4. Cost and requirements are those of
//! the broadcast.
//!
//! Memory: the partial result of the packet under way, in scratch memory.
//!
//! Correctness condition: that of the broadcast, backwards. The Gray code does not go through the ranks in their order, so the
//! operation must commute.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary: "the Hamiltonian path to its middle, from both ends: half the delay, on one port half the rate",
    formula: broadcast::hamiltonian_path_middle::reduced,
    form: Form::Backward(broadcast::hamiltonian_path_middle::write),
    ..broadcast::hamiltonian_path_middle::ALGORITHM
};
