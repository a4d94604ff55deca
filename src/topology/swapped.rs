//! Graph: a tree with two dimensions of the cube exchanged.
//!
//! Reference: C.-T. Ho and S. L. Johnsson, 1988, section 4: permuting the dimensions gives a tree of the same shape that uses
//! other links.
//!
//! Definition: with pi the exchange of bits `first` and `second` of an address, the parent of c is pi of the parent of pi(c).
//!
//! ```
//! use hypercoll::topology::{sbt::Sbt, swapped::Swapped, Tree};
//!
//! // In the SBT the parent of 011 is 001. With dimensions 0 and 2 exchanged, that of 110 is 100.
//! assert_eq!(Sbt::new(3).parent(0b011), Some(0b001));
//! assert_eq!(Swapped::new(Sbt::new(3), 0, 2).parent(0b110), Some(0b100));
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; for every edge below level 1 one of the four SBnTs, or
//! of their copies with two dimensions exchanged, does without it.

use super::{sbnt::Sbnt, Tree};
use crate::address::Ports;

/// A copy of a tree with two dimensions exchanged (or, if both are the same, the tree itself).
#[derive(Clone, Copy, Debug)]
pub struct Swapped<T> {
    tree: T,
    first: u32,
    second: u32,
}

impl<T: Tree> Swapped<T> {
    /// The copy of `tree` with dimensions `first` and `second` exchanged.
    ///
    /// # Panics
    /// If the cube lacks one of the dimensions and they differ.
    pub fn new(tree: T, first: u32, second: u32) -> Swapped<T> {
        assert!(first == second || first.max(second) < tree.dimension(), "no dimensions {first} and {second}");
        Swapped { tree, first, second }
    }

    /// The node of the original tree that node `c` plays, and the other way round.
    pub fn image(&self, c: usize) -> usize {
        let differ = (c >> self.first ^ c >> self.second) & 1;
        c ^ (differ << self.first) ^ (differ << self.second)
    }

    fn port(&self, port: u32) -> u32 {
        match port {
            p if p == self.first => self.second,
            p if p == self.second => self.first,
            p => p,
        }
    }
}

impl Swapped<Sbnt> {
    /// The subtree of the root that node `c` belongs to, by its number in the original; 0 for the root itself.
    pub fn index(&self, c: usize) -> u32 {
        self.tree.index(self.image(c))
    }

    /// The root of subtree `j`.
    pub fn top(&self, j: u32) -> usize {
        self.image(self.tree.top(j))
    }

    /// The number of nodes of subtree `j`.
    pub fn subtree_nodes(&self, j: u32) -> usize {
        self.tree.subtree_nodes(j)
    }

    /// The routing cycle of the edge into node `c`; see [`Sbnt::label`].
    pub fn label(&self, c: usize) -> Option<u32> {
        self.tree.label(self.image(c))
    }
}

impl<T: Tree> Tree for Swapped<T> {
    fn dimension(&self) -> u32 {
        self.tree.dimension()
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        self.tree.parent_port(self.image(c)).map(|port| self.port(port))
    }

    fn child_ports(&self, c: usize) -> Ports {
        let ports = self.tree.child_ports(self.image(c));
        ports.iter().fold(Ports::NONE, |swapped, port| swapped.with(self.port(port)))
    }

    fn level(&self, c: usize) -> u32 {
        self.tree.level(self.image(c))
    }

    fn subtree_size(&self, c: usize) -> usize {
        self.tree.subtree_size(self.image(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::sbnt::Variant;
    use crate::topology::tests::assert_spanning;

    #[test]
    fn copies_span_the_cube() {
        for n in 0..7 {
            for variant in Variant::ALL {
                assert_spanning(&Swapped::new(Sbnt::new(n, variant), 0, 0));
                for (first, second) in (0..n).flat_map(|first| (0..first).map(move |second| (first, second))) {
                    assert_spanning(&Swapped::new(Sbnt::new(n, variant), first, second));
                }
            }
        }
        let swapped = Swapped::new(Sbnt::new(5, Variant::MinRight), 1, 4);
        assert_eq!(
            [0b00010, 0b10000, 0b10010, 0b01101].map(|c| swapped.image(c)),
            [0b10000, 0b00010, 0b10010, 0b01101]
        );
    }

    /// Ho & Johnsson 1988, section 7, with the errata: a copy that does without any given edge below level 1 always exists.
    #[test]
    fn some_copy_avoids_any_edge_below_level_1() {
        for n in 2..9u32 {
            let swaps = std::iter::once((0, 0)).chain((0..n).flat_map(|a| (0..a).map(move |b| (a, b))));
            let copies = swaps.flat_map(|(a, b)| Variant::ALL.map(|variant| Swapped::new(Sbnt::new(n, variant), a, b)));
            let copies: Vec<_> = copies.collect();
            for c in 1..1usize << n {
                for port in Ports::all(n).iter().filter(|&port| c >> port & 1 == 1 && c ^ 1 << port != 0) {
                    assert!(
                        copies.iter().any(|copy| copy.parent_port(c) != Some(port)),
                        "n = {n}, {c:b} across {port}"
                    );
                }
            }
        }
    }
}
