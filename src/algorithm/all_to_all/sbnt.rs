//! All-to-all along N translated spanning balanced n-trees (SBnT).
//!
//! Algorithm: every node scatters its blocks along the SBnT translated to it; all that is for the nodes at and below an
//! edge crosses it at once. With all ports the edges into level l are used in round l - 1; with one port the round of
//! an edge is its label, and in every round all nodes exchange across one dimension.
//!
//! Reference: Ho and Johnsson 1988, sections 3 and 4 (variants), table 2 with erratum 19. M elements a block.
//!
//! Requirements: none.
//!
//! Cost: all-ports n rounds, each as long as its busiest dimension: N/2 M t_c + n tau where all dimensions have equally
//! much below them, which cyclic nodes prevent by a little ([`super::sbg`] attains it); one-port n N/2 M t_c + (2n - 2)
//! tau for n >= 2; one-way twice that.
//!
//! Memory: a node holds of every tree what is for its subtree, until it is sent on.
//!
//! Correctness condition: along each tree levels and labels grow; the label of an edge modulo n names its dimension.
//!
//! Example, n = 2, one port (labels: into 1: 0, into 3: 1, into 2: 1), node 0: round 0: (0 to 1) and (0 to 3) to node
//! 1, gets (1 to 0) and (1 to 2); round 1: (0 to 2) and (1 to 2) to node 2, gets (2 to 0) and (3 to 0).

use crate::algorithm::translated::Translated;
use crate::algorithm::{Algorithm, Form, Parameters, Route, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllToAll,
    name: "sbnt",
    summary: "all ports without cutting blocks: nearly equal shares for all links",
    source: "HJ88 SBnT",
    section: "3, 4, 5",
    variants: true,
    cost: "all-ports: about N/2 M t_c + n tau; one-port: n N/2 M t_c + (2n - 2) tau (one-way: twice)",
    // With several ranks a host, how long links stand still is not known: blocks of 64 KiB on a cube of 8 hosts of 2 ranks took 197 ms, 178 by
    // `complete_exchange`, where of both 188 were predicted.
    among_hosts: |_, (most, _)| most > 1,
    formula: |shape| Translated::sbnt(shape.n, &shape.parameters).formula(shape, true),
    form: Form::Forward(write),
    ..DEFAULTS
};

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let item = |from: usize, to: usize| problem.block_between(from, to);
    Translated::sbnt(problem.n, parameters).personalised(problem, node, route, item);
}
