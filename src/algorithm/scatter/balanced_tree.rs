//! Scatter along the perfectly balanced shortest-path tree: the fewest rounds of one block a link, and the fewest transmissions.
//!
//! Algorithm: the root keeps all its links busy, sending on each the blocks for the nodes of that subtree one by one, the
//! farthest first; a relay passes a block on in the round after it came.
//!
//! Reference: Bertsekas, Özveren, Stamoulis, Tseng and Tsitsiklis 1991, section 3. d there is n here; a packet is a block of m
//! elements, or one of ceil(m/B) pieces of it. The paper leaves ties open; here a subtree's blocks go in descending order of
//! their node's position ([`BalancedTree::position`]), so that any node knows the round of any block from its address alone.
//!
//! Requirements: none. (B > m is the same as m: the paper's packets are never joined.)
//!
//! Cost: q = ceil((2^n - 1)/n) rounds of tau + m t_c, with packets q ceil(m/B) of tau + B t_c; no algorithm that sends one block
//! at a time over a link has fewer. n 2^(n-1) transmissions, the sum of the distances. A node learns its schedule
//! in O(n^3) word operations for each block that it handles; where cyclic nodes stand depends on the order of the whole cube.
//!
//! Memory: a relay holds a block for one round, so two at a time, one coming and one going.
//!
//! Correctness condition: the subtree's node in position i, at distance k, has its block leave the root in round q - i and
//! arrive in round q - i + k - 1; nearer nodes have lower positions, and positions in a subtree differ, so that k <= i and no link is
//! wanted twice in a round.
//!
//! Example, n = 3, root 0: round 0: block 7 to 1; round 1: 3 to 1, 6 to 2, 5 to 4, and 7 from 1 to 3; round 2: 1, 2 and 4
//! to themselves, 3 from 1, 6 from 2, 5 from 4, 7 from 3.

use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{balanced_tree::BalancedTree, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "balanced_tree",
    summary: "all ports: the root's links carry equal shares for every n, one block at a time",
    source: "BOSTT single node scatter",
    section: "3",
    differs: "which of several blocks goes first the paper leaves open",
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::AllPorts],
    cost: "ceil((2^n - 1)/n) (tau + m t_c); in packets of B <= m: ceil((2^n - 1)/n) ceil(m/B) (tau + B t_c)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the scatter.
pub fn formula(shape: &Shape) -> Formula {
    let (n, others, m) = (shape.n as usize, shape.nodes() - 1, shape.count as f64);
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let blocks = others.div_ceil(n);
    let rounds = blocks * shape.packets();
    Formula {
        rounds,
        elements: shape.in_packets(rounds, 1),
        moved: (n * shape.nodes() / 2) as f64 * m,
        load: blocks as f64 * m,
        scratch: (blocks - 1) as f64 * m,
        hops: blocks,
        path: blocks as f64 * m,
        ..Formula::NOTHING
    }
    // Relays at different levels are at different packets of their blocks.
    .at_most(&[Figure::Elements, Figure::Path], shape.full_packets())
}

/// The cost of the gather, which is the same backwards: the root receives all blocks.
pub fn gathered(shape: &Shape) -> Formula {
    formula(shape).with_path(((shape.nodes() - 1) * shape.count) as f64, true)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let root = problem.root;
    let tree = BalancedTree::new(problem.n);
    let packet = parameters.packet.unwrap_or(usize::MAX).min(problem.call.count).max(1);
    let packets = problem.call.count.div_ceil(packet);
    route.set_rounds(tree.largest_subtree() * packets);
    // The packets that enter node `top` of the tree, each with its round.
    let arrivals = |top: usize| {
        let below = tree.subtree(top).map(|(v, _)| (v, problem.block(v ^ root))).filter(|(_, block)| !block.is_empty());
        let level = tree.level(top) as usize;
        below.flat_map(move |(v, block)| {
            let first = (tree.largest_subtree() - tree.position(v)) * packets + level - 1;
            let pieces = block.clone().step_by(packet).map(move |start| start..block.end.min(start + packet));
            (first..).zip(pieces)
        })
    };
    let c = node ^ root;
    if let Some(parent) = tree.parent(c) {
        arrivals(c).for_each(|(round, piece)| route.receive(round, parent ^ root, [piece]));
    }
    for child in tree.children(c) {
        arrivals(child).for_each(|(round, piece)| route.send(round, child ^ root, [piece]));
    }
}

#[cfg(test)]
mod tests {
    use super::super::transfers::{sent, ON_THE_3_CUBE};
    use super::*;
    use crate::algorithm::verify::schedules;
    use crate::collective::Call;

    #[test]
    fn memory() {
        // Blocks long enough for scratch memory to be used again.
        let count = 1 << 16;
        let parameters = Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
        for n in 0..=6 {
            let schedules = schedules(
                &ALGORITHM,
                &Call::new(Collective::Scatter, 1 << n, count).with_root((1 << n) - 1),
                &parameters,
            );
            assert!(schedules.iter().all(|schedule| schedule.scratch <= 2 * count), "n = {n}");
        }
    }

    /// The example of the header.
    #[test]
    fn the_3_cube() {
        assert_eq!(sent(Collective::Scatter, 3, write), ON_THE_3_CUBE);
    }
}
