//! Scatter by the root itself.
//!
//! Algorithm: the root sends every rank its block, the farthest first.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory; few ranks.
//!
//! Cost: (N - 1) (M t_c + tau) at the root; no block is sent twice.
//!
//! Memory: none besides the blocks.
//!
//! Correctness condition: every rank is sent its block.
//!
//! Example, 4 ranks, root 1: block 3 to 3, then 0 to 0, then 2 to 2.

use crate::algorithm::{broadcast, direct, Algorithm, Form, Lengths, Parameters, Route};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    summary: "where every pair of ranks is linked: every block travels once, straight to its rank",
    ordered: false,
    lengths: Lengths::Own,
    form: Form::Forward(write),
    ..broadcast::direct::ALGORITHM
};

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    direct::write(problem, node, route, |rank| problem.call.block(rank));
}
