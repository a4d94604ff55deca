//! Reduce along a Hamiltonian path: [`broadcast::hamiltonian_path`] backwards.
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
    summary: "very long vectors on a small cube: every node combines one vector with its own",
    formula: broadcast::hamiltonian_path::reduced,
    form: Form::Backward(broadcast::hamiltonian_path::write),
    ..broadcast::hamiltonian_path::ALGORITHM
};
