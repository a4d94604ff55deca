//! Reduce along two opposite Hamiltonian paths: [`broadcast::hamiltonian_paths`] backwards.
//!
//! Reference: Ho and Johnsson 1986, section 1 ("the reverse operation, reduction") and 3.4. Cost and requirements are those of
//! the broadcast.
//!
//! Memory: the partial results of the packets under way, in scratch memory.
//!
//! Correctness condition: that of the broadcast, backwards. The Gray code does not go through the ranks in their order, so the
//! operation must commute.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary: "two opposite Hamiltonian paths: on all ports twice the rate of one",
    formula: broadcast::hamiltonian_paths::reduced,
    form: Form::Backward(broadcast::hamiltonian_paths::write),
    ..broadcast::hamiltonian_paths::ALGORITHM
};
