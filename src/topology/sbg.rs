//! Graph: the spanning balanced graph (SBG), the SBnT in which cyclic nodes have several parents.
//!
//! Reference: C.-T. Ho and S. L. Johnsson, 1988, end of section 3 and, for the other variants, section 4. Symbols: c is
//! the relative address, P_c its period, J_c (index_m(c)) the set of all numbers of rotations that give the
//! distinguished address of c's necklace; index(c) is the smallest of them.
//!
//! Definition: node c belongs to the subtrees J_c = {index(c), index(c) + P_c, ..., index(c) + n - P_c} of the root,
//! and in each of them has the parent that rotation gives it: for min-right, L^j of the SBnT's parent of R^j(c). So
//! every subtree j is a rotation of the SBnT's largest, subtree 0, and a necklace of P nodes is met P times in n
//! subtrees. Where the data of a node is cut into n/P_c parts, one for each of its parents, every subtree carries the
//! data of exactly (N-1)/n nodes.
//!
//! The same graph is n rotated SBnTs of weight 1/n each ([`Sbg::rotated_parent`]).
//!
//! Children: c' = c with one more 1 is a child of c in subtree j if j is in both J_c and J_c' and the new 1 continues
//! the one that the subtree's path set last, to the side of the zeros. (The paper asks for J_c' = J_c, by which no
//! cyclic node would be a child; that is an error of the text.)
//!
//! Example, min-right on the 4-cube: 0101 has parents 0001 (subtree 0) and 0100 (subtree 2), 1111 has all four nodes of
//! three 1s; every node that is not cyclic has its parent in the SBnT.
//!
//! ```
//! use hypercoll::topology::sbg::Sbg;
//! use hypercoll::topology::sbnt::Variant;
//!
//! let graph = Sbg::new(4, Variant::MinRight);
//! let parents: Vec<_> = graph.parents(0b0101).collect(); // each with its subtree
//! assert_eq!(parents, [(0, 0b0001), (2, 0b0100)]);
//! assert_eq!(graph.parents(0b1111).count(), 4);
//! ```
//!
//! Properties tested: the paper's examples; brute force from the definition; parents and children agree; cyclic nodes
//! are leaves; subtrees are rotations of each other and carry equal weights; the view as rotated SBnTs; the labels form
//! a valid one-port schedule of 2n-1 cycles.

use super::sbnt::{Sbnt, Variant};
use super::Tree;
use crate::address::{period, rotate_left, rotate_right, Ports};

/// The spanning balanced graph of the n-cube. Every query takes O(n) word operations.
#[derive(Clone, Copy, Debug)]
pub struct Sbg {
    tree: Sbnt,
    n: u32,
    variant: Variant,
}

/// Which part of a node's data a subtree of the root carries: part `index` of `parts`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Number of the part, below `parts`.
    pub index: u32,
    /// n / P_c, the number of subtrees that the node belongs to.
    pub parts: u32,
}

impl Sbg {
    /// The graph of the cube of dimension `n`.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`](crate::address::MAX_DIMENSION).
    pub fn new(n: u32, variant: Variant) -> Sbg {
        Sbg { tree: Sbnt::new(n, variant), n, variant }
    }

    /// n, the dimension of the cube.
    pub fn dimension(&self) -> u32 {
        self.n
    }

    /// J_c: the subtrees of the root that node `c` belongs to, in ascending order. The root belongs to all.
    pub fn subtrees(&self, c: usize) -> impl Iterator<Item = u32> {
        (self.tree.index(c)..self.n).step_by(period(c, self.n) as usize)
    }

    /// The part of the data of node `c` that goes through subtree `j`; `None` if `c` is not in it.
    pub fn share(&self, c: usize, j: u32) -> Option<Share> {
        let (index, period) = (self.tree.index(c), period(c, self.n));
        let member = j >= index && j < self.n && (j - index).is_multiple_of(period);
        member.then(|| Share { index: (j - index) / period, parts: self.n / period })
    }

    /// The root of subtree `j`: the only child of the root in it.
    pub fn top(&self, j: u32) -> usize {
        self.tree.top(j)
    }

    /// The port to the parent of node `c` in subtree `j`; `None` for the root, and if `c` is not in the subtree.
    pub fn parent_port(&self, c: usize, j: u32) -> Option<u32> {
        self.share(c, j)?;
        self.tree.parent_port(self.inward(c, j)).map(|port| self.port(port, j))
    }

    /// The parents of node `c`, each with the subtree in which it is one, by ascending subtree; none for the root.
    pub fn parents(&self, c: usize) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.subtrees(c).filter_map(move |j| Some((j, c ^ 1 << self.parent_port(c, j)?)))
    }

    /// The ports to the parents of node `c`: one for every subtree that it belongs to; none for the root.
    pub fn parent_ports(&self, c: usize) -> Ports {
        self.parents(c).fold(Ports::NONE, |ports, (_, parent)| ports.with((c ^ parent).ilog2()))
    }

    /// The ports to the children of node `c` in subtree `j`; none if `c` is not in the subtree.
    pub fn child_ports(&self, c: usize, j: u32) -> Ports {
        if c == 0 {
            return Ports::from_mask(self.top(j));
        }
        if self.share(c, j).is_none() {
            return Ports::NONE;
        }
        self.tree.child_ports(self.inward(c, j)).iter().fold(Ports::NONE, |ports, port| ports.with(self.port(port, j)))
    }

    /// The nodes of subtree `j` at and below its node `c` (not the root), in depth-first order, `c` first, each with
    /// its number of levels below `c`.
    ///
    /// # Panics
    /// If `c` is the root or not in the subtree, in debug builds.
    pub fn subtree(&self, c: usize, j: u32) -> impl Iterator<Item = (usize, u32)> + '_ {
        debug_assert!(c != 0 && self.share(c, j).is_some(), "{c:b} is not below the root in subtree {j}");
        self.tree.subtree(self.inward(c, j)).map(move |(w, level)| (self.outward(w, j), level))
    }

    /// The routing cycle, from 0 to 2n-2, in which a one-port root's data for what is below `c` in subtree `j` enters
    /// `c`: that of [`Sbnt::label`], which needs one cycle less as node 1...1 is not in subtree n-1 there. `None` for
    /// the root, and if `c` is not in the subtree.
    pub fn label(&self, c: usize, j: u32) -> Option<u32> {
        self.share(c, j)?;
        self.tree.label(self.inward(c, j)).map(|steps| j + steps)
    }

    /// The parent of node `c` in the j-th of n rotated SBnTs, which together are this graph: the parent in the subtree
    /// of J_c that is j or comes first after j, cyclically. `None` for the root.
    pub fn rotated_parent(&self, c: usize, j: u32) -> Option<usize> {
        self.tree.parent(self.inward(c, j)).map(|parent| self.outward(parent, j))
    }

    /// A node of subtree `j` as a node of subtree 0.
    fn inward(&self, c: usize, j: u32) -> usize {
        if self.variant.rotates_left() {
            rotate_left(c, j, self.n)
        } else {
            rotate_right(c, j, self.n)
        }
    }

    /// A node of subtree 0 as a node of subtree `j`.
    fn outward(&self, w: usize, j: u32) -> usize {
        if self.variant.rotates_left() {
            rotate_right(w, j, self.n)
        } else {
            rotate_left(w, j, self.n)
        }
    }

    /// A port of a node of subtree 0 as the port of the node of subtree `j`.
    fn port(&self, port: u32, j: u32) -> u32 {
        (port + if self.variant.rotates_left() { self.n - j } else { j }) % self.n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{is_cyclic, reverse_bits};
    use proptest::prelude::*;
    use Variant::*;

    fn parents(n: u32, c: usize) -> Vec<(u32, usize)> {
        Sbg::new(n, MinRight).parents(c).collect()
    }

    #[test]
    fn examples_of_the_paper() {
        assert_eq!(parents(4, 0b0101), [(0, 0b0001), (2, 0b0100)]);
        assert_eq!(parents(4, 0b1010), [(1, 0b0010), (3, 0b1000)]);
        assert_eq!(parents(4, 0b1111), [(0, 0b0111), (1, 0b1110), (2, 0b1101), (3, 0b1011)]);
        assert_eq!(parents(9, 0b011011011), [(0, 0b001011011), (3, 0b011011001), (6, 0b011001011)]);
        let tree = Sbnt::new(4, MinRight);
        for c in (0..16).filter(|c| ![0, 0b0101, 0b1010, 0b1111].contains(c)) {
            assert_eq!(parents(4, c), [(tree.index(c), tree.parent(c).unwrap())]);
        }
        assert_eq!(Sbg::new(4, MinRight).parent_ports(0b0101), Ports(0b0101));
        assert_eq!([0, 1, 2, 3].map(|j| Sbg::new(4, MinRight).top(j)), [1, 2, 4, 8]);
        assert_eq!([0, 1, 2, 3].map(|j| Sbg::new(4, MaxLeft).top(j)), [8, 4, 2, 1]);
        // 0101 is a child of 0001 over port 2 in subtree 0, and of 0100 over port 0 in subtree 2, and has none.
        let graph = Sbg::new(4, MinRight);
        assert_eq!((graph.child_ports(0b0001, 0), graph.child_ports(0b0100, 2)), (Ports(0b0110), Ports(0b1001)));
        assert!((0..4).all(|j| graph.child_ports(0b0101, j).is_empty()));
        assert!((0..4).all(|j| graph.child_ports(0, j) == Ports(1 << j)));
    }

    #[test]
    fn degenerate_cubes() {
        for variant in Variant::ALL {
            assert_eq!(Sbg::new(1, variant).parents(1).collect::<Vec<_>>(), [(0, 0)]);
            assert_eq!(Sbg::new(0, variant).subtrees(0).count(), 0);
            let both: Vec<_> = Sbg::new(2, variant).parents(3).map(|(_, parent)| parent).collect();
            assert!(both == [1, 2] || both == [2, 1]);
        }
    }

    /// J_c and the parents by the definition, on the bits of the address, highest first: every number of rotations that
    /// gives the best word, and the word's first or last 1 removed.
    fn literal(n: u32, variant: Variant, c: usize) -> Vec<(u32, usize)> {
        let bits: Vec<u8> = (0..n).rev().map(|j| (c >> j & 1) as u8).collect();
        let turn = |word: &[u8], right: i64| {
            (0..n as i64).map(|i| word[(i - right).rem_euclid(n as i64) as usize]).collect::<Vec<u8>>()
        };
        let right = |u: u32| if variant.rotates_left() { -(u as i64) } else { u as i64 };
        let mirrored = matches!(variant, MinLeftReversed | MaxRightReversed);
        let key = |u: u32| {
            let mut word = turn(&bits, right(u));
            if mirrored {
                word.reverse();
            }
            word
        };
        let minimum = matches!(variant, MinRight | MinLeftReversed);
        let best = (0..n).map(key).reduce(|a, b| if minimum { a.min(b) } else { a.max(b) });
        let members = (0..n).filter(|&u| Some(key(u)) == best);
        members
            .map(|u| {
                let mut word = turn(&bits, right(u));
                let cleared = if variant.rotates_left() {
                    word.iter().rposition(|&bit| bit == 1)
                } else {
                    word.iter().position(|&bit| bit == 1)
                };
                word[cleared.expect("not the root")] = 0;
                (u, turn(&word, -right(u)).iter().fold(0, |value, &bit| 2 * value + bit as usize))
            })
            .collect()
    }

    #[test]
    fn agrees_with_the_definition_on_every_small_cube() {
        for variant in Variant::ALL {
            for n in 1..=10u32 {
                let graph = Sbg::new(n, variant);
                let mut children = vec![Vec::new(); n as usize];
                for c in 1..1usize << n {
                    let expected = literal(n, variant, c);
                    assert_eq!(graph.parents(c).collect::<Vec<_>>(), expected, "{variant} {n} {c:b}");
                    assert!(graph.subtrees(c).eq(expected.iter().map(|&(j, _)| j)));
                    assert_eq!(graph.parent_ports(c).len() as usize, expected.len());
                    for (i, &(j, parent)) in (0..).zip(&expected) {
                        let parts = expected.len() as u32;
                        assert_eq!(graph.share(c, j), Some(Share { index: i, parts }));
                        assert!(parent == 0 || graph.share(parent, j).is_some_and(|share| share.parts == 1));
                        children[j as usize].push((parent, c));
                    }
                    assert_eq!((0..n).filter(|&j| graph.share(c, j).is_some()).count(), expected.len());
                }
                for (j, mut edges) in (0..).zip(children) {
                    edges.sort_unstable();
                    let ports = |c: usize| graph.child_ports(c, j).iter().map(move |port| (c, c ^ 1 << port));
                    let mut found: Vec<_> = (0..1usize << n).flat_map(ports).collect();
                    found.sort_unstable();
                    assert_eq!(found, edges, "{variant} {n} subtree {j}");
                }
            }
        }
    }

    #[test]
    fn subtrees_carry_equal_weights() {
        for variant in Variant::ALL {
            for n in 1..=12u32 {
                let graph = Sbg::new(n, variant);
                // In units of 1/n of a node's data, at every level and in all.
                let mut weights = vec![vec![0; n as usize + 1]; n as usize];
                for j in 0..n {
                    for (c, level) in graph.subtree(graph.top(j), j) {
                        let share = graph.share(c, j).expect("a member");
                        assert_eq!((level + 1, is_cyclic(c, n)), (c.count_ones(), share.parts > 1));
                        weights[j as usize][c.count_ones() as usize] += n / share.parts;
                    }
                }
                assert!(weights.windows(2).all(|pair| pair[0] == pair[1]));
                assert_eq!(weights[0].iter().sum::<u32>(), (1 << n) - 1);
            }
        }
    }

    #[test]
    fn n_rotated_trees_of_weight_one_nth() {
        for variant in Variant::ALL {
            for n in 1..=8u32 {
                let graph = Sbg::new(n, variant);
                for c in 1..1usize << n {
                    let mut times = vec![0; n as usize];
                    for j in 0..n {
                        let parent = graph.rotated_parent(c, j);
                        // The first subtree of c cyclically from j on.
                        let first = (0..n).map(|u| (j + u) % n).find(|&u| graph.share(c, u).is_some());
                        let wanted = graph.parents(c).find(|&(u, _)| Some(u) == first);
                        assert_eq!(parent, wanted.map(|(_, parent)| parent));
                        times[first.unwrap() as usize] += 1;
                    }
                    assert!(times.iter().all(|&t| t == 0 || t == period(c, n)));
                    assert_eq!(graph.rotated_parent(0, 0), None);
                }
            }
        }
    }

    #[test]
    fn the_labels_are_a_one_port_schedule() {
        for variant in Variant::ALL {
            for n in 2..=9u32 {
                let graph = Sbg::new(n, variant);
                let mut last = 0;
                for c in 0..1usize << n {
                    let mut busy = Vec::new();
                    for j in 0..n {
                        let own = graph.label(c, j);
                        for port in graph.child_ports(c, j) {
                            let label = graph.label(c ^ 1 << port, j);
                            assert!(label > own);
                            let dimension = label.unwrap() % n;
                            assert_eq!(port, if variant.rotates_left() { n - 1 - dimension } else { dimension });
                            busy.push(label);
                        }
                        busy.extend(own.is_some().then_some(own));
                        last = last.max(own.unwrap_or(0));
                    }
                    busy.sort_unstable();
                    assert!(busy.windows(2).all(|pair| pair[0] < pair[1]), "{c:b} is busy twice in a cycle");
                }
                assert_eq!(last, 2 * n - 2);
            }
        }
    }

    #[test]
    fn reversed_variants_are_mirror_images() {
        for (variant, mirror) in [(MinRight, MinLeftReversed), (MaxLeft, MaxRightReversed)] {
            let (graph, image) = (Sbg::new(6, variant), Sbg::new(6, mirror));
            for c in 1..1usize << 6 {
                let found = image.parents(reverse_bits(c, 6)).map(|(j, parent)| (j, reverse_bits(parent, 6)));
                assert!(found.eq(graph.parents(c)));
            }
        }
    }

    proptest! {
        #[test]
        fn parents_and_children_agree_in_large_cubes(
            variant in prop::sample::select(Variant::ALL.to_vec()),
            (n, c) in (1u32..=30).prop_flat_map(|n| (Just(n), 1..1usize << n)),
            repeats in 1u32..5,
        ) {
            // Cyclic addresses, which random ones never meet: repeat the low bits.
            let graph = Sbg::new(n, variant);
            let length = n.div_ceil(repeats);
            let c = (0..repeats).fold(0, |word, _| word << length | c & ((1 << length) - 1)) & ((1 << n) - 1);
            prop_assume!(c != 0);
            prop_assert_eq!(graph.parents(c).collect::<Vec<_>>(), literal(n, variant, c));
            for (j, parent) in graph.parents(c) {
                let port = (parent ^ c).ilog2();
                prop_assert!(graph.child_ports(parent, j).contains(port));
                let dimension = if variant.rotates_left() { n - 1 - port } else { port };
                prop_assert_eq!(graph.label(c, j).map(|label| label % n), Some(dimension));
            }
        }
    }
}
