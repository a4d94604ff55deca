//! The pattern behind all exchanges: every node talks to its neighbour across one dimension after the other.
//!
//! Plain, all data goes through the dimensions 0, 1, ..., n-1. Symmetrised, the data is cut into n slices, and slice s goes
//! through the dimensions s, s+1, ..., s-1 (cyclically), so that in every step each slice uses a port of its own (Stout and
//! Wagar 1990, section 2, "symmetrize").
//!
//! What doubles in every step goes far first, while there is least of it ([`Exchange::far_first`]). Ranks whose numbers are far apart
//! are so, as a rule, on a tree of switches or a torus as well. And where 2^k ranks of a host are a subcube, there are n - k slices; slice s
//! goes through the far dimensions n-1-s, n-2-s, ..., and then through the near ones s, s+1, ..., cyclically within each.

use super::{Parameters, PortModel, Shape};
use crate::address::{reverse_bits, rotate_left, rotate_right};
use crate::collective::part;
use crate::schedule::{Problem, Route};
use std::ops::Range;

/// The order in which an exchange goes through the dimensions.
#[derive(Clone, Copy)]
pub struct Exchange {
    n: u32,
    symmetrized: bool,
    one_way: bool,
    backwards: bool,
    /// The dimensions that come last: those within a host, where it counts.
    near: u32,
    /// Whether the other dimensions come from the top one down.
    down: bool,
}

/// What goes into, or out of, the busiest host of an all-gather whose dimensions between hosts come first. Of hosts that are subcubes
/// every rank gets one block of each other host, and sends as many, or one for each host of the next larger cube if it plays two nodes.
/// If the last host has fewer ranks, other nodes of its subcube are played by another host: in the near dimensions all that comes to
/// those goes on to its ranks. Elsewhere near dimensions lead to other hosts, too: it is all that the ranks of a host receive or send.
/// Unless all hosts are as large it is a bound.
pub fn crossing(shape: &Shape) -> f64 {
    let (most, fewest) = shape.on_host;
    let blocks = if most.is_power_of_two() && (shape.hosts - 1) * most + fewest == shape.size {
        let far = shape.nodes() / most;
        let played = most - fewest;
        most * (far - 1) + played * (far - 1) + fewest * played * far
    } else {
        most * (shape.nodes() - 1)
    };
    (blocks * shape.count) as f64
}

impl Exchange {
    pub fn new(n: u32, parameters: &Parameters) -> Exchange {
        let one_way = parameters.ports == PortModel::OneWay;
        Exchange { n, symmetrized: parameters.symmetrized, one_way, backwards: false, near: 0, down: false }
    }

    /// The same through the dimensions in the opposite order.
    pub fn backwards(self) -> Exchange {
        Exchange { backwards: !self.backwards, ..self }
    }

    /// The same, the farther dimensions first, unless the order in which they join ranks is given.
    pub fn far_first(self, problem: &Problem) -> Exchange {
        Exchange { near: problem.near(), down: !problem.call.in_order_of_nodes(), ..self }
    }

    /// The same, seen from a formula.
    pub fn of_shape(shape: &Shape) -> Exchange {
        Exchange { near: shape.near(), ..Exchange::new(shape.n, &shape.parameters) }
    }

    /// Number of slices of the data: if symmetrised as many as there are dimensions between hosts, else 1.
    pub fn slices(&self) -> u32 {
        if self.symmetrized {
            self.n - self.near
        } else {
            self.n.min(1)
        }
    }

    /// Slice `slice` of an interval.
    pub fn slice(&self, whole: Range<usize>, slice: u32) -> Range<usize> {
        part(whole, slice as usize, self.slices() as usize)
    }

    /// The port that a slice uses in a step.
    pub fn port(&self, slice: u32, step: u32) -> u32 {
        let step = if self.backwards { self.n - 1 - step } else { step };
        let far = self.n - self.near;
        match step.checked_sub(far) {
            None if self.down => self.n - 1 - (slice + step) % far,
            None => self.near + (slice + step) % far,
            Some(step) => (slice + step) % self.near,
        }
    }

    /// A node's number among all, in the order in which the steps of a slice join them: bit j is the address bit of step j.
    pub fn joined(&self, node: usize, slice: u32) -> usize {
        let far = self.n - self.near;
        let (upper, lower) = (node >> self.near, node & ((1 << self.near) - 1));
        let upper = if self.down { reverse_bits(upper, far) } else { upper };
        rotate_right(upper, slice, far) | rotate_right(lower, slice, self.near) << far
    }

    /// The node to which [`Exchange::joined`] gives a number.
    pub fn joining(&self, number: usize, slice: u32) -> usize {
        let far = self.n - self.near;
        let upper = rotate_left(number & ((1 << far) - 1), slice, far);
        let upper = if self.down { reverse_bits(upper, far) } else { upper };
        upper << self.near | rotate_left(number >> far, slice, self.near)
    }

    /// The most that the links of a dimension carry if in step t a slice carries `carried(slice, t)`: of all steps together, and of the
    /// busiest in every step.
    pub fn loads(&self, carried: impl Fn(u32, u32) -> usize) -> (usize, usize) {
        let mut load = [0; usize::BITS as usize];
        let mut each = 0;
        for step in 0..self.n {
            let mut now = [0; usize::BITS as usize];
            (0..self.slices()).for_each(|slice| now[self.port(slice, step) as usize] += carried(slice, step));
            load.iter_mut().zip(&now).for_each(|(load, now)| *load += now);
            each += now.iter().max().unwrap_or(&0);
        }
        (load.into_iter().max().unwrap_or(0), each)
    }

    /// The round in which `sender` sends over `port` in a step. One way at a time, the two neighbours take turns: first
    /// the one whose bit is 0.
    pub fn round(&self, step: u32, sender: usize, port: u32) -> usize {
        if self.one_way {
            2 * step as usize + (sender >> port & 1)
        } else {
            step as usize
        }
    }

    /// Rounds of the n steps.
    pub fn rounds(&self) -> usize {
        self.n as usize * if self.one_way { 2 } else { 1 }
    }

    /// The address bits that a slice's steps before `step` have changed.
    pub fn done(&self, slice: u32, step: u32) -> usize {
        (0..step).fold(0, |mask, earlier| mask | 1 << self.port(slice, earlier))
    }

    /// Writes a personalised exchange: `item(slice, from, to)`, what there is of a slice, goes from node `from` to node `to`, for all
    /// pairs. Each step moves what has to change the step's bit; a node then holds what has come from the nodes that differ from it
    /// in the bits of the steps so far.
    pub fn personalised(
        &self,
        first_round: usize,
        node: usize,
        route: &mut Route,
        item: impl Fn(u32, usize, usize) -> Range<usize>,
    ) {
        let all = (1usize << self.n) - 1;
        for slice in 0..self.slices() {
            for step in 0..self.n {
                let port = self.port(slice, step);
                let peer = node ^ 1 << port;
                let done = self.done(slice, step);
                let later = all & !done & !(1 << port);
                let crossing = |sender: usize| {
                    let from = subsets(done).map(move |bits| sender ^ bits);
                    let item = &item;
                    from.flat_map(move |from| {
                        let to = subsets(later).map(move |bits| sender ^ 1 << port ^ bits);
                        to.map(move |to| item(slice, from, to))
                    })
                };
                route.send(first_round + self.round(step, node, port), peer, crossing(node));
                route.receive(first_round + self.round(step, peer, port), peer, crossing(peer));
            }
        }
    }

    /// Writes the exchange of what a node has with everything that its neighbours know: `item(slice, of)`, what node `of` has of a
    /// slice, to every node.
    pub fn replicated(&self, node: usize, route: &mut Route, item: impl Fn(u32, usize) -> Range<usize>) {
        let item = &item;
        self.spread(node, route, |slice, done, v| subsets(done).map(move |bits| item(slice, v ^ bits)));
    }

    /// The same, given of a slice what all nodes have together that differ from a node in none but some bits: `known(slice, bits, node)`.
    pub fn spread<K: IntoIterator<Item = Range<usize>>>(
        &self,
        node: usize,
        route: &mut Route,
        known: impl Fn(u32, usize, usize) -> K,
    ) {
        route.set_rounds(self.rounds());
        for slice in 0..self.slices() {
            for step in 0..self.n {
                let port = self.port(slice, step);
                let peer = node ^ 1 << port;
                let done = self.done(slice, step);
                route.send(self.round(step, node, port), peer, known(slice, done, node));
                route.receive(self.round(step, peer, port), peer, known(slice, done, peer));
            }
        }
    }
}

/// Writes a direct exchange: in round k - 1, k = 1, ..., N - 1, `item(from, to)` goes from every node to the node whose address
/// differs from its own by k. One way at a time, the lower of the two sends first.
pub fn pairwise(
    problem: &Problem,
    parameters: &Parameters,
    node: usize,
    route: &mut Route,
    item: impl Fn(usize, usize) -> Range<usize>,
) {
    let one_way = parameters.ports == PortModel::OneWay;
    route.set_rounds(2 * problem.nodes());
    // Where nodes have no rank of their own, their blocks are empty, and so are those for them.
    let owned = |node| problem.hosting.owner(node).is_some();
    if !owned(node) {
        return;
    }
    for (k, peer) in (1..problem.nodes()).map(|k| (k, node ^ k)).filter(|(_, peer)| owned(*peer)) {
        let round = |sender: usize| if one_way { 2 * (k - 1) + usize::from(sender > sender ^ k) } else { k - 1 };
        route.send(round(node), peer, [item(node, peer)]);
        route.receive(round(peer), peer, [item(peer, node)]);
    }
}

/// All subsets of a set of bits, the empty one first.
pub fn subsets(mask: usize) -> impl Iterator<Item = usize> + Clone {
    std::iter::successors(Some(0), move |&subset: &usize| {
        let next = subset.wrapping_sub(mask) & mask;
        (next != 0).then_some(next)
    })
}

/// The longest of the parts with even index where [`part`] cuts `len` elements into 2^i. The last part, of odd index, is as long as
/// any; and if what is left over after equal parts is a power of two, all of it is in parts of odd index.
pub fn longest_even_part(len: usize, i: u32) -> usize {
    let left_over = len % (1 << i);
    (len >> i) + usize::from(left_over.count_ones() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All exchanges of a cube with so many near dimensions.
    fn exchanges(n: u32, near: u32) -> [Exchange; 4] {
        let of = |symmetrized, down| Exchange { n, symmetrized, one_way: false, backwards: false, near, down };
        [of(false, false), of(false, true), of(true, false), of(true, true)]
    }

    #[test]
    fn slices_go_through_all_dimensions_the_far_ones_first_and_at_once() {
        for (n, near) in (1..7).flat_map(|n| (0..n).map(move |near| (n, near))) {
            for exchange in exchanges(n, near) {
                for slice in 0..exchange.slices() {
                    let mut ports: Vec<u32> = (0..n).map(|step| exchange.port(slice, step)).collect();
                    assert!(ports[..(n - near) as usize].iter().all(|&port| port >= near), "{n} {near} {ports:?}");
                    ports.sort_unstable();
                    assert_eq!(ports, (0..n).collect::<Vec<_>>());
                }
                for step in 0..n - near {
                    let mut ports: Vec<u32> = (0..exchange.slices()).map(|slice| exchange.port(slice, step)).collect();
                    ports.sort_unstable();
                    ports.dedup();
                    assert_eq!(ports.len() as u32, exchange.slices());
                }
            }
        }
    }

    #[test]
    fn what_is_joined_first_has_numbers_side_by_side() {
        for (n, near) in (1..6).flat_map(|n| (0..n).map(move |near| (n, near))) {
            for exchange in exchanges(n, near) {
                for (slice, step) in (0..exchange.slices()).flat_map(|slice| (0..=n).map(move |step| (slice, step))) {
                    for node in 0..1 << n {
                        assert_eq!(exchange.joining(exchange.joined(node, slice), slice), node);
                        let known = subsets(exchange.done(slice, step)).map(|bits| exchange.joined(node ^ bits, slice));
                        let mut known: Vec<usize> = known.collect();
                        known.sort_unstable();
                        let first = known[0];
                        assert!(
                            first.is_multiple_of(1 << step) && known.iter().copied().eq(first..first + (1 << step))
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn subsets_are_all_and_distinct() {
        assert_eq!(subsets(0).collect::<Vec<_>>(), [0]);
        assert_eq!(subsets(0b101).collect::<Vec<_>>(), [0, 1, 4, 5]);
    }
}
