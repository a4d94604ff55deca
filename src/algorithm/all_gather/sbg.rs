//! All-gather along N translated spanning balanced graphs (SBG).
//!
//! Algorithm: as [`super::sbnt`], but the blocks for cyclic nodes are cut into n/P parts, one for each of their
//! parents, so that every link of the cube carries the same at every level.
//!
//! Reference: Ho and Johnsson 1988, end of section 3, 4 (variants), table 2 with erratum 19. M elements a block, P the
//! period of the node's relative address.
//!
//! Requirements: none; the cost is exact where n divides M.
//!
//! Cost: all-ports (N-1)/n M t_c + n tau; one-port (N-1) M t_c + (2n - 1) tau (node 1...1 is in subtree n-1 too);
//! one-way twice that.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: that of the SBnT in every subtree; cyclic nodes pass nothing on.
//!
//! Example, n = 2, all ports, node 0: round 0: own block to 1 and 2, gets blocks 1 and 2; round 1: half of block 2 to
//! 1, the other half of block 1 to 2, and a half of block 3 from each.

use crate::algorithm::translated::Translated;
use crate::algorithm::{all_gather, Algorithm, Form, Formula, Parameters, Route, Shape};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "sbg",
    summary: "all ports: every link carries the same in every round",
    source: "HJ88 SBG",
    cost: "all-ports: (N-1)/n M t_c + n tau; one-port: (N-1) M t_c + (2n - 1) tau (one-way: twice)",
    formula,
    form: Form::Forward(write),
    ..all_gather::sbnt::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    Translated::sbg(shape.n, &shape.parameters).formula(shape, false)
}

/// The cost of the reduce-scatter, which is the same backwards.
pub fn reduce_scattered(shape: &Shape) -> Formula {
    super::reduce_scattered(formula, shape)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    Translated::sbg(problem.n, parameters).replicated(problem, node, route);
}
