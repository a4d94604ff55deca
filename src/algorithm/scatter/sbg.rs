//! Scatter along the spanning balanced graph (SBG), in its four variants.
//!
//! Algorithm: as the SBnT's reverse-breadth-first order, but the blocks of cyclic nodes are cut into n/P parts, one for
//! each of their parents, so that every subtree of the root carries the same: the blocks of the farthest nodes first,
//! level by level, through all ports at once.
//!
//! Reference: Ho and Johnsson 1988, end of section 3, 4 (variants), 5; table 2 with errata 5 and 19. M elements a
//! block, P the period of the node's relative address.
//!
//! Requirements: none; the cost is exact where n divides M.
//!
//! Cost: (N-1)/n M t_c + n tau, the least possible. The maximising variants have busier nodes than the root at level 2
//! from n = 6 on, as those of the SBnT.
//!
//! Memory: a relay holds the blocks of its subtree, each until it is sent on.
//!
//! Correctness condition: counted in parts, too, no node has more to pass on at any distance than its parent (Lemma 4;
//! the minimising variants), so that a node is done with a level when the next one arrives. Cyclic nodes pass nothing
//! on.
//!
//! Example, n = 2, root 0: round 0: one half of block 3 to 1, the other to 2; round 1: block 1 to 1, block 2 to 2, and
//! both halves of block 3 to 3.

use crate::algorithm::translated::{split_blocks, splits_evenly};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Lengths, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::{
    sbg::Sbg,
    sbnt::Variant::{MinLeftReversed, MinRight},
};
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "sbg",
    summary: "all ports: the root's links carry equal shares, the least time possible",
    source: "HJ88 SBG",
    section: "3, 4, 5",
    variants: true,
    ports: &[PortModel::AllPorts],
    cost: "(N-1)/n M t_c + n tau",
    formula,
    lengths: Lengths::All,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the scatter; a block that is cut into p parts has parts of at most ceil(M/p).
pub fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let (m, nodes) = (count as f64, shape.nodes() as f64);
    let load = split_blocks(n, count) as f64;
    let elements = if matches!(parameters.variant, MinRight | MinLeftReversed) {
        load
    } else {
        // By distance: what the root sends to subtree 0, or a node of level 1 to a child, if that is more.
        let graph = Sbg::new(n, parameters.variant);
        let levels = |c: usize| {
            let mut sizes = vec![0; n as usize];
            for (w, level) in graph.subtree(c, 0) {
                sizes[level as usize] += graph.share(w, 0).map_or(0, |share| count.div_ceil(share.parts as usize));
            }
            sizes
        };
        let top = graph.top(0);
        let below: Vec<Vec<usize>> = graph.child_ports(top, 0).iter().map(|port| levels(top ^ 1 << port)).collect();
        let own = levels(top).into_iter().enumerate();
        own.map(|(d, own)| below.iter().map(|sizes| sizes[d]).fold(own, usize::max)).sum::<usize>() as f64
    };
    Formula {
        rounds: n as usize,
        elements,
        moved: f64::from(n) * nodes / 2.0 * m,
        load,
        scratch: load - m,
        hops: n as usize,
        // Where nodes of level 2 are busier than the root, data waits for them.
        path: elements,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Path], elements == load)
    .at_most(&[Figure::Elements, Figure::Load, Figure::Scratch, Figure::Path], splits_evenly(shape))
}

/// The cost of the gather, which is the same backwards: the root receives all blocks.
pub fn gathered(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if forward == Formula::NOTHING {
        return forward;
    }
    forward.with_path(((shape.nodes() - 1) * shape.count) as f64, true)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let (n, root) = (problem.n, problem.root);
    let graph = Sbg::new(n, parameters.variant);
    route.set_rounds(n as usize);
    let c = node ^ root;
    // What enters node c through subtree j: blocks of level l leave the root in round n - l and enter a node of level k in
    // round n - l + k - 1.
    let entering = |c: usize, j: u32| {
        let graph = &graph;
        let mut levels: Vec<Vec<Range<usize>>> = vec![Vec::new(); n as usize];
        for (w, down) in graph.subtree(c, j) {
            if let Some(share) = graph.share(w, j) {
                let piece = part(problem.block(w ^ root), share.index as usize, share.parts as usize);
                levels[down as usize].push(piece);
            }
        }
        levels.into_iter().enumerate().map(move |(down, pieces)| (n as usize - 1 - down, pieces))
    };
    for j in graph.subtrees(c) {
        if let Some(port) = graph.parent_port(c, j) {
            for (round, pieces) in entering(c, j) {
                route.receive(round, node ^ 1 << port, pieces);
            }
        }
        for port in graph.child_ports(c, j) {
            for (round, pieces) in entering(c ^ 1 << port, j) {
                route.send(round, node ^ 1 << port, pieces);
            }
        }
    }
}
