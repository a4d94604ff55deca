//! Scatter along the spanning balanced graph (SBG), in its four variants.
//!
//! Algorithm: as the SBnT's reverse-breadth-first order, but the blocks of cyclic nodes are cut into n/P parts, one for
//! each of their parents, so that every subtree of the root carries the same: the blocks of the farthest nodes first,
//! level by level, through all ports at once. Where 2^k ranks of a host are a subcube, the graph is that of the cube of hosts, of n - k
//! dimensions, so that the links between hosts carry the same; within a host blocks go on along an SBT.
//!
//! Reference: Ho and Johnsson 1988, end of section 3, 4 (variants), 5; table 2 with errata 5 and 19. M elements a
//! block, P the period of the node's relative address.
//!
//! Requirements: none; the cost is exact where n - k divides M.
//!
//! Cost: (N - 2^k)/(n - k) M t_c + n tau, the least possible. The maximising variants have busier nodes than the root at level 2
//! from n = 6 on, as those of the SBnT.
//!
//! Memory: a relay holds the blocks of its subtree, each until it is sent on.
//!
//! Correctness condition: counted in parts, too, no node has more to pass on at any distance than its parent (Lemma 4;
//! the minimising variants), so that a node is done with a level when the next one arrives; and with the same tree below every node
//! (an SBT in every host) that stays so. Cyclic nodes pass nothing on.
//!
//! Example, n = 2, root 0: round 0: one half of block 3 to 1, the other to 2; round 1: block 1 to 1, block 2 to 2, and
//! both halves of block 3 to 3.

use crate::address::{binomial, mask, nodes_a_rank};
use crate::algorithm::translated::split_blocks;
use crate::algorithm::{Algorithm, Figure, Form, Formula, Lengths, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::{
    sbg::Sbg,
    sbnt::Variant::{MinLeftReversed, MinRight},
    sbt::Sbt,
    Tree,
};
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "sbg",
    summary: "all ports: the root's links carry equal shares, the least time possible",
    source: "HJ88 SBG",
    section: "3, 4, 5",
    differs: "where hosts are subcubes, the graph is that of the cube of hosts, with an SBT in each",
    variants: true,
    ports: &[PortModel::AllPorts],
    cost: "(N-1)/n M t_c + n tau",
    formula,
    lengths: Lengths::All,
    crossing: Some(crossing),
    form: Form::Forward(write),
    ..DEFAULTS
};

/// What leaves the root's host, at most: the blocks of all others, if its ranks are a subcube, else what its ranks send; twice that, where
/// ranks play two nodes.
fn crossing(shape: &Shape) -> f64 {
    let most = shape.on_host.0;
    let once = match shape.hosts_are_subcubes() {
        true => (shape.size - most) * shape.count,
        false => (most - 1) * load(shape) + (shape.nodes() - 1) * shape.count,
    };
    (nodes_a_rank(shape.size, true) * once) as f64
}

/// What each link of the root's host carries.
fn load(shape: &Shape) -> usize {
    split_blocks(shape.n - shape.near(), shape.count) << shape.near()
}

/// The cost of the scatter; a block that is cut into p parts has parts of at most ceil(M/p).
pub fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let (m, nodes) = (count as f64, shape.nodes() as f64);
    let load = load(shape) as f64;
    let elements = if matches!(parameters.variant, MinRight | MinLeftReversed) {
        load
    } else {
        // By distance: what the root sends to subtree 0, or a node of level 1 to a child, if that is more.
        let (graph, near) = (Sbg::new(n - shape.near(), parameters.variant), shape.near());
        let levels = |c: usize| {
            let mut sizes = vec![0; n as usize];
            for (w, level) in graph.subtree(c, 0) {
                let part = graph.share(w, 0).map_or(0, |share| count.div_ceil(share.parts as usize));
                (0..=near).for_each(|down| sizes[(level + down) as usize] += binomial(near, down) * part);
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
    .at_most(
        &[Figure::Elements, Figure::Load, Figure::Scratch, Figure::Path],
        count.is_multiple_of((n - shape.near()) as usize),
    )
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
    let (n, root, near) = (problem.n, problem.root, problem.near());
    if n == 0 {
        return;
    }
    let (graph, mates) = (Sbg::new(n - near, parameters.variant), Sbt::new(near));
    route.set_rounds(n as usize);
    let (host, place) = ((node ^ root) >> near, (node ^ root) & mask(near));
    // By distance from the node that they enter: blocks of level l leave the root in round n - l and enter a node of level k in round
    // n - l + k - 1.
    let in_rounds = |pieces: &mut dyn Iterator<Item = (u32, Range<usize>)>| {
        let mut levels: Vec<Vec<Range<usize>>> = vec![Vec::new(); n as usize];
        pieces.for_each(|(down, piece)| levels[down as usize].push(piece));
        levels.into_iter().enumerate().map(move |(down, pieces)| (n as usize - 1 - down, pieces))
    };
    let block = |host: usize, place: usize| problem.block((host << near | place) ^ root);
    // What enters a host through subtree j, and what enters another place of this host.
    let from_host = |host: usize, j: u32| {
        let (shares, mates) = (graph.subtree(host, j), &mates);
        let shares = shares.filter_map(|(w, level)| Some((w, level, graph.share(w, j)?)));
        in_rounds(&mut shares.flat_map(|(w, level, share)| {
            mates.subtree(0).map(move |(place, down)| {
                (level + down, part(block(w, place), share.index as usize, share.parts as usize))
            })
        }))
    };
    let from_mate = |place: usize| in_rounds(&mut mates.subtree(place).map(|(mate, down)| (down, block(host, mate))));
    if let Some(parent) = mates.parent_port(place) {
        from_mate(place).for_each(|(round, pieces)| route.receive(round, node ^ 1 << parent, pieces));
    }
    for port in mates.child_ports(place) {
        from_mate(place ^ 1 << port).for_each(|(round, pieces)| route.send(round, node ^ 1 << port, pieces));
    }
    for j in graph.subtrees(host).filter(|_| place == 0) {
        if let Some(port) = graph.parent_port(host, j) {
            from_host(host, j).for_each(|(round, pieces)| route.receive(round, node ^ 1 << (port + near), pieces));
        }
        for port in graph.child_ports(host, j) {
            let child = node ^ 1 << (port + near);
            from_host(host ^ 1 << port, j).for_each(|(round, pieces)| route.send(round, child, pieces));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::address::Hosts;
    use crate::algorithm::{registry, verify::verify, Parameters, PortModel};
    use crate::collective::{Call, Collective};
    use crate::topology::sbnt::Variant;

    /// Hosts with 2 to 16 ranks each: the links of the root's host carry equal shares, and all figures are those of the row.
    #[test]
    fn links_of_hosts_carry_equal_shares() {
        let shapes = (1..=6u32).flat_map(|m| (1..=4u32).map(move |k| (m, k))).filter(|(m, k)| m + k <= 7);
        for (m, k) in shapes {
            let (hosts, size) = (Hosts::with_ranks(&vec![1 << k; 1 << m], m % 2 == 0), 1 << (m + k));
            for (count, variant) in
                [60, 1, 7].into_iter().flat_map(|count| Variant::ALL.map(|variant| (count, variant)))
            {
                for collective in [Collective::Scatter, Collective::Gather] {
                    let algorithm = registry::find(collective, "sbg").expect("in the registry");
                    let call = Call { hosts: hosts.clone(), ..Call::new(collective, size, count).with_root(size - 2) };
                    let parameters = Parameters { variant, symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
                    let report = verify(algorithm, &call, &parameters);
                    assert_eq!(report.violations, [], "{algorithm:?} m {m} k {k} {count} {variant}");
                    // What all ports of the root's host carry is no more than the blocks of other hosts.
                    if count.is_multiple_of(m as usize) {
                        assert_eq!(report.cost.max_link_load * m as usize, (size - (1 << k)) * count);
                    }
                }
            }
        }
    }
}
