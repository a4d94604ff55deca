//! Graph: the two-rooted complete binary tree (TCBT), which spans the cube with edges of the cube only.
//!
//! Reference: C.-T. Ho and S. L. Johnsson, 1986, section 3.4, which takes the graph from Bhatt & Ipsen, and from Deshpande &
//! Jenevein; the construction below is this library's. Symbols: T_n is the tree of the n-cube, A and B its two roots,
//! x and y their children, e_j node 2^j.
//!
//! Definition: a complete binary tree of 2^n - 1 nodes whose root is split into two neighbours A and B. So A has the child x,
//! B the child y, and x and y are the roots of complete binary trees of 2^(n-1) - 1 nodes. It is rooted at A = 0: B is a
//! child of A, and the leaves are at levels n-1 (below x) and n (below y).
//!
//! Construction: in T_n the path x A B y is e_(n-2), 0, e_(n-1), e_(n-1) + e_0. T_1 is the edge from 0 to 1. T_n is made of two
//! copies of T_m, m = n-1, whose nodes are called t: in copy 0 (bit n-1 clear) node t is t + e_(m-1), in copy 1 it is the left
//! rotation of t by one bit, so that port j of t is port j + 1 (mod m). Of the two copies of the path, these nodes meet:
//!
//! ```text
//! the bits below n-1    e_(n-2)   0   e_0
//! copy 0                   A      B    y
//! copy 1                   x      A    B      one below the other: neighbours across port n-1
//! ```
//!
//! Cut y from B in copy 0 and x from A in copy 1, and add the three edges across port n-1. B of copy 0 and A of copy 1 are the
//! new roots 0 and e_(n-1). A of copy 0, still below B, keeps its x and gets that of copy 1: it is the new x. B of copy 1,
//! still below A, keeps its y and gets that of copy 0: it is the new y. Each of these two is the root of a complete binary
//! tree of one more level, and the four nodes lie as claimed.
//!
//! So a node that is a root in a copy of T_m, but not in the copy of T_(m+1) around it, is there the new x or y, the root of a
//! complete binary tree of 2^m - 1 nodes; every larger copy puts one node above it. A node finds m by going into the copies that it
//! is in, and its ports by coming back out.
//!
//! Example, the 3-cube (the roots are 000 and 100, x is 010, y is 101):
//!
//! ```text
//! node      000 001 010 011 100 101 110 111
//! parent     -  101 000 010 000 100 010 101
//! label      -   3   1   2   0   1   3   2
//! ```
//!
//! ```
//! use hypercoll::topology::{tcbt::Tcbt, Tree};
//!
//! let tree = Tcbt::new(3);
//! assert_eq!(tree.children(0b000).collect::<Vec<_>>(), [0b010, 0b100]); // x, and the second root
//! assert_eq!(tree.children(0b101).collect::<Vec<_>>(), [0b111, 0b001]); // those of y
//! assert!(tree.is_second(0b100));
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; two-rooted; height n, fan-out 2, degree 3; 2^l nodes, or
//! 3 * 2^(l-2), at a level; labels form a valid schedule for one port (2n-2 steps), and with three steps a packet for one way.

use super::Tree;
use crate::address::{mask, rotate_right, Ports, MAX_DIMENSION};

/// The two-rooted complete binary tree of the n-cube, rooted at one of its roots. Every query takes O(n) word operations.
#[derive(Clone, Copy, Debug)]
pub struct Tcbt {
    n: u32,
}

/// Where a node is a root: in its copy of T_m, the largest of those that it is a root of.
struct Place {
    m: u32,
    /// Whether it is the second root, B: on the side of y in T_n.
    second: bool,
    /// Bit j: in which of the two copies of T_j that make up its copy of T_(j+1); known for j from m to n-1.
    copies: usize,
}

impl Tcbt {
    /// The tree of the cube of dimension `n`.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`].
    pub fn new(n: u32) -> Tcbt {
        assert!(n <= MAX_DIMENSION, "dimension {n} above {MAX_DIMENSION}");
        Tcbt { n }
    }

    /// The step, from 0, in which a packet enters node `c` if every node sends it to one child in the step after its
    /// arrival, and to the other one in the step after that; `None` for the root.
    ///
    /// The root sends to the second root first, and every other node to the child in its own copy first. Labels are
    /// from 0 to 2n-3. A node's labels differ modulo 3, and those of its children modulo 2.
    pub fn label(&self, c: usize) -> Option<u32> {
        let place = self.place(c);
        let above = self.n - place.m;
        if above == 0 {
            return place.second.then_some(0);
        }
        let across = (place.m + 1..self.n).filter(|&j| place.is_across(j)).count() as u32;
        Some(above + across)
    }

    /// Whether node `c` is the second root, or below it (else below the root's other child, or the root itself).
    pub fn is_second(&self, c: usize) -> bool {
        self.place(c).second
    }

    fn place(&self, c: usize) -> Place {
        debug_assert!(c <= mask(self.n), "node {c} outside the {}-cube", self.n);
        let (mut m, mut t, mut copies) = (self.n, c, 0);
        loop {
            let second = m > 0 && t == 1 << (m - 1);
            if t == 0 || second {
                return Place { m, second, copies };
            }
            m -= 1;
            if t >> m == 1 {
                copies |= 1 << m;
                t = rotate_right(t ^ 1 << m, 1, m);
            } else {
                t ^= 1 << (m - 1);
            }
        }
    }
}

impl Place {
    fn copy(&self, j: u32) -> usize {
        self.copies >> j & 1
    }

    /// Whether the copies of T_(j+1) join what is above the node in T_j to its new parent by port j: x of copy 1, y of copy 0.
    fn is_across(&self, j: u32) -> bool {
        self.copy(j) != usize::from(self.second)
    }

    /// The port in T_n that is `port` in the node's copy of T_j.
    fn lift(&self, port: u32, j: u32, n: u32) -> u32 {
        (j..n).fold(port, |port, m| if self.copy(m) == 1 { (port + 1) % m } else { port })
    }
}

impl Tree for Tcbt {
    fn dimension(&self) -> u32 {
        self.n
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        let place = self.place(c);
        if place.m == self.n {
            return place.second.then(|| self.n - 1);
        }
        // In T_k the node is x or y. It stays below that root, or T_(k+1) hangs it elsewhere.
        let k = place.m + 1;
        Some(if k < self.n && place.is_across(k) {
            place.lift(k, k + 1, self.n)
        } else {
            place.lift(if place.second { 0 } else { k - 2 }, k, self.n)
        })
    }

    fn child_ports(&self, c: usize) -> Ports {
        let place = self.place(c);
        let Place { m, second, .. } = place;
        if m == self.n {
            return match (m, second) {
                (0, _) | (1, true) => Ports::NONE,
                (1, false) | (_, true) => Ports::NONE.with(0),
                (_, false) => Ports::NONE.with(m - 1).with(m - 2),
            };
        }
        if m < 2 {
            return Ports::NONE;
        }
        // The child that it had as a root of T_m, and the one of the other copy.
        let kept = place.lift(if second { 0 } else { m - 2 }, m, self.n);
        Ports::NONE.with(kept).with(place.lift(m, m + 1, self.n))
    }

    fn level(&self, c: usize) -> u32 {
        let place = self.place(c);
        self.n - place.m + u32::from(place.second)
    }

    fn subtree_size(&self, c: usize) -> usize {
        let Place { m, second, .. } = self.place(c);
        match m == self.n {
            true => 1 << (m - u32::from(second)),
            false => mask(m),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{assert_consistent, assert_spanning};
    use proptest::prelude::*;

    /// The height of the complete binary tree below `c`; panics if it is none.
    fn complete(tree: &Tcbt, c: usize) -> u32 {
        let heights: Vec<u32> = tree.children(c).map(|child| complete(tree, child)).collect();
        match heights[..] {
            [] => 0,
            [left, right] if left == right => left + 1,
            _ => panic!("{c:b} has subtrees of the heights {heights:?}"),
        }
    }

    #[test]
    fn parents_in_small_cubes() {
        // By hand, from the two copies.
        let parents: [&[usize]; 3] = [&[0], &[0, 0, 2], &[5, 0, 2, 0, 4, 2, 5]];
        for (n, parents) in (1..).zip(parents) {
            let tree = Tcbt::new(n);
            assert!((1..1 << n).map(|c| tree.parent(c)).eq(parents.iter().copied().map(Some)), "{n}-cube");
        }
        assert!((1..8).map(|c| Tcbt::new(3).label(c)).eq([3, 1, 2, 0, 1, 3, 2].map(Some)));
        assert_eq!((Tcbt::new(3).label(0), Tcbt::new(0).label(0)), (None, None));
    }

    #[test]
    fn spans_every_small_cube() {
        for n in 0..=10 {
            assert_spanning(&Tcbt::new(n));
        }
    }

    #[test]
    fn has_two_roots_of_complete_binary_trees() {
        for n in 2..=12 {
            let tree = Tcbt::new(n);
            let (x, y) = (1 << (n - 2), 1 << (n - 1) | 1);
            let mut children: Vec<usize> = tree.children(0).collect();
            children.sort_unstable();
            assert_eq!(children, [x, 1 << (n - 1)]);
            assert!(tree.children(1 << (n - 1)).eq([y]));
            assert_eq!([x, y].map(|c| complete(&tree, c)), [n - 2; 2]);
            assert_eq!([x, y].map(|c| tree.subtree(c).count()), [mask(n - 1); 2]);
        }
    }

    #[test]
    fn levels_and_fan_outs() {
        for n in 1..=12u32 {
            let tree = Tcbt::new(n);
            let mut levels = vec![0; n as usize + 1];
            for (c, level) in tree.subtree(0) {
                levels[level as usize] += 1;
                assert!(tree.child_ports(c).len() <= 2, "{c:b} has more than two children");
            }
            // One and two nodes at first, and 2^(l-1) and 2^(l-2) below x and y, of which x's are a level ahead.
            let expected = (0..=n).map(|l| match l {
                0 => 1,
                1 => n.min(2) as usize,
                _ if l == n => 1 << (l - 2),
                _ => 3 << (l - 2),
            });
            assert!(levels.into_iter().eq(expected), "{n}-cube");
        }
    }

    #[test]
    fn the_labelling_is_valid() {
        for n in 1..=12u32 {
            let tree = Tcbt::new(n);
            for c in 0..1usize << n {
                let children: Vec<u32> = tree.children(c).filter_map(|child| tree.label(child)).collect();
                let mut after: Vec<u32> =
                    children.iter().map(|label| label - tree.label(c).map_or(0, |label| label + 1)).collect();
                after.sort_unstable();
                assert_eq!(after, [0, 1][..children.len()], "{c:b} waits, or sends twice at once");
            }
            let last = (0..1 << n).filter_map(|c| tree.label(c)).max();
            assert_eq!(last, Some(if n == 1 { 0 } else { 2 * n - 3 }), "{n}-cube");
        }
    }

    proptest! {
        #[test]
        fn consistent_in_large_cubes((n, c) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), 0..1usize << n))) {
            let tree = Tcbt::new(n);
            // Random nodes are leaves or near them: look all the way up, and at the neighbours.
            for c in std::iter::successors(Some(c), |&c| tree.parent(c)) {
                assert_consistent(&tree, c);
                let below: usize = tree.children(c).map(|child| tree.subtree_size(child)).sum();
                prop_assert_eq!(tree.subtree_size(c), below + 1);
                prop_assert!(tree.label(c).map_or(0, |label| label + 1) >= tree.level(c));
            }
        }
    }
}
