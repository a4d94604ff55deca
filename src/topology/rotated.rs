//! Graph: a tree with its dimensions rotated.
//!
//! Reference: Q. F. Stout and B. Wagar, 1990, sections 1.4 and 2 ("symmetrize"). Symbols: d is the dimension of the cube
//! (n here), i the number of the copy; the paper's i with a hooked arrow is [`rotate_left`].
//!
//! Definition: copy i has an edge across port (p + i) mod n wherever the tree has one across port p: the edges of node c
//! are those of R^i(c) in the tree itself. The n copies of a tree whose level-by-level work uses one dimension at a time use
//! all dimensions at once.
//!
//! Example, the SBT of the 3-cube and its copies (parents of the nodes 000 to 111):
//!
//! ```text
//! i=0   -  000 000 001 000 001 010 011
//! i=1   -  000 000 010 000 100 010 110
//! i=2   -  000 000 001 000 100 100 101
//! ```
//!
//! ```
//! use hypercoll::topology::{rotated::Rotated, sbt::Sbt, Tree};
//!
//! let copy = Rotated::new(Sbt::new(3), 1);
//! let parents: Vec<_> = (1..8).map(|c| copy.parent(c).unwrap()).collect();
//! assert_eq!(parents, [0b000, 0b000, 0b010, 0b000, 0b100, 0b010, 0b110]);
//! ```
//!
//! Properties tested: spanning, consistent; copy 0 is the tree; the copies of the SBT by their definition; at any time of
//! the symmetrised recursive doubling the copies use different links.

use super::Tree;
use crate::address::{rotate_left, rotate_right, Ports};

/// A copy of a tree whose port p is the tree's port p - i (mod n). A query takes O(1) word operations more than the tree's.
#[derive(Clone, Copy, Debug)]
pub struct Rotated<T> {
    tree: T,
    i: u32,
}

impl<T: Tree> Rotated<T> {
    /// Copy `i` of a tree; `i` may exceed the dimension.
    pub fn new(tree: T, i: u32) -> Rotated<T> {
        Rotated { tree, i }
    }

    /// The node of the tree whose place `c` has in this copy.
    pub fn original(&self, c: usize) -> usize {
        rotate_right(c, self.i, self.tree.dimension())
    }
}

impl<T: Tree> Tree for Rotated<T> {
    fn dimension(&self) -> u32 {
        self.tree.dimension()
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        self.tree.parent_port(self.original(c)).map(|port| (port + self.i) % self.tree.dimension())
    }

    fn child_ports(&self, c: usize) -> Ports {
        let Ports(mask) = self.tree.child_ports(self.original(c));
        Ports::from_mask(rotate_left(mask as usize, self.i, self.tree.dimension()))
    }

    fn level(&self, c: usize) -> u32 {
        self.tree.level(self.original(c))
    }

    fn subtree_size(&self, c: usize) -> usize {
        self.tree.subtree_size(self.original(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::sbnt::{Sbnt, Variant};
    use crate::topology::sbt::Sbt;
    use crate::topology::tests::assert_spanning;
    use std::collections::HashSet;

    #[test]
    fn copies_span_every_small_cube() {
        for n in 0..=7 {
            for i in 0..=n + 1 {
                assert_spanning(&Rotated::new(Sbt::new(n), i));
                assert_spanning(&Rotated::new(Sbnt::new(n, Variant::MinRight), i));
            }
        }
    }

    #[test]
    fn copies_of_the_sbt_of_the_3_cube() {
        let expected = [[0, 0, 1, 0, 1, 2, 3], [0, 0, 2, 0, 4, 2, 6], [0, 0, 1, 0, 4, 4, 5]];
        for (i, parents) in (0..).zip(expected) {
            let tree = Rotated::new(Sbt::new(3), i);
            assert!((1..8).map(|c| tree.parent(c)).eq(parents.map(Some)), "copy {i}");
        }
    }

    /// BROADCAST 2 word for word: in stage k the nodes rotated from 0, ..., 2^k - 1 send packet i across (i + k) mod n. No link
    /// carries two packets, each packet doubles its nodes, and who is sent it is a child of the sender.
    #[test]
    fn symmetrised_recursive_doubling_uses_no_link_twice_at_a_time() {
        for n in 1..=8 {
            let mut holders = vec![HashSet::from([0usize]); n as usize];
            for k in 0..n {
                let mut links = HashSet::new();
                for i in 0..n {
                    let tree = Rotated::new(Sbt::new(n), i);
                    let port = (i + k) % n;
                    for x in 0..1usize << k {
                        let from = rotate_left(x, i, n);
                        assert!(holders[i as usize].contains(&from) && links.insert((from, port)));
                        assert_eq!(tree.parent_port(from ^ 1 << port), Some(port));
                        assert_eq!(tree.original(from ^ 1 << port).ilog2(), k);
                    }
                    let new: Vec<usize> = holders[i as usize].iter().map(|from| from ^ 1 << port).collect();
                    holders[i as usize].extend(new);
                    assert_eq!(holders[i as usize].len(), 2 << k);
                }
            }
        }
    }
}
