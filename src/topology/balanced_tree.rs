//! Graph: the perfectly balanced shortest-path spanning tree.
//!
//! Reference: D. P. Bertsekas et al., 1991, section 3. Symbols: d is n here, m(t) is the column of [`NecklaceOrder`] + 1, R_kn
//! a necklace, T_m the subtree of the root below port m - 1.
//!
//! Definition: the nodes, in the order of [`NecklaceOrder`], are dealt out to the n subtrees of the root in turn: node t belongs to
//! subtree column(t). With w the least rotation of t and h the highest 1 of w, t is w rotated left by column(t), and its
//! parent lacks bit (h + column(t)) mod n: the 1 to the right of a longest run of zeros, as in the paper's proof. The
//! parent has n different rotations, and the same column.
//!
//! So it is the spanning balanced n-tree (min-right) but for the cyclic nodes, its leaves, which there are all in the
//! first subtrees and here go round. Where they stand needs the order of the whole cube, which the paper keeps in a table;
//! here it is counted: a query costs O(n) word operations, and O(n^3) more for each cyclic node that it touches.
//!
//! Example, the 4-cube:
//!
//! ```text
//! node      1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
//! parent    0 0 1 0 1 2 3 0 8  2  9  4 12  6 13
//! subtree   0 1 0 2 0 1 0 3 3  1  3  2  2  1  2
//! ```
//!
//! ```
//! use hypercoll::topology::{balanced_tree::BalancedTree, Tree};
//!
//! let tree = BalancedTree::new(4);
//! let sizes: Vec<_> = tree.children(0).map(|child| tree.subtree_size(child)).collect();
//! assert_eq!(sizes, [4, 4, 4, 3]);
//! assert_eq!(tree.parent(14), Some(6));
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; shortest paths; every subtree of the root has the floor
//! or the ceiling of (2^n - 1)/n nodes, at most one of every step; nearer nodes come in earlier steps.

use super::necklace_order::NecklaceOrder;
use super::sbnt::{Sbnt, Variant};
use super::Tree;
use crate::address::{is_cyclic, mask, rotate_left, rotate_right, Ports};

/// The perfectly balanced shortest-path spanning tree of the n-cube.
#[derive(Clone, Copy, Debug)]
pub struct BalancedTree {
    order: NecklaceOrder,
    sbnt: Sbnt,
}

impl BalancedTree {
    /// The tree of the cube of dimension `n`.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`](crate::address::MAX_DIMENSION).
    pub fn new(n: u32) -> BalancedTree {
        BalancedTree { order: NecklaceOrder::new(n), sbnt: Sbnt::new(n, Variant::MinRight) }
    }

    /// m(t) - 1: the port of the root below which node `c` is; `None` for the root.
    pub fn index(&self, c: usize) -> Option<u32> {
        self.order.column(c)
    }

    /// The position of node `c` in its subtree, nearer nodes first: 1, 2, ... up to the size of the subtree; 0 for the root.
    ///
    /// It is the step i for which the paper has c in E_i. O(n^3) word operations.
    pub fn position(&self, c: usize) -> usize {
        self.order.step(c)
    }

    /// ceil((2^n - 1) / n): the size of the largest subtree of the root.
    pub fn largest_subtree(&self) -> usize {
        self.order.steps()
    }
}

impl Tree for BalancedTree {
    fn dimension(&self) -> u32 {
        self.order.dimension()
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        let column = self.order.column(c)?;
        let n = self.dimension();
        Some((rotate_right(c, column, n).ilog2() + column) % n)
    }

    fn child_ports(&self, c: usize) -> Ports {
        let n = self.dimension();
        let Some(column) = self.order.column(c) else {
            return Ports::all(n);
        };
        if is_cyclic(c, n) {
            return Ports::NONE;
        }
        // The children of the least rotation, in the subtree 0 of the SBnT, are all those that any column could have; of them
        // the cyclic ones are in as many columns as their period.
        let least = rotate_right(c, column, n);
        let ports = self.sbnt.child_ports(least).iter().filter(|&port| {
            let child = least | 1 << port;
            !is_cyclic(child, n) || self.order.column(rotate_left(child, column, n)) == Some(column)
        });
        let ports = ports.fold(0, |ports, port| ports | 1 << port);
        Ports::from_mask(rotate_left(ports, column, n) & mask(n))
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

    /// The instances of the errata, section B: parents and (from 1) subtrees.
    #[test]
    fn the_trees_of_the_errata() {
        let check = |n: u32, parents: &[usize], subtrees: &[u32]| {
            let tree = BalancedTree::new(n);
            assert!((1..1 << n).map(|c| tree.parent(c)).eq(parents.iter().map(|&parent| Some(parent))));
            assert!((1..1 << n).map(|c| tree.index(c)).eq(subtrees.iter().map(|subtree| Some(subtree - 1))));
        };
        check(3, &[0, 0, 1, 0, 4, 2, 3], &[1, 2, 1, 3, 3, 2, 1]);
        check(4, &[0, 0, 1, 0, 1, 2, 3, 0, 8, 2, 9, 4, 12, 6, 13], &[1, 2, 1, 3, 1, 2, 1, 4, 4, 2, 4, 3, 3, 2, 3]);
    }

    #[test]
    fn perfectly_balanced_with_shortest_paths() {
        for n in 0..=12u32 {
            let tree = BalancedTree::new(n);
            if n <= 10 {
                assert_spanning(&tree);
            }
            let nodes = 1usize << n;
            let mut subtrees: Vec<Vec<usize>> = vec![Vec::new(); n as usize];
            for c in 1..nodes {
                // Every step clears a 1, so every path is a shortest one and ends in the root.
                let path: Vec<usize> = std::iter::successors(Some(c), |&c| tree.parent(c)).collect();
                assert!(path
                    .windows(2)
                    .all(|pair| (pair[0] & pair[1], pair[0].count_ones() - 1) == (pair[1], pair[1].count_ones())));
                assert_eq!((path.len() as u32, path.last()), (c.count_ones() + 1, Some(&0)));
                let top = path[path.len() - 2].trailing_zeros();
                assert_eq!(tree.index(c), Some(top));
                subtrees[top as usize].push(c);
            }
            for subtree in &mut subtrees {
                let size = subtree.len();
                assert!([(nodes - 1) / n as usize, (nodes - 1).div_ceil(n as usize)].contains(&size), "{n}: {size}");
                assert!(size <= tree.largest_subtree());
                subtree.sort_by_key(|&c| tree.position(c));
                assert!((1..).zip(&*subtree).all(|(position, &c)| tree.position(c) == position));
                assert!(subtree.is_sorted_by_key(|c| c.count_ones()));
            }
        }
    }

    proptest! {
        #[test]
        fn consistent_in_large_cubes((n, c) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), 0..1usize << n)), repeats in 1u32..5) {
            let tree = BalancedTree::new(n);
            let length = n.div_ceil(repeats);
            let cyclic = (0..repeats).fold(0, |word, _| word << length | c & mask(length)) & mask(n);
            for c in [c, cyclic] {
                assert_consistent(&tree, c);
                (0..n).for_each(|port| assert_consistent(&tree, cyclic ^ 1 << port));
            }
        }
    }
}
