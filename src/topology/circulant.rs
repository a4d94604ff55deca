//! Graph: the circulant graph on which packets go from one of P nodes to all, in every round a new one to every node.
//!
//! Reference: J. L. Traeff 2024, "Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast, Reduction
//! and All-Reduction", arXiv:2407.18004. Symbols: p is P here, r is c = (rank - root) mod P, skip\[k\] is s_k, q = ceil(log2 P), n the
//! number of packets (his blocks), recvblock and sendblock are the tables R and S.
//!
//! Definition: s_q = P and s_k = ceil(s_(k+1) / 2), so that s_0 = 1. In round k of a phase, k = 0, ..., q - 1, node c sends to node
//! c + s_k and receives from node c - s_k, modulo P. The root sends q new packets in every phase, packet k in round k; negative numbers
//! are packets of the phases before. R_k is the packet that a node receives in round k, S_k the one that it sends. One of the phase's own
//! packets reaches a node within the phase, its *base packet* b: if c is written as a sum of skips, each the longest that fits, s_b
//! is the last of them.
//!
//! R: what a node receives in round k is the base packet, of this phase or an earlier one, of a node that lies from s_k to s_(k+1) before
//! it. For k = 0, 1, ... it looks for one whose base packet it does not get otherwise, among the sums of skips, the longest ones
//! first. S is what the nodes at the other ends receive. R takes O(q) steps, S O(q^2), both O(q) words.
//!
//! Rounds: n - 1 + q, the fewest there can be. The last one ends a phase; the first phase lacks the rounds that are too many. In place of
//! packets after the last one, n - 1, comes that one; packets before the first one are not sent.
//!
//! Example, P = 5, skips 1, 2, 3 (R of the nodes 1 to 4, and S of 0 to 4, where - is a packet for the root, which has it):
//!
//! ```text
//! k = 0    0 -3 -2 -1      0 -3 -2 -1  -
//! k = 1   -1  1 -3 -2      1 -3 -2  - -1
//! k = 2   -2 -1  2  0      2  0  - -2 -1
//! ```
//!
//! ```
//! use hypercoll::topology::circulant::Circulant;
//!
//! let graph = Circulant::new(5);
//! assert_eq!(graph.received(3), [-2, -3, 2]);
//! assert_eq!(graph.sent(1), [-3, -3, 0]);
//! // One packet needs three rounds: node 4 has it from node 1, and that from the root.
//! assert_eq!(graph.exchanges(4, 1).map(|exchange| exchange.received).collect::<Vec<_>>(), [None, None, Some((1, 0))]);
//! ```
//!
//! Properties tested, the four conditions of the paper: what a node receives the node before it sends; of the packets -q to -1 and b a
//! node receives each once in a phase but b - q, which was b in the phase before; it sends what it has received earlier in the phase,
//! or b - q; the root sends packet k in round k.

/// The circulant graph of P nodes.
#[derive(Clone, Debug)]
pub struct Circulant {
    /// s_0 to s_q.
    skips: Vec<usize>,
}

/// What a node does in a round: the other node and the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// From where, and which.
    pub received: Option<(usize, usize)>,
    /// Where to, and which.
    pub sent: Option<(usize, usize)>,
}

impl Circulant {
    /// The graph of `size` nodes.
    ///
    /// # Panics
    /// If `size` is 0.
    pub fn new(size: usize) -> Circulant {
        assert!(size > 0, "a graph without nodes");
        let halves = std::iter::successors(Some(size), |&skip| (skip > 1).then(|| skip.div_ceil(2)));
        let mut skips: Vec<usize> = halves.collect();
        skips.reverse();
        Circulant { skips }
    }

    /// P.
    pub fn size(&self) -> usize {
        self.skips[self.phase()]
    }

    /// s_k.
    pub fn skip(&self, k: usize) -> usize {
        self.skips[k]
    }

    /// q, the rounds of a phase.
    pub fn phase(&self) -> usize {
        self.skips.len() - 1
    }

    /// The base packet b of node `c`; of the root, q.
    pub fn base(&self, c: usize) -> usize {
        self.way(c).last().unwrap_or(self.phase())
    }

    /// The skips whose sum is `c`, longest first, each the longest that fits: the way of a single packet to that node.
    fn way(&self, c: usize) -> impl Iterator<Item = usize> + '_ {
        debug_assert!(c < self.size(), "node {c} of {}", self.size());
        let mut rest = c;
        (0..self.phase()).rev().filter(move |&k| {
            let fits = self.skips[k] <= rest;
            rest -= if fits { self.skips[k] } else { 0 };
            fits
        })
    }

    /// The most skips on the way of a single packet to any node.
    pub fn depth(&self) -> usize {
        // Of the nodes before s_0, s_1, ... in turn. Of those, the ways to s_j and on are one skip longer than those to s_j less.
        let mut depths = vec![0];
        for k in 1..self.skips.len() {
            let (mut nodes, mut skips, mut depth) = (self.skips[k], 0, 0);
            for j in (0..k).rev() {
                if self.skips[j] < nodes {
                    depth = depth.max(skips + depths[j]);
                    nodes -= self.skips[j];
                    skips += 1;
                }
            }
            depths.push(depth.max(skips));
        }
        depths[self.phase()]
    }

    /// R of node `c`. (The root receives nothing: its table means nothing.)
    pub fn received(&self, c: usize) -> Vec<isize> {
        let (q, base) = (self.phase(), self.base(c));
        let all = (2 << q) - 1;
        let mut search = Search {
            skips: &self.skips,
            node: self.size() + c,
            free: all & !(1 << base),
            last: usize::MAX,
            found: Vec::new(),
        };
        search.beyond(0, q + 1);
        // The root itself, at s_q, has what is new in this phase.
        let packet = |skip| if skip == q { base as isize } else { skip as isize - q as isize };
        search.found.into_iter().map(packet).collect()
    }

    /// S of node `c`. (Nothing is sent to the root: what stands for it means nothing.)
    pub fn sent(&self, c: usize) -> Vec<isize> {
        let to = |k: usize| (c + self.skips[k]) % self.size();
        (0..self.phase()).map(|k| self.received(to(k))[k]).collect()
    }

    /// The rounds of n packets.
    pub fn rounds(&self, packets: usize) -> usize {
        if self.size() == 1 || packets == 0 {
            return 0;
        }
        packets - 1 + self.phase()
    }

    /// What node `c` does, round by round, with so many packets.
    pub fn exchanges(&self, c: usize, packets: usize) -> impl Iterator<Item = Exchange> + '_ {
        let (q, size, rounds) = (self.phase(), self.size(), self.rounds(packets));
        // The last round ends a phase.
        let lacking = rounds.next_multiple_of(q.max(1)) - rounds;
        let (received, sent) = (self.received(c), self.sent(c));
        let packet = move |table: &[isize], other: usize, round: usize, none: bool| {
            let first = (round / q * q) as isize - lacking as isize;
            let packet = usize::try_from(table[round % q] + first).ok().filter(|_| !none)?;
            Some((other, packet.min(packets - 1)))
        };
        (lacking..lacking + rounds).map(move |round| {
            let skip = self.skips[round % q];
            let (from, to) = ((c + size - skip) % size, (c + skip) % size);
            Exchange { received: packet(&received, from, round, c == 0), sent: packet(&sent, to, round, to == 0) }
        })
    }
}

/// The search for the base packets that a node receives, among sums of skips: the root is at P, the node itself at P + c.
struct Search<'s> {
    skips: &'s [usize],
    /// P + c.
    node: usize,
    /// The skips, as bits, that nothing found ends with, nor the node's own sum: no packet comes twice.
    free: usize,
    /// The last sum found. The next ones are less.
    last: usize,
    /// The last skips of the sums, by rounds.
    found: Vec<usize>,
}

impl Search<'_> {
    /// Looks at the sums that begin with `sum` and a skip below `longest`, the greatest first.
    fn beyond(&mut self, sum: usize, mut longest: usize) {
        while let (Some(skip), Some((least, greatest))) = (self.longest(longest), self.reach()) {
            longest = skip;
            let next = sum + self.skips[skip];
            if next > greatest || next >= self.last {
                continue;
            }
            if next <= least {
                self.beyond(next, skip);
            }
            // It may be the turn of this sum itself now, or all rounds have theirs.
            if self.reach().is_none_or(|(least, _)| sum > least) {
                return;
            }
            self.found.push(skip);
            self.last = next;
            self.free &= !(1 << skip);
        }
    }

    /// Where the next round's packet may be found, from beyond the first sum to the second; `None` after the last round.
    fn reach(&self) -> Option<(usize, usize)> {
        let k = self.found.len();
        self.skips.get(k + 1).map(|farther| (self.node - farther, self.node - self.skips[k]))
    }

    /// The longest free skip below one.
    fn longest(&self, below: usize) -> Option<usize> {
        (self.free & ((1 << below) - 1)).checked_ilog2().map(|skip| skip as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The conditions of the paper that concern node `c` alone, and what it must be sent by the node before it, given the tables R.
    fn assert_conditions(graph: &Circulant, c: usize, received: impl Fn(usize) -> Vec<isize>) {
        let (q, size) = (graph.phase(), graph.size());
        let (own, base) = (received(c), graph.base(c) as isize);
        let sent: Vec<isize> = (0..q).map(|k| received((c + graph.skips[k]) % size)[k]).collect();
        if c == 0 {
            assert!(sent.into_iter().eq(0..q as isize), "the root of {size} sends anything but new packets");
            return;
        }
        for k in (0..q).filter(|&k| c + graph.skips[k] != size) {
            let held = own[..k].contains(&sent[k]) || sent[k] == base - q as isize;
            assert!(held, "node {c} of {size} sends {} in round {k}, which it has not", sent[k]);
        }
        let mut sorted = own;
        sorted.sort_unstable();
        let expected = (-(q as isize)..0).filter(|&packet| packet != base - q as isize).chain([base]);
        assert!(sorted.iter().copied().eq(expected), "node {c} of {size} receives {sorted:?}");
    }

    #[test]
    fn the_conditions_hold_on_all_nodes_of_small_graphs() {
        for size in 1..=1100 {
            let graph = Circulant::new(size);
            let tables: Vec<Vec<isize>> = (0..size).map(|c| graph.received(c)).collect();
            (0..size).for_each(|c| assert_conditions(&graph, c, |c| tables[c].clone()));
        }
    }

    #[test]
    fn the_conditions_hold_on_some_nodes_of_large_graphs() {
        for size in [1_000_000, 1_000_003, (1 << 20) - 1, 1 << 20, (1 << 20) + 1] {
            let graph = Circulant::new(size);
            let skips = graph.skips.iter().flat_map(|&skip| [skip - 1, skip % size, size - skip]);
            let nodes = skips.chain((0..size).step_by(4999));
            nodes.for_each(|c| assert_conditions(&graph, c, |c| graph.received(c)));
        }
    }

    /// Everybody's exchanges, for any number of packets: both ends agree, nobody sends what it has not, and every node but the root
    /// receives every packet once.
    #[test]
    fn every_packet_reaches_every_node_once() {
        for (size, packets) in (1..=40usize).flat_map(|size| (0..=14usize).map(move |packets| (size, packets))) {
            let graph = Circulant::new(size);
            let nodes: Vec<Vec<Exchange>> = (0..size).map(|c| graph.exchanges(c, packets).collect()).collect();
            let rounds = if size == 1 || packets == 0 { 0 } else { packets - 1 + graph.phase() };
            assert!(nodes.iter().all(|node| node.len() == rounds) && graph.rounds(packets) == rounds);
            let mut held: Vec<Vec<bool>> = (0..size).map(|c| vec![c == 0; packets]).collect();
            for round in 0..rounds {
                let before = held.clone();
                for (c, node) in nodes.iter().enumerate() {
                    if let Some((to, packet)) = node[round].sent {
                        assert!(before[c][packet] && nodes[to][round].received == Some((c, packet)));
                    }
                    if let Some((from, packet)) = node[round].received {
                        assert_eq!(nodes[from][round].sent, Some((c, packet)));
                        assert!(
                            !std::mem::replace(&mut held[c][packet], true),
                            "{packet} comes twice to {c} of {size}"
                        );
                    }
                }
                assert!(nodes[0][round].sent.is_some(), "the root of {size} sends nothing in round {round}");
            }
            assert!(held.iter().flatten().all(|&held| held), "{packets} packets on {size} nodes");
        }
    }

    #[test]
    fn a_single_packet_takes_as_many_hops_as_the_deepest_way() {
        for size in 1..=300 {
            let graph = Circulant::new(size);
            let mut hops = vec![0; size];
            for round in 0..graph.phase() {
                for c in 1..size {
                    if let Some((from, _)) = graph.exchanges(c, 1).nth(round).and_then(|exchange| exchange.received) {
                        hops[c] = hops[from] + 1;
                    }
                }
            }
            assert_eq!(hops.into_iter().max(), Some(graph.depth()), "{size} nodes");
        }
    }

    #[test]
    fn skips_of_seventeen_nodes() {
        let graph = Circulant::new(17);
        assert_eq!(graph.skips, [1, 2, 3, 5, 9, 17]);
        // 16 = 9 + 5 + 2, 8 = 5 + 3.
        assert_eq!([16, 8, 9, 0].map(|c| graph.base(c)), [1, 2, 4, 5]);
    }

    proptest! {
        #[test]
        fn the_conditions_hold_on_any_node(
            (size, c) in (1..=1usize << 30).prop_flat_map(|size| (Just(size), 0..size))
        ) {
            let graph = Circulant::new(size);
            assert_conditions(&graph, c, |c| graph.received(c));
            let sent: Vec<isize> = (0..graph.phase()).map(|k| graph.received((c + graph.skips[k]) % size)[k]).collect();
            prop_assert_eq!(graph.sent(c), sent);
        }
    }
}
