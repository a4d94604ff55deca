//! All-gather along N translated spanning balanced n-trees (SBnT).
//!
//! Algorithm: every node broadcasts its block along the SBnT translated to it. With all ports round l - 1 carries the
//! blocks to their roots' level l; with one port the round of an edge is its label, and in every round all nodes
//! exchange across one dimension.
//!
//! Reference: Ho and Johnsson 1988, section 3 (corollary 3), 4 (variants), table 2 with erratum 19. M elements a block.
//!
//! Requirements: none.
//!
//! Cost: all-ports n rounds, each as long as its busiest dimension: (N-1)/n M t_c + n tau where all dimensions have
//! equally many edges at a level, which cyclic nodes prevent by a little ([`super::sbg`] attains it); one-port (N-1) M
//! t_c + (2n - 2) tau for n >= 2; one-way twice that.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: along each tree levels and labels grow; the label of an edge modulo n names its dimension.
//!
//! Example, n = 2, one port (labels: into 1: 0, into 3: 1, into 2: 1), node 0: round 0: own block to 1, gets block 1;
//! round 1: blocks 0 and 1 to 2, gets blocks 2 and 3.

use crate::algorithm::translated::Translated;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    name: "sbnt",
    summary: "all ports without cutting blocks: nearly equal shares for all links",
    source: "HJ88 SBnT",
    section: "3, 4, 5",
    variants: true,
    cost: "all-ports: about (N-1)/n M t_c + n tau; one-port: (N-1) M t_c + (2n - 2) tau (one-way: twice)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    Translated::sbnt(shape.n, &shape.parameters).formula(shape, false)
}

/// The cost of the reduce-scatter, which is the same backwards.
pub fn reduce_scattered(shape: &Shape) -> Formula {
    super::reduce_scattered(formula, shape)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    Translated::sbnt(problem.n, parameters).replicated(problem, node, route);
}
