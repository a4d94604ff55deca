//! All-to-all along N translated spanning balanced graphs (SBG).
//!
//! Algorithm: as [`super::sbnt`], but the blocks for cyclic nodes are cut into n/P parts, one for each of their
//! parents, so that every link of the cube carries the same at every level.
//!
//! Reference: Ho and Johnsson 1988, end of section 3, 4 (variants), table 2 with erratum 19. M elements a block, P the
//! period of the target's relative address.
//!
//! Requirements: none; the cost is exact where n divides M.
//!
//! Cost: all-ports N/2 M t_c + n tau; one-port n N/2 M t_c + (2n - 1) tau (node 1...1 is in subtree n-1 too); one-way
//! twice that.
//!
//! Memory: a node holds of every graph what is for its subtree, until it is sent on.
//!
//! Correctness condition: that of the SBnT in every subtree; cyclic nodes pass nothing on.
//!
//! Example, n = 2, all ports, node 0: round 0: (0 to 1) and half of (0 to 3) to node 1, (0 to 2) and the other half to
//! node 2; round 1: a half of (2 to 1) to node 1, of (1 to 2) to node 2.

use crate::algorithm::translated::Translated;
use crate::algorithm::{all_to_all, Algorithm, Form, Parameters, Route};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "sbg",
    summary: "all ports: every link carries the same in every round",
    source: "HJ88 SBG",
    cost: "all-ports: N/2 M t_c + n tau; one-port: n N/2 M t_c + (2n - 1) tau (one-way: twice)",
    formula: |shape| Translated::sbg(shape.n, &shape.parameters).formula(shape, true),
    form: Form::Forward(write),
    ..all_to_all::sbnt::ALGORITHM
};

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let item = |from: usize, to: usize| problem.block_between(from, to);
    Translated::sbg(problem.n, parameters).personalised(problem, node, route, item);
}
