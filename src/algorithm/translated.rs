//! The pattern behind all-gathers and all-to-alls along N translated balanced n-trees: every node is the root of a tree
//! or graph of its own, the SBnT or the SBG translated to it, and plays a place in all others.
//!
//! Node v is c = v XOR r in the tree of root r. What crosses an edge of the tree therefore crosses, for all roots
//! together, every link of that dimension in either direction, and all nodes do the same at the same time (Ho and
//! Johnsson 1988, corollary 3 and table 2). With all ports the edges into level l are used in round l - 1. With one
//! port the edge into c is used in the round of its label (lemma 17), all labels of a round name one dimension, and
//! every round is an exchange across it: 2n - 2 rounds for the SBnT, 2n - 1 for the SBG. One way, the node whose bit is
//! 0 sends first.

use super::{Figure, Formula, Parameters, PortModel, Shape};
use crate::address::{period, periods};
use crate::collective::part;
use crate::schedule::{Problem, Route};
use crate::topology::sbg::{Sbg, Share};
use crate::topology::sbnt::{Sbnt, Variant};
use std::ops::Range;

/// The dimension up to which what crosses every dimension is counted by a walk: 35 nodes.
const COUNTED: u32 = 8;

/// N translated SBnTs or, with the blocks of cyclic nodes split over all their parents, SBGs.
pub struct Translated {
    graph: Sbg,
    variant: Variant,
    n: u32,
    split: bool,
    ports: PortModel,
}

/// An edge of the graph of one root: into node `c` within subtree `j`.
#[derive(Clone, Copy)]
pub struct Edge {
    c: usize,
    j: u32,
    port: u32,
}

impl Translated {
    pub fn sbnt(n: u32, parameters: &Parameters) -> Translated {
        let variant = parameters.variant;
        Translated { graph: Sbg::new(n, variant), variant, n, split: false, ports: parameters.ports }
    }

    pub fn sbg(n: u32, parameters: &Parameters) -> Translated {
        Translated { split: true, ..Translated::sbnt(n, parameters) }
    }

    /// The part of the data of node `c` that comes through subtree `j`. Of the SBG's subtrees the SBnT uses the first
    /// one that has the node: cyclic nodes are leaves, so that this leaves nobody behind.
    fn share(&self, c: usize, j: u32) -> Option<Share> {
        let share = self.graph.share(c, j)?;
        match (self.split, share.index) {
            (true, _) => Some(share),
            (false, 0) => Some(Share { index: 0, parts: 1 }),
            (false, _) => None,
        }
    }

    fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        (1..1usize << self.n).flat_map(move |c| {
            let subtrees = self.graph.subtrees(c).take(if self.split { self.n as usize } else { 1 });
            subtrees.filter_map(move |j| Some(Edge { c, j, port: self.graph.parent_port(c, j)? }))
        })
    }

    /// What comes through an edge for the nodes at and below it: of each its part of `whole(node)`.
    fn below<'a>(
        &'a self,
        edge: Edge,
        whole: impl Fn(usize) -> Range<usize> + 'a,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let nodes = self.graph.subtree(edge.c, edge.j);
        nodes.filter_map(move |(w, _)| {
            let share = self.share(w, edge.j)?;
            Some(part(whole(w), share.index as usize, share.parts as usize))
        })
    }

    /// The round in which the node `sender` sends over an edge.
    fn round(&self, edge: Edge, sender: usize) -> usize {
        let label = || self.graph.label(edge.c, edge.j).map_or(0, |label| label as usize);
        match self.ports {
            PortModel::AllPorts => edge.c.count_ones() as usize - 1,
            PortModel::OnePort => label(),
            PortModel::OneWay => 2 * label() + (sender >> edge.port & 1),
        }
    }

    /// Rounds of the exchange.
    pub fn rounds(&self) -> usize {
        let n = self.n as usize;
        let labels = if self.split { (2 * n).saturating_sub(1) } else { (2 * n).saturating_sub(2).max(n.min(1)) };
        match self.ports {
            PortModel::AllPorts => n,
            PortModel::OnePort => labels,
            PortModel::OneWay => 2 * labels,
        }
    }

    /// Writes the broadcast of every node's block.
    pub fn replicated(&self, problem: &Problem, node: usize, route: &mut Route) {
        route.set_rounds(self.rounds());
        for edge in self.edges() {
            let Some(share) = self.share(edge.c, edge.j) else { continue };
            let peer = node ^ 1 << edge.port;
            // The receiver is `edge.c` in the graph of the root whose block this is.
            let block =
                |receiver: usize| part(problem.block(receiver ^ edge.c), share.index as usize, share.parts as usize);
            route.send(self.round(edge, node), peer, [block(peer)]);
            route.receive(self.round(edge, peer), peer, [block(node)]);
        }
    }

    /// Writes the scatter of every node: `item(from, to)` goes from node `from` to node `to`, all that is for the nodes
    /// at and below an edge at once.
    pub fn personalised(
        &self,
        problem: &Problem,
        node: usize,
        route: &mut Route,
        item: impl Fn(usize, usize) -> Range<usize>,
    ) {
        debug_assert_eq!(problem.n, self.n);
        route.set_rounds(self.rounds());
        for edge in self.edges() {
            let peer = node ^ 1 << edge.port;
            let pieces = |receiver: usize| {
                let (root, item) = (receiver ^ edge.c, &item);
                self.below(edge, move |w| item(root, root ^ w))
            };
            route.send(self.round(edge, node), peer, pieces(peer));
            route.receive(self.round(edge, peer), peer, pieces(node));
        }
    }

    /// What crosses each dimension at each level of the SBnT, all its subtrees together, in blocks: by level, then
    /// dimension. With `whole_subtrees` every edge carries the blocks of all nodes below it, else one.
    ///
    /// Subtree j is subtree 0 rotated, without the nodes whose periods are not above j: one walk gives all of them.
    fn traffic(&self, whole_subtrees: bool) -> Vec<Vec<usize>> {
        let n = self.n as usize;
        let mut traffic = vec![vec![0; n]; n];
        // From the leaves up, by level: how many nodes there are below, in each of the n subtrees.
        let mut below = vec![vec![0; n]; n + 1];
        let walk: Vec<(usize, u32)> = self.graph.subtree(self.graph.top(0), 0).collect();
        for (c, level) in walk.into_iter().rev() {
            let level = level as usize;
            let Some(port) = self.graph.parent_port(c, 0) else { continue };
            let own = period(c, self.n) as usize;
            let further = std::mem::replace(&mut below[level + 1], vec![0; n]);
            for (j, further) in further.into_iter().enumerate() {
                let here = usize::from(j < own);
                let turned = (port as usize + if self.variant.rotates_left() { n - j } else { j }) % n;
                traffic[level][turned] += if whole_subtrees { here + further } else { here };
                below[level][j] += here + further;
            }
        }
        traffic
    }

    /// Of the SBnT's dimensions the blocks that cross the busiest one, level by level, and on all levels together.
    ///
    /// Above dimension [`COUNTED`] at most: of the n subtrees no dimension carries more than n times the largest would spread evenly, the
    /// root and all cyclic nodes counted as if they were in each (tested).
    fn busiest(&self, personalised: bool) -> (usize, usize) {
        let n = self.n as usize;
        if self.n > COUNTED {
            let largest = Sbnt::new(self.n, self.variant).subtree_nodes(0);
            let at_most = if personalised { n * (largest + 1) / 2 } else { largest };
            return (at_most, at_most);
        }
        let traffic = self.traffic(personalised);
        let busiest = traffic.iter().map(|level| level.iter().max().copied().unwrap_or(0)).sum();
        let load = (0..n).map(|port| traffic.iter().map(|level| level[port]).sum()).max().unwrap_or(0);
        (busiest, load)
    }

    /// The cost of [`Self::replicated`] (`personalised` false) or [`Self::personalised`], by the paper's table 2: with
    /// one port every element that a node receives takes its time; with all ports each level takes as long as its
    /// busiest dimension, which for the SBG is all of them alike.
    pub fn formula(&self, shape: &Shape, personalised: bool) -> Formula {
        let (n, nodes, m) = (self.n as usize, shape.nodes() as f64, shape.count as f64);
        if n == 0 || shape.count == 0 {
            return Formula::NOTHING;
        }
        let received = m * if personalised { n as f64 * nodes / 2.0 } else { nodes - 1.0 };
        let (busiest, load) = if self.split {
            // All dimensions carry the same; a part of a whole subtree's blocks crosses n/2 links in the mean.
            let split = if personalised {
                split_blocks_by_level(self.n, shape.count)
            } else {
                split_blocks(self.n, shape.count)
            };
            // Whichever way its parts go, a block crosses the dimensions in which the two nodes differ, and each whole.
            let load = if personalised { nodes / 2.0 * m } else { split as f64 };
            (split as f64, load)
        } else {
            let (busiest, load) = self.busiest(personalised);
            (busiest as f64 * m, load as f64 * m)
        };
        let elements = match self.ports {
            PortModel::AllPorts => busiest,
            PortModel::OnePort => received,
            PortModel::OneWay => 2.0 * received,
        };
        // One label leads to the next along the path 1, 11, 111, ... of each subtree.
        let hops = self.rounds() / if self.ports == PortModel::OneWay { 2 } else { 1 };
        // What is for others is kept until it is sent on.
        let scratch = if personalised { received - (nodes - 1.0) * m } else { 0.0 };
        let exact = !self.split || splits_evenly(shape);
        let counted = self.split || self.n <= COUNTED;
        Formula {
            rounds: self.rounds(),
            elements,
            moved: received * nodes,
            load,
            scratch,
            hops,
            path: received,
            ..Formula::NOTHING
        }
        .at_most(&[Figure::Load], counted && (exact || personalised))
        .at_most(&[Figure::Elements], counted && exact || self.ports != PortModel::AllPorts)
        // Parts of the shortest blocks are empty.
        .at_most(&[Figure::Hops], !self.split || shape.count >= n)
    }
}

/// The blocks of all nodes but the root, of `count` elements each, over one of the root's links in the SBG: a block of a node of
/// period p is cut into n/p parts, so that one of every p such blocks is whole, as it were, and of these parts are at most
/// ceil(count p/n) elements long.
pub fn split_blocks(n: u32, count: usize) -> usize {
    periods(n).map(|(period, nodes)| (nodes - usize::from(period == 1)) / period * part_of(n, period, count)).sum()
}

/// The same, each block as often as its node has levels; of a period half of all address bits are ones.
fn split_blocks_by_level(n: u32, count: usize) -> usize {
    periods(n).map(|(period, nodes)| n as usize * nodes / (2 * period) * part_of(n, period, count)).sum()
}

fn part_of(n: u32, period: usize, count: usize) -> usize {
    count.div_ceil(n as usize / period)
}

/// Whether the blocks of cyclic nodes can be split evenly.
fn splits_evenly(shape: &Shape) -> bool {
    shape.count.is_multiple_of(shape.n.max(1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_dimension_is_bounded_where_it_is_not_counted() {
        for variant in Variant::ALL {
            for n in COUNTED + 1..=COUNTED + 4 {
                let trees = Translated::sbnt(n, &Parameters { variant, ..Parameters::new(PortModel::AllPorts) });
                for personalised in [false, true] {
                    let traffic = trees.traffic(personalised);
                    let busiest: usize = traffic.iter().filter_map(|level| level.iter().max()).sum();
                    let bounds = trees.busiest(personalised);
                    assert!(
                        (busiest..=busiest + busiest / 40).contains(&bounds.0),
                        "{variant} {n}: {busiest}, {bounds:?}"
                    );
                    let loads = (0..n as usize).map(|port| traffic.iter().map(|level| level[port]).sum::<usize>());
                    assert!(loads.max() <= Some(bounds.1), "{variant} {n}");
                }
            }
        }
    }
}
