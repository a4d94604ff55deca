//! The patterns behind all sends: along a path, and spread over the subcube between two opposite corners.
//!
//! Both say which part of a group of data a node passes on over which link at which stage; the groups follow one another one
//! round apart.

use super::spread_unit;
use crate::address::Ports;
use crate::collective::part;
use crate::schedule::Route;
use std::ops::Range;

/// What one node does with every group.
pub struct Relay {
    node: usize,
    hops: Vec<Hop>,
}

/// A message of the node for every group.
struct Hop {
    stage: usize,
    peer: usize,
    sends: bool,
    /// The parts of the group, in units of which the whole group has `whole`.
    parts: Vec<Range<usize>>,
    whole: usize,
}

impl Relay {
    /// Of a node that does nothing yet.
    pub fn new(node: usize) -> Relay {
        Relay { node, hops: Vec::new() }
    }

    /// The group goes from node `from` across one port after the other, the first at stage `stage`.
    pub fn path(&mut self, stage: usize, from: usize, ports: impl IntoIterator<Item = u32>) {
        let mut at = from;
        for (stage, port) in (stage..).zip(ports) {
            let next = at ^ 1 << port;
            if at == self.node || next == self.node {
                let (sends, peer) = if at == self.node { (true, next) } else { (false, at) };
                self.hops.push(Hop { stage, peer, sends, parts: std::iter::once(0..1).collect(), whole: 1 });
            }
            at = next;
        }
    }

    /// The group goes from node `from` to node `to` over all nodes in between: at stage `stage` + k those at distance k each
    /// send an equal share of what they hold over every link that leads nearer to `to`.
    pub fn spread(&mut self, stage: usize, from: usize, to: usize) {
        let (c, mask) = (self.node ^ from, from ^ to);
        if c & !mask != 0 {
            return;
        }
        let spread = Spread::new(mask);
        for port in Ports::from_mask(mask) {
            let lower = c & !(1 << port);
            self.hops.push(Hop {
                stage: stage + lower.count_ones() as usize,
                peer: self.node ^ 1 << port,
                sends: lower == c,
                parts: spread.over(lower, port),
                whole: spread.whole,
            });
        }
    }

    /// Writes the node's messages for groups, each with its first round.
    pub fn write(&self, route: &mut Route, groups: impl IntoIterator<Item = (usize, Range<usize>)>) {
        for (round, group) in groups {
            for hop in &self.hops {
                let at = |unit| part(group.clone(), unit, hop.whole).start;
                let parts = hop.parts.iter().map(|units| at(units.start)..at(units.end));
                if hop.sends {
                    route.send(round + hop.stage, hop.peer, parts);
                } else {
                    route.receive(round + hop.stage, hop.peer, parts);
                }
            }
        }
    }
}

/// Data cut into groups as even as possible, each with its first round.
pub fn grouped(data: Range<usize>, groups: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    (0..groups).map(move |q| (q, part(data.clone(), q, groups)))
}

/// The ports of a mask in ascending order, cyclically from `first` on.
pub fn cyclic(mask: usize, first: u32) -> impl Iterator<Item = u32> {
    let below = mask & ((1 << first) - 1);
    Ports::from_mask(mask ^ below).iter().chain(Ports::from_mask(below))
}

/// How a group spreads from node 0 over the nodes whose addresses are parts of a mask of d bits, to the mask itself.
///
/// A node at distance k holds 1 / C(d, k) of the group, in the order of the ports over which it came, and cuts it into d - k
/// equal shares in the order of the ports over which they go. Every cut is a multiple of 1 / lcm(1, ..., d), so
/// the shares are known everywhere without knowing the length of the group. Following a share back to node 0 costs time in
/// proportion to the number of its intervals, of which a group has d 2^(d-1) at most.
pub struct Spread {
    mask: usize,
    /// lcm(1, ..., d), the units of the whole group.
    pub whole: usize,
    /// By distance k the units that each link to distance k + 1 carries.
    loads: Vec<usize>,
}

impl Spread {
    pub fn new(mask: usize) -> Spread {
        let d = mask.count_ones() as usize;
        let whole = spread_unit(d as u32);
        let links = (0..d).scan(d, |links, k| {
            // d C(d - 1, k) links lead from distance k to distance k + 1.
            let these = *links;
            *links = these * (d - 1 - k) / (k + 1);
            Some(these)
        });
        Spread { mask, whole, loads: links.map(|links| whole / links).collect() }
    }

    /// The units that node `c` sends over `port`, one that leads away from node 0; ascending, neighbours joined.
    pub fn over(&self, c: usize, port: u32) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.collect(c, self.sent(c, port), &mut found);
        found.sort_unstable_by_key(|units| units.start);
        found.dedup_by(|next, last| {
            let joined = last.end == next.start;
            if joined {
                last.end = next.end;
            }
            joined
        });
        found
    }

    /// The places of what `c` sends over `port` in the order in which it holds its data.
    fn sent(&self, c: usize, port: u32) -> Range<usize> {
        let load = self.loads[c.count_ones() as usize];
        let earlier = self.mask & !c & ((1 << port) - 1);
        let start = earlier.count_ones() as usize * load;
        start..start + load
    }

    /// The units at some places of node `c`.
    fn collect(&self, c: usize, places: Range<usize>, found: &mut Vec<Range<usize>>) {
        if c == 0 {
            found.push(places);
            return;
        }
        let load = self.loads[c.count_ones() as usize - 1];
        for (index, port) in Ports::from_mask(c).iter().enumerate() {
            let (start, end) = (places.start.max(index * load), places.end.min((index + 1) * load));
            if start < end {
                let lower = c ^ 1 << port;
                let shift = self.sent(lower, port).start;
                self.collect(lower, shift + start - index * load..shift + end - index * load, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Played forwards on sets of units: every link carries an equal share of what its sender has received, and in the end all
    /// is at the opposite corner.
    #[test]
    fn a_group_is_spread_evenly_and_comes_together() {
        for mask in [0usize, 0b1, 0b100, 0b11, 0b1010, 0b111, 0b110101, 0b11111, 0b1111110] {
            let spread = Spread::new(mask);
            let d = mask.count_ones() as usize;
            let mut held = vec![Vec::new(); mask + 1];
            held[0] = (0..spread.whole).collect::<Vec<_>>();
            let mut intervals = 0;
            let mut nodes: Vec<usize> = (0..=mask).filter(|c| c & !mask == 0).collect();
            nodes.sort_by_key(|c| c.count_ones());
            for &c in &nodes {
                held[c].sort_unstable();
                let level = nodes.iter().filter(|other| other.count_ones() == c.count_ones()).count();
                assert_eq!(held[c].len() * level, spread.whole, "{c:b} of {mask:b}");
                let mut sent = Vec::new();
                for port in Ports::from_mask(mask & !c) {
                    let parts = spread.over(c, port);
                    let units: Vec<usize> = parts.iter().cloned().flatten().collect();
                    assert_eq!(units.len() * (d - c.count_ones() as usize), held[c].len(), "{c:b} over {port}");
                    held[c | 1 << port].extend(&units);
                    sent.extend(units);
                    if c.count_ones() as usize + 1 == d {
                        intervals += parts.len();
                    }
                }
                sent.sort_unstable();
                assert!(c == mask || sent == held[c], "{c:b} of {mask:b} sends what it holds, once");
            }
            assert_eq!(held[mask], (0..spread.whole).collect::<Vec<_>>());
            assert!(intervals <= (d << d >> 1).max(1), "{intervals} intervals for {mask:b}");
        }
    }

    #[test]
    fn ports_go_round() {
        assert_eq!(cyclic(0b11010, 3).collect::<Vec<_>>(), [3, 4, 1]);
        assert_eq!(cyclic(0b11010, 2).collect::<Vec<_>>(), [3, 4, 1]);
        assert_eq!(cyclic(0b1, 0).collect::<Vec<_>>(), [0]);
    }
}
