//! Scatter out of the multinode broadcast: what the root receives there, sent back in the opposite order.
//!
//! Algorithm: in [`all_gather::multinode_broadcast`](crate::algorithm::all_gather::multinode_broadcast) the root receives a block over
//! each of its links in every round. Backwards, it sends one over each, and every block goes the way that it would have come, in the
//! opposite rounds. So a relay needs nothing but an address: with r = own address XOR destination, the block goes on over port
//! column(r), in round q - step(r).
//!
//! Reference: Bertsekas, Özveren, Stamoulis, Tseng and Tsitsiklis 1991, section 3, which says that a scatter with the fewest transmissions
//! can be had from the multinode broadcast, and takes the tree of [`balanced_tree`](super::balanced_tree) instead, as this was complex to
//! visualise. d there is n here; step and column are those of [`MultinodeTree`], a packet is a block of m elements.
//!
//! The ways of the blocks turn out to be those of that very tree (tested up to n = 12). The rounds are not: there a relay passes a block
//! on at once, here it waits for the block's turn.
//!
//! Requirements: none.
//!
//! Cost: q = ceil((2^n - 1)/n) rounds of tau + m t_c; n 2^(n-1) transmissions, the fewest that there can be. A node with k ones in its
//! relative address looks at 2^(n-k) destinations, O(n k) word operations each.
//!
//! Memory: a relay holds up to q - 1 blocks of others.
//!
//! Correctness condition: the broadcast's: its steps rise along every path, and no two of its blocks want a link in one step.
//!
//! Example, n = 3, root 0, q = 3: round 0: block 7 to 1; round 1: 3 to 1, 6 to 2, 5 to 4, and 7 from 1 to 3; round 2: 1, 2 and 4 to
//! themselves, 3 from 1, 6 from 2, 5 from 4, 7 from 3. For n = 4, q = 4, block 7
//! goes to 1 in round 0, and waits there till round 2.

use super::balanced_tree;
use crate::address::mask;
use crate::algorithm::exchange::subsets;
use crate::algorithm::{Algorithm, Form, Parameters, Route};
use crate::schedule::Problem;
use crate::topology::multinode::MultinodeTree;
use crate::topology::Tree;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "multinode",
    summary: "all ports: as balanced_tree, but relays keep blocks for longer",
    source: "BOSTT scatter out of the multinode broadcast",
    section: "3",
    differs: "the paper only says that there is one; its tree is balanced_tree's, its rounds are not",
    packets: &[],
    cost: "ceil((2^n - 1)/n) (tau + m t_c)",
    form: Form::Forward(write),
    ..balanced_tree::ALGORITHM
};

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let (n, root) = (problem.n, problem.root);
    let tree = MultinodeTree::new(n);
    let steps = tree.steps();
    route.set_rounds(steps);
    let here = node ^ root;
    // Destinations whose shortest ways may pass here.
    for c in subsets(mask(n) & !here).map(|others| others | here).filter(|&c| c != 0) {
        let Some(last) = way(&tree, c, here) else { continue };
        let block = problem.block(c ^ root);
        if let Some((before, port)) = last {
            route.receive(steps - tree.step(before), node ^ 1 << port, [block.clone()]);
        }
        let left = c ^ here;
        if let Some(port) = tree.parent_port(left) {
            route.send(steps - tree.step(left), node ^ 1 << port, [block]);
        }
    }
}

/// How a block for `c` comes to `here`: what was left of its way before the last link, and that link's port. `None` if it does not.
fn way(tree: &MultinodeTree, c: usize, here: usize) -> Option<Option<(usize, u32)>> {
    let (mut left, mut last) = (c, None);
    while left & here != 0 {
        let port = tree.parent_port(left).filter(|port| here >> port & 1 == 1)?;
        last = Some((left, port));
        left ^= 1 << port;
    }
    Some(last)
}

#[cfg(test)]
mod tests {
    use super::super::transfers::{sent, ON_THE_3_CUBE};
    use super::*;
    use crate::algorithm::verify::verify;
    use crate::algorithm::{all_gather, PortModel};
    use crate::collective::{Call, Collective};
    use crate::topology::balanced_tree::BalancedTree;
    use std::collections::HashSet;

    fn parameters() -> Parameters {
        Parameters::new(PortModel::AllPorts)
    }

    /// The example of the header.
    #[test]
    fn the_3_cube() {
        assert_eq!(sent(Collective::Scatter, 3, write), ON_THE_3_CUBE);
    }

    /// Backwards, all of it is in the multinode broadcast; and of its way every block takes the shortest.
    #[test]
    fn it_is_part_of_the_multinode_broadcast() {
        for n in 1..=7u32 {
            let steps = MultinodeTree::new(n).steps();
            let broadcast = sent(Collective::AllGather, n, all_gather::multinode_broadcast::write);
            let broadcast: HashSet<_> = broadcast.into_iter().collect();
            let scatter = sent(Collective::Scatter, n, write);
            assert_eq!(scatter.len(), n as usize * (1 << n) / 2);
            for (round, from, to, block) in scatter {
                assert!(broadcast.contains(&(steps - 1 - round, to, from, block)), "n = {n}: {block} {from} to {to}");
            }
        }
    }

    /// The tree that the ways make: a node's parent is the node before it on the way of its own block.
    #[test]
    fn the_ways_are_those_of_the_balanced_tree() {
        for n in 1..=12u32 {
            let (tree, balanced) = (MultinodeTree::new(n), BalancedTree::new(n));
            for c in 1..1usize << n {
                assert_eq!(way(&tree, c, c).flatten().map(|(_, port)| port), balanced.parent_port(c), "n = {n}: {c:b}");
                // And whatever passes a node has come from its parent.
                if n <= 9 {
                    let mut here = 0;
                    while here != c {
                        let left = c ^ here;
                        here |= 1 << tree.parent_port(left).expect("not there yet");
                        assert_eq!(way(&tree, c, here).flatten().map(|(_, port)| port), balanced.parent_port(here));
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_wait_from_the_4_cube_on() {
        for (n, waits) in [(2, false), (3, false), (4, true), (5, true)] {
            let at_once = sent(Collective::Scatter, n, balanced_tree::write);
            assert_eq!(sent(Collective::Scatter, n, write) != at_once, waits, "n = {n}");
        }
        let to_7 = sent(Collective::Scatter, 4, write).into_iter().filter(|&(.., block)| block == 7);
        let expected = [(0, 0, 1, 7), (2, 1, 3, 7), (3, 3, 7, 7)];
        assert!(to_7.eq(expected));
    }

    /// All roots, sizes and counts; the formula is compared on whole cubes.
    #[test]
    fn any_size_and_root() {
        for size in 1..=17 {
            for root in 0..size {
                for count in [0, 1, 5] {
                    let call = Call::new(Collective::Scatter, size, count).with_root(root);
                    assert_eq!(verify(&ALGORITHM, &call, &parameters()).violations, [], "{size} ranks, root {root}");
                }
            }
        }
        let call = Call::new(Collective::Scatter, 256, 3).with_root(201);
        assert_eq!(verify(&ALGORITHM, &call, &parameters()).violations, []);
    }
}
