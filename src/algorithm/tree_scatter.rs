//! The pattern behind scatters along a tree: the root sends every node's block down the tree.
//!
//! Orders (Ho and Johnsson 1986, section 4.2; 1988, section 5):
//! * [`by_subtree`]: all blocks of a subtree travel together, one child after the other, for nodes with one port.
//! * [`by_level`]: the blocks of the farthest nodes first, through all ports at once. A node passes on what it gets in
//!   the next round, so the root alone decides the time.
//! * [`relayed`]: any order of packets at the root, each of which every node passes on after a fixed delay.

use super::{Figure, Formula, Parameters, PortModel};
use crate::collective::part;
use crate::schedule::{Problem, Route};
use crate::topology::Tree;
use std::ops::Range;

/// Cuts blocks into packets: blocks longer than a packet each by themselves, shorter ones packed together.
pub fn packets(blocks: impl Iterator<Item = Range<usize>>, packet: Option<usize>) -> Vec<Vec<Range<usize>>> {
    let Some(packet) = packet else { return vec![blocks.collect()] };
    let mut cut: Vec<Vec<Range<usize>>> = Vec::new();
    let mut room = 0;
    for mut block in blocks {
        if block.len() > packet {
            room = 0;
        }
        while !block.is_empty() {
            if room == 0 {
                cut.push(Vec::new());
                room = packet;
            }
            let taken = room.min(block.len());
            if let Some(last) = cut.last_mut() {
                last.push(block.start..block.start + taken);
            }
            room = if taken < packet && block.len() == taken { room - taken } else { 0 };
            block.start += taken;
        }
    }
    cut
}

/// All blocks of a subtree together; the message into node c goes in the rounds from `start(c)` on, one packet a round.
pub fn by_subtree(
    problem: &Problem,
    parameters: &Parameters,
    tree: &impl Tree,
    node: usize,
    route: &mut Route,
    start: impl Fn(usize) -> usize,
) {
    let root = problem.root;
    let parts = |c: usize| packets(tree.subtree(c).map(|(v, _)| problem.block(v ^ root)), parameters.packet);
    let c = node ^ root;
    if let Some(parent) = tree.parent(c) {
        for (index, part) in parts(c).into_iter().enumerate() {
            route.receive(start(c) + index, parent ^ root, part);
        }
    }
    for child in tree.children(c) {
        for (index, part) in parts(child).into_iter().enumerate() {
            route.send(start(child) + index, child ^ root, part);
        }
    }
}

/// The farthest nodes' blocks first, through all ports. `root_child(c)` is the root of the subtree of c.
///
/// All subtrees end in the same round, so that the levels of all subtrees keep step and the largest subtree decides.
/// With a packet size every node walks the subtrees of the root to learn where packets end, and which has the most.
pub fn by_level(
    problem: &Problem,
    parameters: &Parameters,
    tree: &impl Tree,
    node: usize,
    route: &mut Route,
    root_child: impl Fn(usize) -> usize,
) {
    let height = problem.n as usize;
    by_level_of_trees(problem, parameters, std::slice::from_ref(tree), height, node, route, |_, c| root_child(c));
}

/// The same along several trees from one root, none higher than `height`, of which no two use the same link: every block is cut into as
/// many parts, and part j of all goes along tree j. `root_child(j, c)` is the root of the subtree of c there.
pub fn by_level_of_trees(
    problem: &Problem,
    parameters: &Parameters,
    trees: &[impl Tree],
    height: usize,
    node: usize,
    route: &mut Route,
    root_child: impl Fn(usize, usize) -> usize,
) {
    let root = problem.root;
    let c = node ^ root;
    let share = |j: usize, c: usize| part(problem.block(c ^ root), j, trees.len());
    if parameters.packet.is_none() {
        // Blocks of level l leave the root in round height - l and enter a node of level k in round height - l + k - 1.
        route.set_rounds(height);
        for (j, tree) in trees.iter().enumerate() {
            let below = |top: usize, level: usize| {
                let mut levels: Vec<Vec<Range<usize>>> = vec![Vec::new(); height + 1 - level];
                for (v, down) in tree.subtree(top) {
                    levels[down as usize].push(share(j, v));
                }
                levels.into_iter().enumerate().map(move |(down, blocks)| (height - down - 1, blocks))
            };
            let level = tree.level(c) as usize;
            if let Some(parent) = tree.parent(c) {
                for (round, blocks) in below(c, level) {
                    route.receive(round, parent ^ root, blocks);
                }
            }
            for child in tree.children(c) {
                for (round, blocks) in below(child, level + 1) {
                    route.send(round, child ^ root, blocks);
                }
            }
        }
        return;
    }

    // The farthest level first: packets, and when the last of them has arrived, if the first one leaves in round 0. (That may be one of a
    // far level, where nearer blocks are empty.)
    let departures = |j: usize, top: usize| {
        let mut levels: Vec<Vec<Range<usize>>> = Vec::new();
        for (v, down) in trees[j].subtree(top) {
            levels.resize(levels.len().max(down as usize + 1), Vec::new());
            levels[down as usize].push(share(j, v));
        }
        let (mut left, mut arrived) = (Vec::new(), 0);
        for (down, blocks) in levels.into_iter().enumerate().rev() {
            let packets = packets(blocks.into_iter(), parameters.packet);
            if !packets.is_empty() {
                left.extend(packets);
                arrived = arrived.max(left.len() + down);
            }
        }
        (left, arrived)
    };
    let children = trees.iter().enumerate().flat_map(|(j, tree)| tree.children(0).map(move |child| (j, child)));
    let rounds = children.map(|(j, child)| departures(j, child).1).max().unwrap_or(0);
    // All end in the last round.
    route.set_rounds(rounds);
    for (j, tree) in trees.iter().enumerate() {
        let departures = |top: usize| {
            let (packets, arrived) = departures(j, top);
            packets.into_iter().enumerate().map(|(index, packet)| (rounds - arrived + index, packet)).collect()
        };
        let carried = Carried { root, tree, share: |c| share(j, c) };
        carried.relayed(node, route, |c| root_child(j, c), departures, |c| tree.level(c) as usize - 1);
    }
}

/// A packet that leaves the root for one of its children: the round, and what it holds.
pub type Departure = (usize, Vec<Range<usize>>);

/// Packets as they leave the root, of which every node passes on what is for others. `root_child(c)` is the root of the
/// subtree of c, `departures(top)` what leaves the root for its child `top`, and a packet, or what is left of it,
/// enters node c `delay(c)` rounds after it has left the root.
pub fn relayed(
    problem: &Problem,
    tree: &impl Tree,
    node: usize,
    route: &mut Route,
    root_child: impl Fn(usize) -> usize,
    departures: impl Fn(usize) -> Vec<Departure>,
    delay: impl Fn(usize) -> usize,
) {
    let carried = Carried { root: problem.root, tree, share: |c| problem.block(c ^ problem.root) };
    carried.relayed(node, route, root_child, departures, delay);
}

/// What a tree carries from the root: `share(c)` to node c.
struct Carried<'a, T, S> {
    root: usize,
    tree: &'a T,
    share: S,
}

impl<T: Tree, S: Fn(usize) -> Range<usize>> Carried<'_, T, S> {
    /// [`relayed`].
    fn relayed(
        &self,
        node: usize,
        route: &mut Route,
        root_child: impl Fn(usize) -> usize,
        departures: impl Fn(usize) -> Vec<Departure>,
        delay: impl Fn(usize) -> usize,
    ) {
        let Carried { root, tree, ref share } = *self;
        let c = node ^ root;
        let pass = |packets: &[Departure], c: usize, route: &mut Route, sends: bool, peer: usize| {
            let blocks = tree.subtree(c).map(|(v, _)| share(v));
            let mut mine: Vec<Range<usize>> = blocks.filter(|b| !b.is_empty()).collect();
            mine.sort_unstable_by_key(|b| b.start);
            let within = |piece: &&Range<usize>| {
                let after = mine.partition_point(|b| b.end <= piece.start);
                mine.get(after).is_some_and(|b| b.start <= piece.start && piece.end <= b.end)
            };
            for (round, pieces) in packets {
                let pieces = pieces.iter().filter(within).cloned();
                if sends {
                    route.send(round + delay(c), peer, pieces);
                } else {
                    route.receive(round + delay(c), peer, pieces);
                }
            }
        };
        let Some(parent) = tree.parent(c) else {
            for child in tree.children(c) {
                pass(&departures(child), child, route, true, child ^ root);
            }
            return;
        };
        let packets = departures(root_child(c));
        pass(&packets, c, route, false, parent ^ root);
        for child in tree.children(c) {
            pass(&packets, child, route, true, child ^ root);
        }
    }
}

/// The nodes of the subtree of `top` in the order of sending: in postorder, or the farthest first.
pub fn subtree_order(tree: &impl Tree, top: usize, postorder: bool) -> Vec<usize> {
    let (nodes, levels): (Vec<usize>, Vec<u32>) = tree.subtree(top).unzip();
    sending_order(&levels, postorder).into_iter().map(|at| nodes[at]).collect()
}

/// The same as places in a depth-first walk, of which these are the levels.
pub fn sending_order(levels: &[u32], postorder: bool) -> Vec<usize> {
    // Backwards, a depth-first walk comes to every node after all nodes below it.
    let mut order: Vec<usize> = (0..levels.len()).rev().collect();
    if !postorder {
        order.sort_by_key(|&at| std::cmp::Reverse(levels[at]));
    }
    order
}

/// The nodes of the subtree of `top`, each with its levels below `top` and the size of its own subtree, in one walk.
pub fn subtree_sizes(tree: &impl Tree, top: usize) -> Vec<(usize, u32, usize)> {
    let mut nodes: Vec<(usize, u32, usize)> = tree.subtree(top).map(|(c, level)| (c, level, 1)).collect();
    let mut below = vec![0; tree.dimension() as usize + 2];
    for (_, level, size) in nodes.iter_mut().rev() {
        let level = *level as usize;
        *size += std::mem::take(&mut below[level + 1]);
        below[level] += *size;
    }
    nodes
}

/// Rounds of blocks of `count` elements that go in groups of so many, each in packets of B, one after the other.
pub fn level_cost(groups: impl Iterator<Item = usize>, count: usize, packet: Option<usize>) -> usize {
    let rounds = |nodes: usize| match packet {
        None => 1,
        Some(packet) if packet < count => nodes * count.div_ceil(packet),
        Some(packet) => (nodes * count).div_ceil(packet),
    };
    groups.filter(|_| count > 0).map(rounds).sum()
}

/// Rounds and elements of [`by_level`]: `level_sizes` are the numbers of nodes by level of the largest subtree.
pub fn by_level_cost(
    common: Formula,
    level_sizes: impl Iterator<Item = usize> + Clone,
    count: usize,
    packet: Option<usize>,
) -> Formula {
    let rounds = level_cost(level_sizes.clone(), count, packet);
    let all: usize = level_sizes.map(|nodes| nodes * count).sum();
    match packet {
        // Where the last packet of a block or a level is shorter, ranks one level apart are at different packets.
        Some(packet) if !count.is_multiple_of(packet) => {
            // In the last round the root's links carry the end of a block each, and others nothing.
            let last = count - (count.div_ceil(packet) - 1) * packet;
            let elements = ((rounds - 1).saturating_mul(packet.min(all)) + last) as f64;
            Formula { rounds, elements, ..common }.at_most(&[Figure::Elements, Figure::Path], false)
        }
        _ => Formula { rounds, elements: all as f64, ..common },
    }
}

/// Whether a port model asks for [`by_level`].
pub fn all_ports(parameters: &Parameters) -> bool {
    parameters.ports == PortModel::AllPorts
}

#[cfg(test)]
mod tests {
    use super::{packets, subtree_order, subtree_sizes};
    use crate::topology::{sbt::Sbt, Tree};

    #[test]
    fn orders_and_sizes_of_a_subtree() {
        let tree = Sbt::new(3);
        assert_eq!(subtree_order(&tree, 0, true), [4, 6, 2, 5, 7, 3, 1, 0]);
        assert_eq!(subtree_order(&tree, 0, false), [7, 6, 5, 3, 4, 2, 1, 0]);
        for top in 0..8 {
            let sizes = subtree_sizes(&tree, top);
            assert!(sizes.iter().all(|&(c, _, size)| size == tree.subtree_size(c)));
            assert!(sizes.iter().map(|&(c, level, _)| (c, level)).eq(tree.subtree(top)));
        }
    }

    /// Packets as (start, end) pairs.
    fn cut(packet: Option<usize>) -> Vec<Vec<(usize, usize)>> {
        let packets = packets([0..3, 3..6, 6..9].into_iter(), packet);
        packets.into_iter().map(|p| p.into_iter().map(|r| (r.start, r.end)).collect()).collect()
    }

    #[test]
    fn packets_pack_short_blocks_and_cut_long_ones() {
        assert_eq!(cut(None), [[(0, 3), (3, 6), (6, 9)]]);
        assert_eq!(cut(Some(4)), [vec![(0, 3), (3, 4)], vec![(4, 6), (6, 8)], vec![(8, 9)]]);
        assert_eq!(cut(Some(6)), [vec![(0, 3), (3, 6)], vec![(6, 9)]]);
        assert_eq!(cut(Some(2)), [[(0, 2)], [(2, 3)], [(3, 5)], [(5, 6)], [(6, 8)], [(8, 9)]]);
    }
}
