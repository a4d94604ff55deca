//! Scatter along a tree of two levels: from host to host, then within each host.
//!
//! Algorithm: the root sends the leaders of other hosts, the farthest first, the blocks of all ranks below them in a 4-nomial tree; then
//! every leader sends each other rank of its host its block. See [`two_level`].
//!
//! Reference: classic k-nomial tree, on hosts.
//!
//! Requirements: a network where every two ranks are linked.
//!
//! Cost: H hosts of R ranks: (P - 1) M t_c + (c + R - 1) tau, c <= 3 ceil(log4 H) messages of the root to other hosts, which carry
//! (P - R) M; at most ceil(log4 H) + 1 hops.
//!
//! Memory: a leader keeps the blocks of the ranks below it.
//!
//! Correctness condition: what a leader is sent are the blocks of the subtrees that it sends later, and its host's.
//!
//! Example, 6 ranks, 2 on each of 3 hosts, root 0: blocks 4 5 to 4, then 2 3 to 2; then 1 to 1, 3 from 2 to 3 and 5 from 4 to 5.

use crate::algorithm::two_level::{self, blocks, Hosts};
use crate::algorithm::{broadcast, Algorithm, Form, Formula, Parameters, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    summary: "short blocks, hosts with several ranks: enters each host once, few hops",
    cost: "(P - 1) M t_c + (c + R - 1) tau, c <= 3 ceil(log4 H)",
    formula,
    crossing: Some(|shape| ((shape.size - shape.on_host.1) * shape.count) as f64),
    form: Form::Forward(write),
    ..broadcast::two_level::ALGORITHM
};

/// The cost of the scatter.
pub fn formula(shape: &Shape) -> Formula {
    let (tree, most, m) = (Hosts::new(shape.hosts), shape.on_host.0, shape.count);
    if m == 0 || shape.size == 1 {
        return Formula::NOTHING;
    }
    let largest = (tree.largest() * most).max(1);
    let path = tree.heaviest(&|positions| positions * most) + most.min(2) - 1;
    Formula {
        elements: ((shape.hosts * most - 1) * m) as f64,
        moved: ((most * tree.hops() + shape.size - shape.hosts) * m) as f64,
        load: (largest * m) as f64,
        scratch: ((largest - 1) * m) as f64,
        path: (path * m) as f64,
        ..two_level::formula(shape)
    }
}

/// The cost of the gather, which is the same backwards: the root receives all blocks.
pub fn gathered(shape: &Shape) -> Formula {
    let forward = formula(shape);
    Formula { path: forward.elements, ..forward }
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    two_level::write(problem, node, route, |places| blocks(problem, places).collect());
}
