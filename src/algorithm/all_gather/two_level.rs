//! All-gather by a gather to the first rank of the first host and a broadcast from it, both along a tree of two levels.
//!
//! Algorithm: every leader gathers the blocks of its host, and of those below it in a 4-nomial tree of the hosts, and sends them up; then
//! every rank is sent the blocks that it has not, the same way back. See [`two_level`].
//!
//! Reference: classic k-nomial tree, on hosts.
//!
//! Requirements: a network where every two ranks are linked.
//!
//! Cost: H hosts of R ranks: 2 (c + R - 1) tau and less than (P - 1) (c + R) M t_c, c <= 3 ceil(log4 H); two messages a host between
//! hosts, where every rank of a host sends as many in other algorithms. At most 2 (ceil(log4 H) + 1) hops.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: before it sends anything down, a leader has received the blocks of all below it, and those of all others.
//!
//! Example, 4 ranks, 2 on each of 2 hosts: block 1 to 0 and 3 to 2; 2 3 to 0; then 0 1 to 2; 0 2 3 to 1 and 0 1 2 from 2 to 3.

use crate::algorithm::two_level::{self, blocks, Hosts, Message};
use crate::algorithm::{scatter, Algorithm, Figure, Form, Formula, Parameters, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    summary: "short blocks, hosts with several ranks: two messages between each host and the others, few hops",
    cost: "2 (c + R - 1) tau + less than (P - 1) (c + R) M t_c, c <= 3 ceil(log4 H)",
    formula,
    far: Some(|shape| {
        let (messages, hops) = two_level::far(shape);
        (2 * messages, 2 * hops)
    }),
    crossing: Some(|shape| (down(shape, false) * shape.count) as f64),
    form: Form::Forward(write),
    ..scatter::two_level::ALGORITHM
};

/// Blocks that the root of the tree sends to other leaders; or, in the rounds of these messages, the most that any leader sends.
fn down(shape: &Shape, busiest: bool) -> usize {
    let (tree, (most, fewest)) = (Hosts::new(shape.hosts), shape.on_host);
    if busiest {
        return tree.fewest_below().map(|positions| shape.size - positions * fewest).sum();
    }
    tree.children() * shape.size - (shape.size - most)
}

/// The cost of the all-gather. (Hops and path are bounds, as what goes down to a rank need not wait for what comes from there.)
pub fn formula(shape: &Shape) -> Formula {
    let (tree, most, m) = (Hosts::new(shape.hosts), shape.on_host.0, shape.count);
    if m == 0 || shape.size == 1 {
        return Formula::NOTHING;
    }
    let (others, mates) = (shape.size - 1, most - 1);
    let up = scatter::two_level::gathered(shape);
    let way = tree.heaviest(&|positions| shape.size.saturating_sub(positions * most)) + mates.min(1) * others;
    Formula {
        rounds: 2 * up.rounds,
        elements: up.elements + ((down(shape, true) + mates * others) * m) as f64,
        moved: (shape.size * others * m) as f64,
        load: (others * m) as f64,
        scratch: 0.0,
        hops: 2 * up.hops,
        path: up.elements + (way * m) as f64,
        ..up
    }
    .at_most(&[Figure::Hops, Figure::Path], false)
    .anywhere(shape)
}

/// The cost of the reduce-scatter, which is the same backwards: the root of the tree combines what its children and its mates send, but
/// what comes first for its own block.
pub fn reduce_scattered(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if forward == Formula::NOTHING {
        return forward;
    }
    let (most, m) = (shape.on_host.0, shape.count as f64);
    let scattered = scatter::two_level::formula(shape);
    let received = down(shape, false) + (most - 1) * (shape.size - 1);
    let path = forward.elements - scattered.elements + scattered.path;
    Formula { scratch: (received - 1) as f64 * m, path, ..forward }.anywhere(shape)
}

impl Formula {
    /// The same where hosts have different numbers of ranks: a rank receives one message a round, so that the path is no longer than all of
    /// them.
    fn anywhere(self, shape: &Shape) -> Formula {
        let equal = shape.on_host.0 == shape.on_host.1;
        Formula { path: if equal { self.path } else { self.elements }, ..self }
    }
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    // Whichever place rank 0 has.
    let problem = &Problem { root: 0, ..*problem };
    let (rounds, messages) = two_level::messages(problem, node);
    route.set_rounds(2 * rounds);
    for Message { round, peer, sends, places } in &messages {
        match sends {
            true => route.receive(rounds - 1 - round, *peer, blocks(problem, places)),
            false => route.send(rounds - 1 - round, *peer, blocks(problem, places)),
        }
    }
    for Message { round, peer, sends, places } in &messages {
        let others = others(places, problem.call.size);
        match sends {
            true => route.send(rounds + round, *peer, blocks(problem, &others)),
            false => route.receive(rounds + round, *peer, blocks(problem, &others)),
        }
    }
}

/// The places that are not among some, which lie side by side, as the positions of a subtree do from the first host on.
fn others(places: &[Range<usize>], size: usize) -> [Range<usize>; 2] {
    let (first, last) = (places.first().map_or(0, |range| range.start), places.last().map_or(0, |range| range.end));
    [0..first, last..size]
}
