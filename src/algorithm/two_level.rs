//! The pattern behind trees of two levels: between hosts from leader to leader, within a host from its leader to every other rank.
//!
//! The root leads its host, the first rank every other one. Hosts have positions, counted from the root's. Between them goes a 4-nomial
//! tree: position p has the children p + d 4^j, d = 3, 2, 1, for all j such that 4^(j+1) divides p, the farthest first, and the subtree of
//! such a child are the positions from p + d 4^j to p + (d + 1) 4^j - 1. So everything enters every host once, after at most ceil(log4 H)
//! hops; within the host all ranks get it at the same time. Where H is a power of two, positions are counted by exclusive or, and every child is a
//! neighbour on the cube of the hosts but the third, which is two links away, and which the message is sent to first.

use crate::algorithm::{Formula, Shape};
use crate::schedule::{Problem, Route};
use std::ops::Range;

/// The most children that a position has at one distance, and one.
const RADIX: usize = 4;

/// The tree of the hosts: H positions, and 4^(K - 1), the distance of the root's farthest children.
#[derive(Clone, Copy)]
pub struct Hosts {
    hosts: usize,
    farthest: usize,
}

/// A message between two positions: its round, and the position that gets it, with all that are below.
struct Edge {
    round: usize,
    parent: usize,
    below: Range<usize>,
}

impl Hosts {
    pub fn new(hosts: usize) -> Hosts {
        let mut farthest = 1;
        while farthest * RADIX < hosts {
            farthest *= RADIX;
        }
        Hosts { hosts, farthest }
    }

    /// Children of the root at the farthest distance.
    fn first(self) -> usize {
        (self.hosts - 1) / self.farthest
    }

    /// K - 1.
    fn steps(self) -> usize {
        self.farthest.ilog(RADIX) as usize
    }

    /// The root's subtrees: positions, and how many have so many; the one that is cut off at H first.
    pub fn subtrees(self) -> impl Iterator<Item = (usize, usize)> {
        let Hosts { hosts, farthest } = self;
        let cut = (hosts - self.first() * farthest, self.first().min(1));
        let full = std::iter::once((farthest, self.first().saturating_sub(1)));
        let nearer = std::iter::successors(Some(farthest / RADIX), |distance| Some(distance / RADIX));
        let nearer = nearer.take_while(|&distance| distance > 0).map(|distance| (distance, RADIX - 1));
        std::iter::once(cut).chain(full).chain(nearer).filter(|&(_, number)| number > 0)
    }

    /// Positions of the root's largest subtree, 0 if it has none.
    pub fn largest(self) -> usize {
        self.subtrees().map(|(positions, _)| positions).max().unwrap_or(0)
    }

    /// The hops to all positions together.
    pub fn hops(self) -> usize {
        let below = |positions: usize| match positions.ilog(RADIX) {
            // Of K digits to the base 4, three in four are not 0.
            digits if RADIX.pow(digits) == positions => digits as usize * (RADIX - 1) * positions / RADIX,
            _ => Hosts::new(positions).hops(),
        };
        self.subtrees().map(|(positions, number)| number * (positions + below(positions))).sum()
    }

    /// The way down to a position on which the messages weigh the most, given what one weighs into a subtree of so many positions.
    pub fn heaviest(self, weight: &impl Fn(usize) -> usize) -> usize {
        if self.first() == 0 {
            return 0;
        }
        // Into and down a subtree that is not cut off: of 4^k positions, 4^(k - 1) of them, and so on.
        let full = |positions: usize| {
            std::iter::successors(Some(positions), |nearer| Some(nearer / RADIX).filter(|n| *n > 0)).map(weight).sum()
        };
        let ways = self.subtrees().enumerate().map(|(nth, (positions, _))| match nth {
            0 => weight(positions) + Hosts::new(positions).heaviest(weight),
            _ => full(positions),
        });
        ways.max().unwrap_or(0)
    }

    /// For each round the fewest positions below that any message of it is for.
    pub fn fewest_below(self) -> impl Iterator<Item = usize> {
        let Hosts { hosts, farthest } = self;
        let last = hosts - 1;
        let distances = std::iter::successors(Some(farthest), |distance| Some(distance / RADIX));
        distances.take_while(|&distance| distance > 0).flat_map(move |distance| {
            let most = if distance == farthest { self.first() } else { RADIX - 1 };
            // The last position is below one that its digit tells, together with those before it.
            let cut = move |d: usize| if last / distance % RADIX == d { last % distance + 1 } else { distance };
            (1..=most).rev().map(cut)
        })
    }

    /// Children of the root.
    pub fn children(self) -> usize {
        self.first() + (RADIX - 1) * self.steps()
    }

    /// The most children of another position.
    fn passed(self) -> usize {
        let rest = self.hosts.saturating_sub(self.farthest).min(self.farthest);
        let deeper = (RADIX - 1) * self.steps().saturating_sub(1);
        if rest == 0 {
            0
        } else {
            Hosts::new(rest).children().max(deeper)
        }
    }

    /// The most hops: the digits of the first position whose digits to the base 4 are all 1 are one more.
    fn height(self) -> usize {
        std::iter::successors(Some(1), |ones| Some(ones * RADIX + 1)).take_while(|ones| *ones < self.hosts).count()
    }

    /// The message from `parent` to the d-th position at a distance.
    fn edge(self, parent: usize, distance: usize, d: usize) -> Edge {
        let below = parent + d * distance;
        let most = if distance == self.farthest { self.first() } else { RADIX - 1 };
        let before = self.steps() - distance.ilog(RADIX) as usize;
        let round = before.min(1) * self.first() + before.saturating_sub(1) * (RADIX - 1) + most - d;
        Edge { round, parent, below: below..(below + distance).min(self.hosts) }
    }

    /// The message into a position; none into the root's.
    fn into(self, position: usize) -> Option<Edge> {
        let mut distance = 1;
        while position > 0 && position.is_multiple_of(distance * RADIX) {
            distance *= RADIX;
        }
        let d = position / distance % RADIX;
        (d > 0).then(|| self.edge(position - d * distance, distance, d))
    }

    /// The messages out of a position.
    fn out_of(self, position: usize) -> impl Iterator<Item = Edge> {
        let distances =
            std::iter::successors(Some(self.farthest), |distance| Some(distance / RADIX).filter(|d| *d > 0));
        let distances = distances.filter(move |distance| position.is_multiple_of(distance * RADIX));
        let edges = distances.flat_map(move |distance| (1..RADIX).rev().map(move |d| (distance, d)));
        let there = edges.filter(move |(distance, d)| position + d * distance < self.hosts);
        there.map(move |(distance, d)| self.edge(position, distance, d))
    }
}

/// The host at a position, as seen from that of the root.
fn host_at(position: usize, home: usize, hosts: usize) -> usize {
    if hosts.is_power_of_two() {
        home ^ position
    } else {
        (home + position) % hosts
    }
}

/// And the other way round.
fn position_of(host: usize, home: usize, hosts: usize) -> usize {
    if hosts.is_power_of_two() {
        home ^ host
    } else {
        (host + hosts - home) % hosts
    }
}

/// A message of the tree, to one of its ends.
pub struct Message {
    pub round: usize,
    /// The other end.
    pub peer: usize,
    /// Whether this end sends it.
    pub sends: bool,
    /// The places that it is for.
    pub places: Vec<Range<usize>>,
}

/// The messages of a node, and the rounds of all.
pub fn messages(problem: &Problem, node: usize) -> (usize, Vec<Message>) {
    let tree = Hosts::new(problem.hosts());
    let ranks = |host: usize| problem.places_of(host);
    // The first host has the most ranks.
    let rounds = tree.children() + ranks(0).len() - 1;
    let mut messages = Vec::new();
    if node >= problem.call.size {
        return (rounds, messages);
    }
    let home = problem.host_at(problem.root);
    let host = |position: usize| host_at(position, home, tree.hosts);
    let leader = |host: usize| if host == home { problem.root } else { ranks(host).start };
    let own = problem.host_at(node);
    let (leads, position) = (leader(own), position_of(own, home, tree.hosts));
    let mates = ranks(own).filter(|&mate| mate != leads).enumerate();
    let near = mates.map(|(nth, mate)| (tree.children() + nth, mate));
    if node != leads {
        let own = near.filter(|(_, mate)| *mate == node);
        messages.extend(own.map(|(round, _)| Message {
            round,
            peer: leads,
            sends: false,
            places: std::iter::once(node..node + 1).collect(),
        }));
        return (rounds, messages);
    }
    // Hosts lie side by side, the first one again behind the last; by exclusive or they are those that share all bits but the last few.
    let places = |below: &Range<usize>| {
        let (first, count) = (host(below.start), below.len());
        let first = if tree.hosts.is_power_of_two() { first - first % count } else { first };
        let straight = count.min(tree.hosts - first);
        let side_by_side = |first: usize, count: usize| ranks(first).start..ranks(first + count - 1).end;
        let again = (count > straight).then(|| side_by_side(0, count - straight));
        std::iter::once(side_by_side(first, straight)).chain(again).collect()
    };
    messages.extend(tree.into(position).map(|Edge { round, parent, below }| Message {
        round,
        peer: leader(host(parent)),
        sends: false,
        places: places(&below),
    }));
    messages.extend(tree.out_of(position).map(|Edge { round, below, .. }| Message {
        round,
        peer: leader(host(below.start)),
        sends: true,
        places: places(&below),
    }));
    messages.extend(near.map(|(round, mate)| {
        let places = std::iter::once(mate..mate + 1).collect();
        Message { round, peer: mate, sends: true, places }
    }));
    (rounds, messages)
}

/// Writes a node's messages, each with the data for its places.
pub fn write(problem: &Problem, node: usize, route: &mut Route, data: impl Fn(&[Range<usize>]) -> Vec<Range<usize>>) {
    let (rounds, messages) = messages(problem, node);
    route.set_rounds(rounds);
    for Message { round, peer, sends, places } in messages {
        match sends {
            true => route.send(round, peer, data(&places)),
            false => route.receive(round, peer, data(&places)),
        }
    }
}

/// Messages that the root sends to other hosts, and hops between hosts.
pub fn far(shape: &Shape) -> (usize, usize) {
    let tree = Hosts::new(shape.hosts);
    (tree.children(), tree.height())
}

/// The blocks of some places.
pub fn blocks<'p>(problem: &'p Problem, places: &'p [Range<usize>]) -> impl Iterator<Item = Range<usize>> + 'p {
    places.iter().flat_map(|places| problem.blocks(places.clone()))
}

/// The most messages that the root, and that another leader, sends to others.
pub fn children(shape: &Shape) -> (usize, usize) {
    let (tree, mates) = (Hosts::new(shape.hosts), shape.on_host.0 - 1);
    (tree.children() + mates, if shape.hosts > 1 { tree.passed() + mates } else { 0 })
}

/// Rounds and hops.
pub fn formula(shape: &Shape) -> Formula {
    let (tree, mates) = (Hosts::new(shape.hosts), shape.on_host.0 - 1);
    Formula { rounds: tree.children() + mates, hops: tree.height() + mates.min(1), ..Formula::NOTHING }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address;
    use crate::collective::{Call, Collective};

    /// Every position but the root's is entered once, in the round in which its parent sends, and by what is below of the parent.
    #[test]
    fn every_host_is_entered_once() {
        for hosts in 1..300 {
            let tree = Hosts::new(hosts);
            let mut height = vec![0; hosts];
            let mut rounds = vec![Vec::new(); hosts];
            let mut fewest = vec![usize::MAX; tree.children()];
            let mut weights = vec![0; hosts];
            for position in 0..hosts {
                assert_eq!(tree.into(position).is_none(), position == 0);
                for edge in tree.out_of(position) {
                    let entered = tree.into(edge.below.start).expect("a child");
                    assert_eq!((entered.round, entered.parent, &entered.below), (edge.round, position, &edge.below));
                    assert!(edge.round < tree.children());
                    height[edge.below.start] = height[position] + 1;
                    weights[edge.below.start] = weights[position] + 1000 - edge.below.len();
                    fewest[edge.round] = fewest[edge.round].min(edge.below.len());
                    rounds[position].push(edge.round);
                }
                // What a leader gets it sends later, one message a round.
                let before = tree.into(position).map(|edge| edge.round);
                assert!(rounds[position].is_sorted() && rounds[position].iter().all(|round| Some(*round) > before));
            }
            assert_eq!(rounds.iter().map(Vec::len).sum::<usize>(), hosts - 1);
            assert_eq!(height.iter().max(), Some(&tree.height()), "{hosts}");
            assert_eq!(rounds[0].len(), tree.children(), "{hosts}");
            assert_eq!(rounds[1..].iter().map(Vec::len).max().unwrap_or(0), tree.passed(), "{hosts}");
            let mut below: Vec<usize> = tree.out_of(0).map(|edge| edge.below.len()).collect();
            let mut stated: Vec<usize> =
                tree.subtrees().flat_map(|(positions, number)| std::iter::repeat_n(positions, number)).collect();
            below.sort_unstable();
            stated.sort_unstable();
            assert_eq!(below, stated, "{hosts}");
            assert_eq!(below.last().copied().unwrap_or(0), tree.largest(), "{hosts}");
            assert_eq!(height.iter().sum::<usize>(), tree.hops(), "{hosts}");
            assert_eq!(weights.iter().max(), Some(&tree.heaviest(&|below| 1000 - below)), "{hosts}");
            assert!(tree.fewest_below().eq(fewest), "{hosts}");
        }
    }

    /// On a cube of hosts, whatever the root: two links only where two messages start later that go over one.
    #[test]
    fn messages_go_along_the_edges_of_a_cube_of_hosts() {
        for (n, ranks) in (1..=6).flat_map(|n| [(n, 1), (n, 3)]) {
            let (hosts, size) = (1usize << n, ranks << n);
            let on = address::Hosts::with_ranks(&vec![ranks; hosts], false);
            for root in 0..size {
                let call = Call { hosts: on.clone(), ..Call::new(Collective::Broadcast, size, 1).with_root(root) };
                let problem = Problem::new(&call);
                for node in 0..size {
                    let own = problem.host_at(node);
                    let links = |message: &Message| (own ^ problem.host_at(message.peer)).count_ones();
                    let sent = messages(&problem, node).1.into_iter().filter(|message| message.sends);
                    let links: Vec<u32> = sent.map(|message| links(&message)).filter(|&links| links > 0).collect();
                    for (nth, over) in links.iter().enumerate() {
                        let later = links.get(nth + 1..nth + 3).unwrap_or_default();
                        assert!(
                            *over == 1 || *over == 2 && later == [1, 1],
                            "{hosts} x {ranks}, {root}, {node}: {links:?}"
                        );
                    }
                }
            }
        }
    }
}
