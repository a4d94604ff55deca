//! Graph: the multiple spanning binomial trees (MSBT), n edge-disjoint spanning trees of height n+1.
//!
//! Reference: C.-T. Ho and S. L. Johnsson, 1986, sections 3.2 and 3.3.2. Symbols: j is the number of the tree, c the
//! relative address, k its first 1 cyclically to the right of bit j, f(i,j) the label of the edge into the node. The code
//! counts the way from bit j to bit k as h = (k - j) mod n, and gives the nodes with bit j clear h = n; then f = j + h, and
//! f mod n is the port to the parent in every case.
//!
//! Definition: the j-th tree is an edge-reversed spanning binomial tree (ERSBT). The root's one child is node 2^j. A node
//! with bit j set clears bit k to find its parent (for node 2^j, k = j and the parent is the root); a node with bit j clear
//! is a leaf, and sets bit j to find its parent. The n trees together use every directed edge of the cube but the n edges
//! into the root. Pipelined, packet q goes down tree q mod n, over the edge into a node in cycle (q div n) n + f.
//!
//! Example, the 3-cube (parents and labels of the nodes 000 to 111):
//!
//! ```text
//! node           000 001 010 011 100 101 110 111
//! j=0  parent     -  000 011 001 101 001 111 011
//!      label      -   0   3   1   3   2   3   2
//! j=1  parent     -  011 000 010 110 111 010 110
//!      label      -   4   1   3   4   4   2   3
//! j=2  parent     -  101 110 111 000 100 100 101
//!      label      -   5   5   5   2   3   4   4
//! ```
//!
//! ```
//! use hypercoll::topology::{msbt::Ersbt, Tree};
//!
//! // Tree j leaves the root over port j, in step j.
//! for j in 0..3 {
//!     let tree = Ersbt::new(3, j);
//!     let child = tree.children(0).next().unwrap();
//!     assert_eq!((child, tree.label(child)), (1 << j, Some(j)));
//! }
//! assert_eq!(Ersbt::new(3, 1).parent(0b101), Some(0b111));
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; height n+1; closed forms of level and subtree size
//! against a walk; edge-disjoint; the three conditions of a valid labelling; labels mod n are the dimensions of the edges.

use super::Tree;
use crate::address::{mask, rotate_left, rotate_right, Ports, MAX_DIMENSION};

/// The j-th edge-reversed spanning binomial tree of the MSBT graph. Every query takes O(1) word operations.
#[derive(Clone, Copy, Debug)]
pub struct Ersbt {
    n: u32,
    j: u32,
}

impl Ersbt {
    /// Tree `j` of the n trees of the cube of dimension `n`. (The cube of dimension 0 has none.)
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`], or `j` is not below `n`.
    pub fn new(n: u32, j: u32) -> Ersbt {
        assert!(n <= MAX_DIMENSION, "dimension {n} above {MAX_DIMENSION}");
        assert!(j < n, "the {n}-cube has no tree {j}");
        Ersbt { n, j }
    }

    /// j.
    pub fn number(&self) -> u32 {
        self.j
    }

    /// f(i,j): the routing cycle, from 0, in which the first packet of this tree enters node `c`; `None` for the root.
    ///
    /// Labels are from 0 to 2n-1. Along a path they increase, and the labels of the n trees into one node, as those out of
    /// one node, are distinct modulo n. Ho & Johnsson 1986, section 3.3.2.
    pub fn label(&self, c: usize) -> Option<u32> {
        self.steps(c).map(|h| self.j + h)
    }

    /// The level of node `c`: 0 for the root, |c| for a node with bit j set, |c| + 2 for the other leaves.
    ///
    /// The same as [`Tree::level`], which defers to it.
    pub fn level(&self, c: usize) -> u32 {
        match self.steps(c) {
            None => 0,
            Some(h) if h == self.n => c.count_ones() + 2,
            Some(_) => c.count_ones(),
        }
    }

    /// h: how many ports to the left of port j, cyclically, the port to the parent is; n for a node with bit j clear.
    fn steps(&self, c: usize) -> Option<u32> {
        debug_assert!(c <= mask(self.n), "node {c} outside the {}-cube", self.n);
        let highest = self.aligned(c).checked_ilog2()?;
        Some(if c >> self.j & 1 == 1 { highest } else { self.n })
    }

    /// The address with bit j rotated to bit 0: what is to the right of j, cyclically, reads from the highest bit down.
    fn aligned(&self, c: usize) -> usize {
        rotate_right(c, self.j, self.n)
    }
}

impl Tree for Ersbt {
    fn dimension(&self) -> u32 {
        self.n
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        self.label(c).map(|label| label % self.n)
    }

    fn child_ports(&self, c: usize) -> Ports {
        let aligned = match self.steps(c) {
            None => 1,
            Some(h) if h == self.n => 0,
            Some(0) => mask(self.n) ^ 1,
            // The zeros between k and j, and j itself: the leaf across port j.
            Some(h) => (mask(self.n) ^ mask(h + 1)) | 1,
        };
        Ports::from_mask(rotate_left(aligned, self.j, self.n))
    }

    fn level(&self, c: usize) -> u32 {
        Ersbt::level(self, c)
    }

    fn subtree_size(&self, c: usize) -> usize {
        match self.steps(c) {
            None => 1 << self.n,
            Some(0) => mask(self.n),
            Some(h) => 1 << (self.n - h),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::previous_one;
    use crate::topology::tests::{assert_consistent, assert_spanning};
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// The definition by cases of sections 3.2 and 3.3.2: (port to the parent, label).
    fn literal(n: u32, j: u32, c: usize) -> Option<(u32, u32)> {
        let k = previous_one(c, j, n)?;
        Some(match c >> j & 1 {
            0 => (j, j + n),
            _ if k >= j => (k, k),
            _ => (k, k + n),
        })
    }

    #[test]
    fn the_three_trees_of_the_3_cube() {
        // Parents, then labels, of the nodes 1 to 7: the worked example in section B of the errata.
        let expected = [
            ([0, 3, 1, 5, 1, 7, 3], [0, 3, 1, 3, 2, 3, 2]),
            ([3, 0, 2, 6, 7, 2, 6], [4, 1, 3, 4, 4, 2, 3]),
            ([5, 6, 7, 0, 4, 4, 5], [5, 5, 5, 2, 3, 4, 4]),
        ];
        for (j, (parents, labels)) in (0..).zip(expected) {
            let tree = Ersbt::new(3, j);
            assert!((1..8).map(|c| tree.parent(c)).eq(parents.map(Some)), "parents in tree {j}");
            assert!((1..8).map(|c| tree.label(c)).eq(labels.map(Some)), "labels in tree {j}");
            assert_eq!((tree.parent(0), tree.label(0)), (None, None));
        }
    }

    #[test]
    fn every_tree_spans_every_small_cube() {
        for n in 1..=9 {
            for j in 0..n {
                let tree = Ersbt::new(n, j);
                assert_spanning(&tree);
                let height = (0..1 << n).map(|c| tree.level(c)).max();
                assert_eq!(height, Some(if n == 1 { 1 } else { n + 1 }));
                assert_eq!(tree.child_ports(0), Ports::NONE.with(j));
                for c in 1..1 << n {
                    let (port, label) = literal(n, j, c).expect("only the root has no parent");
                    assert_eq!((tree.parent_port(c), tree.label(c)), (Some(port), Some(label)));
                    assert!(c >> j & 1 == 1 || tree.child_ports(c).is_empty(), "{c:b} is no leaf");
                }
            }
        }
    }

    #[test]
    fn the_trees_share_no_directed_edge() {
        for n in 1..=10 {
            let mut edges = HashSet::new();
            for j in 0..n {
                let tree = Ersbt::new(n, j);
                for c in 0..1usize << n {
                    for port in tree.child_ports(c) {
                        assert!(edges.insert((c, port)), "{c:b} sends twice across {port}");
                        assert_ne!(c ^ 1 << port, 0, "an edge into the root");
                    }
                }
            }
            assert_eq!(edges.len(), n as usize * mask(n));
        }
    }

    #[test]
    fn the_labelling_is_valid() {
        for n in 1..=8 {
            let trees: Vec<Ersbt> = (0..n).map(|j| Ersbt::new(n, j)).collect();
            for c in 0..1usize << n {
                let (mut arrivals, mut departures) = (HashSet::new(), HashSet::new());
                for tree in &trees {
                    let arrival = tree.label(c);
                    if let Some(label) = arrival {
                        assert!(label < 2 * n);
                        assert!(arrivals.insert(label % n), "two packets into {c:b} at once");
                        assert_eq!(tree.parent_port(c), Some(label % n));
                    }
                    for child in tree.children(c) {
                        let label = tree.label(child);
                        assert!(label > arrival, "{c:b} sends what it does not have");
                        assert!(departures.insert(label.map(|label| label % n)), "two packets out of {c:b} at once");
                    }
                }
            }
            // 2n steps for one packet a tree; the 1-cube has a single tree and a single step.
            let last = (0..1 << n).flat_map(|c| trees.iter().filter_map(move |tree| tree.label(c))).max();
            assert_eq!(last, Some(if n == 1 { 0 } else { 2 * n - 1 }));
        }
    }

    proptest! {
        #[test]
        fn consistent_in_large_cubes(
            (n, j, c) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), 0..n, 0..1usize << n))
        ) {
            let tree = Ersbt::new(n, j);
            assert_consistent(&tree, c);
            prop_assert_eq!(tree.parent_port(c).zip(tree.label(c)), literal(n, j, c));
            let below: usize = tree.children(c).map(|child| tree.subtree_size(child)).sum();
            prop_assert_eq!(tree.subtree_size(c), below + 1);
        }
    }
}
