//! Graph: the broadcast tree of which all nodes' translated copies run at once without getting in each other's way.
//!
//! Reference: D. P. Bertsekas et al., 1991, section 2 (with errata 32 and 34). Symbols: d is n here, n(t), m(t) and E_i as in
//! [`NecklaceOrder`], A_i the links into the nodes of E_i, q the number of steps.
//!
//! Definition: node t is informed in step i(t) = ceil(n(t) / n) by the node that lacks bit m(t) - 1 = (n(t) - 1) mod n of t.
//! That bit is a 1, so the tree has shortest paths. The n nodes of one step are informed over n different
//! dimensions; hence, if every node broadcasts along its own copy of the tree (all addresses XOR its own), no two packets
//! ever want the same link in the same step.
//!
//! A node's parent is found in O(n) word operations, unless the node is cyclic (then O(n^3)); its step in O(n^3), by counting
//! instead of the paper's table; its children with n times the work of a parent.
//!
//! Example, the 4-cube, by steps, every node after its parent:
//!
//! ```text
//! 1   0-1  0-2   0-4   0-8
//! 2   2-3  4-6   8-12  1-9
//! 3   4-5  8-10  9-13  3-11
//! 4   6-7  12-14 11-15
//! ```
//!
//! ```
//! use hypercoll::topology::{multinode::MultinodeTree, Tree};
//!
//! let tree = MultinodeTree::new(4);
//! assert_eq!(tree.steps(), 4); // ceil(15 / 4)
//! assert_eq!((tree.parent(11), tree.step(11)), (Some(3), 3));
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; shortest paths; q = ceil((2^n - 1)/n); the dimensions
//! within a step differ; a parent's step is earlier than its child's.

use super::necklace_order::{NecklaceOrder, Place};
use super::Tree;
use crate::address::Ports;

/// The multinode broadcast tree of the n-cube.
#[derive(Clone, Copy, Debug)]
pub struct MultinodeTree {
    order: NecklaceOrder,
}

impl MultinodeTree {
    /// The tree of the cube of dimension `n`.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`](crate::address::MAX_DIMENSION).
    pub fn new(n: u32) -> MultinodeTree {
        MultinodeTree { order: NecklaceOrder::new(n) }
    }

    /// q, the number of steps.
    pub fn steps(&self) -> usize {
        self.order.steps()
    }

    /// The step, from 1 to q, in which node `c` is informed; 0 for the root.
    pub fn step(&self, c: usize) -> usize {
        self.order.step(c)
    }

    /// All nodes but the root, in no special order, each with its step and the port to its parent (the column).
    pub fn nodes(&self) -> impl Iterator<Item = Place> + '_ {
        self.order.nodes()
    }
}

impl Tree for MultinodeTree {
    fn dimension(&self) -> u32 {
        self.order.dimension()
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        self.order.column(c)
    }

    fn child_ports(&self, c: usize) -> Ports {
        let above = Ports::all(self.dimension()).iter().filter(|&port| c >> port & 1 == 0);
        let children = above.filter(|&port| self.parent_port(c | 1 << port) == Some(port));
        children.fold(Ports::NONE, Ports::with)
    }

    fn level(&self, c: usize) -> u32 {
        c.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::MAX_DIMENSION;
    use crate::topology::tests::{assert_consistent, assert_spanning};
    use proptest::prelude::*;

    /// A_1, A_2, ... as (parent, node).
    fn link_sets(tree: &MultinodeTree) -> Vec<Vec<(usize, usize)>> {
        let mut sets = vec![Vec::new(); tree.steps()];
        for c in 1..1usize << tree.dimension() {
            sets[tree.step(c) - 1].push((tree.parent(c).expect("not the root"), c));
        }
        sets
    }

    /// The instances of the errata, section B.
    #[test]
    fn the_link_sets_of_the_errata() {
        let check = |n: u32, expected: &[&[(usize, usize)]]| {
            let mut sets = link_sets(&MultinodeTree::new(n));
            sets.iter_mut().for_each(|set| set.sort_by_key(|&(from, to)| from ^ to));
            assert_eq!(sets, expected);
        };
        check(3, &[&[(0, 1), (0, 2), (0, 4)], &[(2, 3), (4, 6), (1, 5)], &[(6, 7)]]);
        check(
            4,
            &[
                &[(0, 1), (0, 2), (0, 4), (0, 8)],
                &[(2, 3), (4, 6), (8, 12), (1, 9)],
                &[(4, 5), (8, 10), (9, 13), (3, 11)],
                &[(6, 7), (12, 14), (11, 15)],
            ],
        );
    }

    /// The rules of the errata, section B.
    #[test]
    fn copies_do_not_meet() {
        for n in 1..=12u32 {
            let tree = MultinodeTree::new(n);
            if n <= 10 {
                assert_spanning(&tree);
            }
            let sets = link_sets(&tree);
            assert_eq!(sets.len(), ((1 << n) - 1usize).div_ceil(n as usize));
            let mut informed = vec![false; 1 << n];
            informed[0] = true;
            for (i, set) in sets.iter().enumerate() {
                assert!(i + 1 == sets.len() || set.len() == n as usize);
                let mut types: Vec<usize> = set.iter().map(|&(from, to)| from ^ to).collect();
                types.sort_unstable();
                assert!(types.iter().all(|t| t.is_power_of_two()) && types.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(set.iter().all(|&(from, to)| informed[from] && from & to == from), "step {} of {n}", i + 1);
                for &(_, to) in set {
                    assert!(!std::mem::replace(&mut informed[to], true), "{to:b} twice");
                }
            }
            assert!(!informed.contains(&false));
        }
    }

    proptest! {
        #[test]
        fn consistent_in_large_cubes((n, c) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), 0..1usize << n))) {
            let tree = MultinodeTree::new(n);
            assert_consistent(&tree, c);
            if let Some(parent) = tree.parent(c) {
                prop_assert!(tree.step(parent) < tree.step(c));
            }
        }
    }
}
