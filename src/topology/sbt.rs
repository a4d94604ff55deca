//! Graph: the spanning binomial tree (SBT).
//!
//! Reference: C.-T. Ho and S. L. Johnsson, 1986, section 3.1. Symbols: c is the relative address, k its highest 1
//! (`None` for the paper's -1).
//!
//! Definition: a node's parent clears its highest 1, k; its children set one of the zeros above k. The subtree of the root
//! that a node belongs to is its *lowest* 1: subtree j is the binomial tree of 2^(n-1-j) nodes.
//!
//! Example, the 3-cube:
//!
//! ```text
//! node      000 001 010 011 100 101 110 111
//! parent     -  000 000 001 000 001 010 011
//! ```
//!
//! ```
//! use hypercoll::topology::{sbt::Sbt, Tree};
//!
//! let tree = Sbt::new(3);
//! let parents: Vec<_> = (1..8).map(|c| tree.parent(c).unwrap()).collect();
//! assert_eq!(parents, [0b000, 0b000, 0b001, 0b000, 0b001, 0b010, 0b011]);
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; C(n,l) nodes at level l; height n; fan-out n-1-k;
//! subtree sizes 2^(n-1-k); the largest subtree of the root has half of the nodes.

use super::Tree;
use crate::address::{mask, Ports, MAX_DIMENSION};

/// The spanning binomial tree of the n-cube. Every query takes O(1) word operations.
#[derive(Clone, Copy, Debug)]
pub struct Sbt {
    n: u32,
}

impl Sbt {
    /// The tree of the cube of dimension `n`.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`].
    pub fn new(n: u32) -> Sbt {
        assert!(n <= MAX_DIMENSION, "dimension {n} above {MAX_DIMENSION}");
        Sbt { n }
    }
}

impl Tree for Sbt {
    fn dimension(&self) -> u32 {
        self.n
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        debug_assert!(c <= mask(self.n), "node {c} outside the {}-cube", self.n);
        c.checked_ilog2()
    }

    fn child_ports(&self, c: usize) -> Ports {
        let first = self.parent_port(c).map_or(0, |k| k + 1);
        Ports::from_mask(mask(self.n) ^ mask(first))
    }

    fn level(&self, c: usize) -> u32 {
        c.count_ones()
    }

    fn subtree_size(&self, c: usize) -> usize {
        1 << self.child_ports(c).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{assert_consistent, assert_spanning, binomial};
    use proptest::prelude::*;

    #[test]
    fn spans_every_small_cube() {
        for n in 0..=10 {
            assert_spanning(&Sbt::new(n));
        }
    }

    #[test]
    fn parents_in_the_4_cube() {
        let expected = [0, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7].map(Some);
        let tree = Sbt::new(4);
        assert!((1..16).map(|c| tree.parent(c)).eq(expected));
        assert_eq!(tree.parent(0), None);
    }

    #[test]
    fn levels_and_subtrees_are_binomial() {
        for n in 0..=10u32 {
            let tree = Sbt::new(n);
            let mut levels = vec![0; n as usize + 1];
            let mut subtrees = vec![0; n as usize];
            for (c, level) in tree.subtree(0) {
                levels[level as usize] += 1;
                if c != 0 {
                    subtrees[c.trailing_zeros() as usize] += 1;
                }
            }
            assert!((0..=n).all(|l| levels[l as usize] == binomial(n, l)));
            assert!((0..n).all(|j| subtrees[j as usize] == 1 << (n - 1 - j)));
            // The subtree named by the lowest 1 is the one below that port of the root.
            assert!((0..n).all(|j| tree.subtree(1 << j).all(|(c, _)| c.trailing_zeros() == j)));
            assert!((1..1usize << n).all(|c| tree.child_ports(c).len() == n - 1 - c.ilog2()));
            assert_eq!(tree.child_ports(0).len(), n);
        }
    }

    proptest! {
        #[test]
        fn consistent_in_large_cubes((n, c) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), 0..1usize << n))) {
            assert_consistent(&Sbt::new(n), c);
        }
    }
}
