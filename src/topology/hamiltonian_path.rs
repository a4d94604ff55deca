//! Graph: the Hamiltonian path along the binary-reflected Gray code, from its end or from its middle, either way round.
//!
//! Reference: C.-T. Ho and S. L. Johnsson, 1986, sections 1 ("a Hamiltonian Path is also a spanning tree") and 3.4. Symbols: c
//! is the relative address, i its position in the Gray code, N = 2^n.
//!
//! Definition: the code words of the positions 0, 1, ..., N-1 form a cycle of the cube, through node 0 at position 0. The edge
//! between the positions i-1 and i crosses the dimension of the lowest 1 of i; the edge that closes the cycle, dimension n-1.
//! A [`Course`] leaves out one edge of the cycle:
//!
//! | course | path from the root | height |
//! |---|---|---|
//! | `Forward` | 0, 1, ..., N-1 | N-1 |
//! | `Backward` | 0, N-1, ..., 1 | N-1 |
//! | `Middle` | 0, 1, ..., N/2 and 0, N-1, ..., N/2+1 | N/2 |
//!
//! `Forward` and `Backward` together use each edge of the cycle in opposite directions, and so share no directed edge (n >= 2).
//!
//! Example, the 3-cube:
//!
//! ```text
//! node      000 001 011 010 110 111 101 100
//! position   0   1   2   3   4   5   6   7
//! Forward    -  000 001 011 010 110 111 101    parents
//! Backward   -  011 010 110 111 101 100 000
//! Middle     -  000 001 011 010 101 100 000
//! ```
//!
//! ```
//! use hypercoll::topology::hamiltonian_path::{Course, HamiltonianPath};
//! use hypercoll::topology::Tree;
//!
//! let path = HamiltonianPath::new(3, Course::Forward);
//! let nodes: Vec<_> = path.subtree(0).map(|(node, _)| node).collect();
//! assert_eq!(nodes, [0b000, 0b001, 0b011, 0b010, 0b110, 0b111, 0b101, 0b100]);
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; the order of the Gray code; heights; at most one child
//! (the root of `Middle`: two); `Forward` and `Backward` share no directed edge.

use super::Tree;
use crate::address::{gray_inverse, mask, Ports, MAX_DIMENSION};

/// Which way the path goes round the Gray cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Course {
    /// From position 0 up to N-1: the path of the paper.
    #[default]
    Forward,
    /// From position 0 over N-1 down to 1.
    Backward,
    /// Both ways at once, each for half of the nodes: the root is in the middle of the path.
    Middle,
}

/// The Hamiltonian path of the n-cube along the Gray code, as a tree with one branch, or two. Every query takes O(log n)
/// word operations.
#[derive(Clone, Copy, Debug)]
pub struct HamiltonianPath {
    n: u32,
    course: Course,
}

impl HamiltonianPath {
    /// The path of the cube of dimension `n`.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`].
    pub fn new(n: u32, course: Course) -> HamiltonianPath {
        assert!(n <= MAX_DIMENSION, "dimension {n} above {MAX_DIMENSION}");
        HamiltonianPath { n, course }
    }

    /// Whether node `c`, not the root, is reached by counting up.
    ///
    /// That is all of the forward path, none of the backward one, and the longer branch of the one from the middle.
    pub fn is_forward(&self, c: usize) -> bool {
        self.climbs(self.position(c))
    }

    fn position(&self, c: usize) -> usize {
        debug_assert!(c <= mask(self.n), "node {c} outside the {}-cube", self.n);
        gray_inverse(c)
    }

    fn climbs(&self, i: usize) -> bool {
        match self.course {
            Course::Forward => true,
            Course::Backward => false,
            Course::Middle => i <= 1 << self.n >> 1,
        }
    }

    /// The dimension of the edge between the positions i-1 and i, from 1 to N; N is position 0 again.
    fn port(&self, i: usize) -> u32 {
        i.trailing_zeros().min(self.n - 1)
    }
}

impl Tree for HamiltonianPath {
    fn dimension(&self) -> u32 {
        self.n
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        let i = self.position(c);
        (c != 0).then(|| self.port(if self.climbs(i) { i } else { i + 1 }))
    }

    fn child_ports(&self, c: usize) -> Ports {
        let (i, last) = (self.position(c), mask(self.n));
        let mut ports = Ports::NONE;
        if i < last && self.climbs(i + 1) {
            ports = ports.with(self.port(i + 1));
        }
        // On the way down the root is position N.
        let i = if i == 0 { last + 1 } else { i };
        if i > 1 && !self.climbs(i - 1) {
            ports = ports.with(self.port(i));
        }
        ports
    }

    fn level(&self, c: usize) -> u32 {
        let i = self.position(c);
        let level = if i == 0 || self.climbs(i) { i } else { (1 << self.n) - i };
        level as u32
    }

    fn subtree_size(&self, c: usize) -> usize {
        let (i, nodes) = (self.position(c), 1 << self.n);
        match self.course {
            _ if i == 0 => nodes,
            Course::Forward => nodes - i,
            Course::Backward => i,
            Course::Middle if self.climbs(i) => nodes / 2 - i + 1,
            Course::Middle => i - nodes / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{assert_consistent, assert_spanning};
    use proptest::prelude::*;
    use Course::*;

    const COURSES: [Course; 3] = [Forward, Backward, Middle];

    /// The code words in order, by reflection: those of one bit less, then the same in the opposite order with a 1 in front.
    fn reflected(n: u32) -> Vec<usize> {
        match n {
            0 => vec![0],
            _ => {
                let half = reflected(n - 1);
                half.iter().copied().chain(half.iter().rev().map(|&word| word | 1 << (n - 1))).collect()
            }
        }
    }

    /// The nodes of a branch from a child of the root on.
    fn branch(path: &HamiltonianPath, first: usize) -> Vec<usize> {
        std::iter::successors(Some(first), |&c| {
            assert!(path.child_ports(c).len() <= 1, "{c:b} has two children");
            path.children(c).next()
        })
        .collect()
    }

    #[test]
    fn spans_every_small_cube() {
        for n in 0..=9 {
            for course in COURSES {
                assert_spanning(&HamiltonianPath::new(n, course));
            }
        }
    }

    #[test]
    fn goes_along_the_gray_code() {
        assert_eq!(reflected(3), [0, 1, 3, 2, 6, 7, 5, 4]);
        for n in 1..=10 {
            let mut up = reflected(n);
            up.remove(0);
            let mut down = up.clone();
            down.reverse();
            let branches = |course| {
                let path = HamiltonianPath::new(n, course);
                let mut branches: Vec<_> = path.children(0).map(|first| branch(&path, first)).collect();
                branches.sort_unstable_by_key(|branch| std::cmp::Reverse(branch.len()));
                branches
            };
            assert_eq!(branches(Forward), [up.clone()]);
            assert_eq!(branches(Backward), [down.clone()]);
            let half = 1 << (n - 1);
            assert_eq!(branches(Middle)[0], up[..half]);
            assert_eq!(branches(Middle)[1..].concat(), down[..half - 1]);
        }
    }

    #[test]
    fn the_opposite_paths_share_no_directed_edge() {
        for n in 2..=10 {
            let [forward, backward] = [Forward, Backward].map(|course| HamiltonianPath::new(n, course));
            assert!((0..1 << n).all(|c| forward.child_ports(c).0 & backward.child_ports(c).0 == 0));
        }
    }

    #[test]
    fn heights() {
        for n in 1..=10 {
            let height = |course| (0..1 << n).map(|c| HamiltonianPath::new(n, course).level(c)).max();
            assert_eq!(COURSES.map(height), [(1 << n) - 1, (1 << n) - 1, 1 << (n - 1)].map(Some));
        }
    }

    proptest! {
        #[test]
        fn consistent_in_large_cubes((n, c) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), 0..1usize << n))) {
            for course in COURSES {
                let path = HamiltonianPath::new(n, course);
                // The ends and the middle too.
                for c in [c, 0, 1 << (n - 1), 1 << (n - 1) | 1 << n >> 2] {
                    assert_consistent(&path, c);
                    let below: usize = path.children(c).map(|child| path.subtree_size(child)).sum();
                    prop_assert_eq!(path.subtree_size(c), below + 1);
                }
            }
        }
    }
}
