//! A collective call seen from the cube: nodes instead of ranks.

use crate::address::{Hosting, Hosts};
use crate::collective::Call;
use std::ops::Range;

/// What an algorithm sees of a call: a cube of dimension [`Problem::n`] and blocks by node.
///
/// Nodes without a rank of their own have empty blocks.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'c> {
    /// The call.
    pub call: &'c Call,
    /// Which rank plays which node.
    pub hosting: Hosting<'c>,
    /// Dimension of the cube.
    pub n: u32,
    /// The node of the root, 0 where there is none.
    pub root: usize,
    /// The node of the other rank of a send or exchange, 0 where there is none.
    pub peer: usize,
}

impl<'c> Problem<'c> {
    /// The problem of a call.
    pub fn new(call: &'c Call) -> Problem<'c> {
        let hosting = Hosting::on(call.size, call.in_order_of_nodes(), call.placing());
        Problem { call, hosting, n: hosting.dimension(), root: hosting.node(call.root), peer: hosting.node(call.peer) }
    }

    /// Number of nodes, 2^n.
    pub fn nodes(&self) -> usize {
        1 << self.n
    }

    /// k: the lowest dimensions of the cube, those within a host where the ranks of every host are a subcube.
    pub fn near(&self) -> u32 {
        self.call.placing().map_or(0, Hosts::near)
    }

    /// The number of hosts; as many as ranks where nothing is known of them.
    pub fn hosts(&self) -> usize {
        self.call.host_count()
    }

    /// The place of a rank, as it is seen from the nodes.
    pub fn place(&self, rank: usize) -> usize {
        self.call.placing().map_or(rank, |hosts| hosts.place(rank))
    }

    /// The places of a host's ranks. Nodes and places are the same for operations that commute.
    pub fn places_of(&self, host: usize) -> Range<usize> {
        self.call.hosts.as_ref().map_or(host..host + 1, |hosts| hosts.places_of(host))
    }

    /// Ranks of the host that has the most, the first one, and of the one that has the fewest, the last.
    pub fn most_and_fewest(&self) -> (usize, usize) {
        self.call.hosts.as_ref().map_or((1, 1), Hosts::most_and_fewest)
    }

    /// The host at a place.
    pub fn host_at(&self, place: usize) -> usize {
        self.call.hosts.as_ref().map_or(place, |hosts| hosts.host(place))
    }

    /// The block of a node.
    pub fn block(&self, node: usize) -> Range<usize> {
        self.hosting.owner(node).map_or(0..0, |rank| self.call.block(rank))
    }

    /// The blocks of the ranks at some places, in this order, where every rank has one and nodes are places: those side by side as one.
    pub fn blocks(&self, places: Range<usize>) -> Vec<Range<usize>> {
        let mut blocks: Vec<Range<usize>> = Vec::new();
        let mut at = places.start;
        while at < places.end {
            let end = self.in_a_row(at, places.end);
            let block = self.block(at).start..self.block(end - 1).end;
            match blocks.last_mut() {
                Some(last) if last.end == block.start => last.end = block.end,
                _ => blocks.push(block),
            }
            at = end;
        }
        blocks
    }

    /// Up to where the ranks at places from `at` on follow one another, as well as their blocks, as far as that is known at once.
    fn in_a_row(&self, at: usize, end: usize) -> usize {
        if self.call.layout.is_some() || self.call.in_order_of_nodes() {
            return at + 1;
        }
        let Some(hosts) = self.call.placing() else { return end };
        // The ranks of a host are ascending.
        let end = hosts.places(at).end.min(end);
        let follow = hosts.rank(end - 1) - hosts.rank(at) == end - 1 - at;
        if follow {
            end
        } else {
            at + 1
        }
    }

    /// The block from one node to another (all-to-all).
    pub fn block_between(&self, from: usize, to: usize) -> Range<usize> {
        match (self.hosting.owner(from), self.hosting.owner(to)) {
            (Some(from), Some(to)) => self.call.block_between(from, to),
            _ => 0..0,
        }
    }

    /// The block from a node to its neighbour across a port; empty where one of them has no rank of its own.
    pub fn block_over(&self, from: usize, port: u32) -> Range<usize> {
        match (self.hosting.owner(from), self.hosting.owner(from ^ 1 << port)) {
            (Some(rank), Some(_)) => self.call.block(rank * self.n as usize + port as usize),
            _ => 0..0,
        }
    }

    /// Whether a message between two nodes would go over a link that must carry nothing.
    pub fn avoids(&self, from: usize, to: usize) -> bool {
        self.call.avoid.as_ref().is_some_and(|avoid| avoid.contains(self.hosting.host(from), self.hosting.host(to)))
    }

    /// The cube edges that must carry nothing, each from both of its nodes.
    pub fn avoided_edges(&self) -> Vec<(usize, usize)> {
        let ends = self.call.avoid.iter().flat_map(|avoid| avoid.links()).flat_map(|(a, b)| [a, b]);
        let own = ends.map(|rank| self.hosting.node(rank));
        let nodes = own.flat_map(|node| std::iter::once(node).chain(self.hosting.twin(node)));
        let edges = nodes.flat_map(|node| (0..self.n).map(move |port| (node, node ^ 1 << port)));
        edges.filter(|&(from, to)| self.avoids(from, to)).collect()
    }

    /// The vector of the root (`false`) or of its peer (`true`) of a send or exchange.
    pub fn vector_of(&self, peer: bool) -> Range<usize> {
        self.call.block(usize::from(peer))
    }

    /// The whole vector (broadcast, reduce, send).
    pub fn vector(&self) -> Range<usize> {
        self.call.space()
    }

    /// For permutations: the node to which the vector of `node` goes.
    pub fn target(&self, node: usize) -> Option<usize> {
        let rank = self.hosting.owner(node)?;
        self.call.permutation.as_ref().map(|p| self.hosting.node(p[rank]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Collective, Layout};

    /// Whatever the hosts, and the lengths.
    #[test]
    fn blocks_of_places_are_those_of_their_ranks() {
        let call = Call::new(Collective::AllGather, 12, 3);
        let hosts = [(&[4, 4, 4][..], false), (&[4, 4, 4], true), (&[2, 7, 3], false), (&[2, 7, 3], true)];
        let on = hosts.map(|(ranks, in_turn)| Call { hosts: Hosts::with_ranks(ranks, in_turn), ..call.clone() });
        let unlike = on.clone().map(|call| call.with_layout(Layout::of_vectors((0..12).map(|rank| rank % 3))));
        let mut calls = vec![call];
        calls.extend(on.into_iter().chain(unlike));
        let mut fewest = usize::MAX;
        for call in &calls {
            let problem = Problem::new(call);
            for places in (0..12).flat_map(|start| (start..=12).map(move |end| start..end)) {
                let positions = problem.blocks(places.clone()).into_iter().flatten();
                assert!(positions.eq(places.flat_map(|place| problem.block(place))), "{call:?}");
            }
            fewest = fewest.min(problem.blocks(0..12).len());
        }
        assert_eq!(fewest, 1);
    }
}
