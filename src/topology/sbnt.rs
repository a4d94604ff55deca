//! Graph: the spanning balanced n-tree (SBnT), in four variants; the BST of 1986 is the variant min-right.
//!
//! Reference: C.-T. Ho and S. L. Johnsson, 1988, sections 3, 4 (variants) and 5 (labels); 1986, section 4.1 (BST). Symbols:
//! c is the relative address, R, L and B rotate right, rotate left and reverse its bits, index(c) (1986: base) is the subtree
//! of the root that c belongs to, alpha_c the number of leading zeros of R^index(c)(c).
//!
//! Definition: index(c) is the smallest number of rotations that gives the *distinguished* address of c's necklace:
//!
//! | variant | index(c) | the parent clears | root of subtree j |
//! |---|---|---|---|
//! | min-right | minimises R^u(c) | the highest 1 of R^index(c) | 2^j |
//! | max-left | maximises L^u(c) | the lowest 1 of L^index(c) | 2^(n-1-j) |
//! | min-left-reversed | minimises B L^u(c) | the lowest 1 of L^index(c) | 2^(n-1-j) |
//! | max-right-reversed | maximises B R^u(c) | the highest 1 of R^index(c) | 2^j |
//!
//! Since B L^u = R^u B, a reversed variant is the mirror image of another: it is computed on B(c), with its ports mirrored.
//!
//! Clearing that 1 does not change the index, so the tree consists of n subtrees of nearly 2^n / n nodes each; they are
//! rotations of each other, but for the cyclic nodes, which are leaves and belong to the first P_c subtrees only.
//!
//! Example, min-right on the 3-cube (111 is cyclic; its index is the smallest of 0, 1 and 2):
//!
//! ```text
//! node      000 001 010 011 100 101 110 111
//! index      -   0   1   0   2   2   1   0
//! parent     -  000 000 001 000 100 010 011
//! label      -   0   1   1   2   3   2   2
//! ```
//!
//! ```
//! use hypercoll::topology::sbnt::{Sbnt, Variant};
//! use hypercoll::topology::Tree;
//!
//! let tree = Sbnt::new(3, Variant::MinRight);
//! let parents: Vec<_> = (1..8).map(|c| tree.parent(c).unwrap()).collect();
//! assert_eq!(parents, [0b000, 0b000, 0b001, 0b000, 0b100, 0b010, 0b011]);
//! // The seven nodes below the root are spread over three subtrees as evenly as can be.
//! assert_eq!([0, 1, 2].map(|j| tree.subtree_nodes(j)), [3, 2, 2]);
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; C(n,l) nodes at level l; heights, fan-outs, subtree
//! sizes (table 1, lemma 13); cyclic nodes are leaves (lemma 8); ports of children are contiguous (lemma 16, the minimising
//! variants); labels form a valid one-port schedule of 2n-2 cycles (lemma 17); fast against literal definitions.

use std::fmt;
use std::str::FromStr;

use super::Tree;
use crate::address::{mask, reverse_bits, rotate_left, rotate_right, Ports, MAX_DIMENSION};

/// Which address of a necklace is the distinguished one, and so which spanning balanced n-tree.
///
/// All four use every edge out of the root, and mostly different edges below. Ho & Johnsson 1988, section 4.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Variant {
    /// The minimum over right rotations: SBnT^minR, the tree of the paper's section 3. Fan-outs fall with the level.
    #[default]
    MinRight,
    /// The maximum over left rotations: SBnT^maxL.
    MaxLeft,
    /// The minimum over the bit-reversed left rotations: SBnT^minBL, the mirror image of SBnT^minR.
    MinLeftReversed,
    /// The maximum over the bit-reversed right rotations: SBnT^maxBR, the mirror image of SBnT^maxL.
    MaxRightReversed,
}

impl Variant {
    /// The four variants, in the order of the paper.
    pub const ALL: [Variant; 4] =
        [Variant::MinRight, Variant::MaxLeft, Variant::MinLeftReversed, Variant::MaxRightReversed];

    /// The name on the command line: `min-right`, `max-left`, `min-left-reversed`, `max-right-reversed`.
    pub fn name(self) -> &'static str {
        match self {
            Variant::MinRight => "min-right",
            Variant::MaxLeft => "max-left",
            Variant::MinLeftReversed => "min-left-reversed",
            Variant::MaxRightReversed => "max-right-reversed",
        }
    }

    pub(crate) fn minimises(self) -> bool {
        matches!(self, Variant::MinRight | Variant::MinLeftReversed)
    }

    fn is_reversed(self) -> bool {
        matches!(self, Variant::MinLeftReversed | Variant::MaxRightReversed)
    }

    /// Whether addresses are rotated left, so that subtree j hangs from port n-1-j.
    pub(crate) fn rotates_left(self) -> bool {
        matches!(self, Variant::MaxLeft | Variant::MinLeftReversed)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is none of the four variants' names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownVariant(String);

impl fmt::Display for UnknownVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Variant::ALL.map(Variant::name).join(", ");
        write!(f, "no SBnT variant '{}'; the variants are {names}", self.0)
    }
}

impl std::error::Error for UnknownVariant {}

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(name: &str) -> Result<Variant, UnknownVariant> {
        Variant::ALL.into_iter().find(|variant| variant.name() == name).ok_or_else(|| UnknownVariant(name.to_owned()))
    }
}

/// The spanning balanced n-tree of the n-cube. Every query takes O(n) word operations.
#[derive(Clone, Copy, Debug)]
pub struct Sbnt {
    n: u32,
    variant: Variant,
}

/// Where a node other than the root is, in terms of its subtree.
struct Place {
    index: u32,
    /// The distinguished address of the necklace, or of its mirror image in the reversed variants.
    word: usize,
    /// How many bits from its base, cyclically, the 1 is that the parent lacks.
    steps: u32,
}

impl Sbnt {
    /// The tree of the cube of dimension `n`.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`].
    pub fn new(n: u32, variant: Variant) -> Sbnt {
        assert!(n <= MAX_DIMENSION, "dimension {n} above {MAX_DIMENSION}");
        Sbnt { n, variant }
    }

    /// index(c): the subtree of the root, from 0 to n-1, that node `c` belongs to; 0 for the root itself.
    ///
    /// Ho & Johnsson 1988, sections 2 and 4; base(c) in 1986, section 4.1. Ties go to the smallest number of rotations.
    pub fn index(&self, c: usize) -> u32 {
        self.distinguish(c).0
    }

    /// The routing cycle, from 0 to 2n-3 (for n >= 2), in which a one-port root's data for the subtree of `c` enters `c`;
    /// `None` for the root.
    ///
    /// For min-right this is index(c) + n-1-alpha_c of Ho & Johnsson 1988, lemma 17. The other variants are labelled alike:
    /// the index, plus the number of places from the base of the subtree to the 1 that the parent lacks.
    pub fn label(&self, c: usize) -> Option<u32> {
        self.place(c).map(|place| place.index + place.steps)
    }

    /// The root of subtree `j`: the child of the root below which all nodes of index j are.
    ///
    /// For min-right and max-right-reversed it is across port j, for the other two across port n-1-j.
    pub fn top(&self, j: u32) -> usize {
        1 << if self.variant.rotates_left() { self.n - 1 - j } else { j }
    }

    /// Which of the four trees.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The index of `c` and its distinguished address (of B(c) in the reversed variants).
    fn distinguish(&self, c: usize) -> (u32, usize) {
        debug_assert!(c <= mask(self.n), "node {c} outside the {}-cube", self.n);
        let mut word = if self.variant.is_reversed() { reverse_bits(c, self.n) } else { c };
        let (mut index, mut best) = (0, word);
        for u in 1..self.n {
            word = self.rotate(word, 1);
            let better = if self.variant.minimises() { word < best } else { word > best };
            if better {
                (index, best) = (u, word);
            }
        }
        (index, best)
    }

    /// The rotation that the variant optimises over, after mirroring: right for a minimum, left for a maximum.
    fn rotate(&self, word: usize, steps: u32) -> usize {
        if self.variant.minimises() {
            rotate_right(word, steps, self.n)
        } else {
            rotate_left(word, steps, self.n)
        }
    }

    fn place(&self, c: usize) -> Option<Place> {
        if c == 0 {
            return None;
        }
        let (index, word) = self.distinguish(c);
        // The base is the lowest bit of a minimal word, the highest of a maximal one, and is always 1.
        let steps = if self.variant.minimises() { word.ilog2() } else { self.n - 1 - word.trailing_zeros() };
        Some(Place { index, word, steps })
    }

    /// The numbers of steps from the base at which a further 1 makes a child: a mask.
    ///
    /// Let w be the distinguished word and w' the word with the 1 added. The child is in the same subtree if w' is in turn
    /// the best of its rotations, and no smaller number of rotations than the index gives it. Take a minimal word and a 1
    /// added at bit s. Rotation by u <= s moves that 1 down to bit s-u, so w' stays minimal against it iff
    /// R^u(w) - w >= 2^s - 2^(s-u) = 2^(s-u) (2^u - 1), and strictly so iff u <= index, where a tie would name a smaller
    /// index. Rotation by u > s moves the 1 up, and cannot win. One division per rotation therefore yields every s that it
    /// forbids. For a maximal word the 1 is added at bit n-1-s, and the same argument gives
    /// w - L^u(w) >= 2^(n-1-s) (2^u - 1) for u <= s.
    fn child_steps(&self, place: &Place) -> usize {
        let mut allowed = mask(self.n) ^ mask(place.steps + 1);
        for u in 1..self.n {
            let gap = place.word.abs_diff(self.rotate(place.word, u));
            // A rotation by no more than the index never gives the word itself, or the index would be smaller.
            let room = (gap - usize::from(u <= place.index)) / mask(u);
            let length = usize::BITS - room.leading_zeros();
            allowed &= if self.variant.minimises() {
                mask((u + length).min(self.n))
            } else {
                mask(u) | !mask(self.n - length.min(self.n))
            };
        }
        allowed
    }
}

impl Tree for Sbnt {
    fn dimension(&self) -> u32 {
        self.n
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        let port = self.label(c)? % self.n;
        Some(if self.variant.rotates_left() { self.n - 1 - port } else { port })
    }

    fn child_ports(&self, c: usize) -> Ports {
        let Some(place) = self.place(c) else {
            return Ports::all(self.n);
        };
        let ports = rotate_left(self.child_steps(&place), place.index, self.n);
        Ports::from_mask(if self.variant.rotates_left() { reverse_bits(ports, self.n) } else { ports })
    }

    fn level(&self, c: usize) -> u32 {
        c.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{is_cyclic, period};
    use crate::topology::tests::{assert_consistent, assert_spanning, binomial};
    use proptest::prelude::*;
    use Variant::*;

    /// The definition word for word, on the bits of the address, lowest first: (index, port to the parent).
    fn literal(n: u32, variant: Variant, c: usize) -> Option<(u32, u32)> {
        let bits: Vec<usize> = (0..n).map(|j| c >> j & 1).collect();
        let value = |word: &[usize]| word.iter().rev().fold(0, |value, bit| 2 * value + bit);
        let rotated = |u: u32| {
            let mut word = bits.clone();
            match variant {
                MinRight | MaxRightReversed => word.rotate_left(u as usize),
                MaxLeft | MinLeftReversed => word.rotate_right(u as usize),
            }
            word
        };
        let key = |u: &u32| match variant {
            MinRight => value(&rotated(*u)) as i64,
            MaxLeft => -(value(&rotated(*u)) as i64),
            MinLeftReversed => value(&rotated(*u).into_iter().rev().collect::<Vec<_>>()) as i64,
            MaxRightReversed => -(value(&rotated(*u).into_iter().rev().collect::<Vec<_>>()) as i64),
        };
        let index = (0..n).min_by_key(key)?;
        let word = rotated(index);
        let port = match variant {
            MinRight | MaxRightReversed => (word.iter().rposition(|&bit| bit == 1)? as u32 + index) % n,
            MaxLeft | MinLeftReversed => (word.iter().position(|&bit| bit == 1)? as u32 + n - index) % n,
        };
        Some((index, port))
    }

    #[test]
    fn the_min_right_tree_of_the_5_cube() {
        // The five subtrees in section B of the errata, node and parent.
        let subtrees: [&[(usize, usize)]; 5] = [
            &[(1, 0), (3, 1), (5, 1), (7, 3), (11, 3), (15, 7), (31, 15)],
            &[(2, 0), (6, 2), (10, 2), (14, 6), (22, 6), (30, 14)],
            &[(4, 0), (12, 4), (20, 4), (13, 12), (28, 12), (29, 28)],
            &[(8, 0), (9, 8), (24, 8), (25, 24), (26, 24), (27, 25)],
            &[(16, 0), (17, 16), (18, 16), (19, 17), (21, 17), (23, 19)],
        ];
        let tree = Sbnt::new(5, MinRight);
        for (j, subtree) in (0..).zip(subtrees) {
            for &(c, parent) in subtree {
                assert_eq!((tree.index(c), tree.parent(c)), (j, Some(parent)), "node {c:05b}");
            }
        }
    }

    #[test]
    fn examples_of_the_papers() {
        assert_eq!(Variant::ALL.map(|v| Sbnt::new(10, v).index(0b1110100010)), [5, 0, 8, 7]);
        assert_eq!([0b011010, 0b110110].map(|c| Sbnt::new(6, MinRight).index(c)), [1, 1]);
        let expected = [[7, 5, 3, 11], [7, 12, 3, 26], [7, 12, 10, 26], [7, 12, 3, 11]];
        for (variant, parents) in Variant::ALL.into_iter().zip(expected) {
            let tree = Sbnt::new(6, variant);
            assert_eq!(
                [0b010111, 0b001101, 0b001011, 0b011011].map(|c| tree.parent(c)),
                parents.map(Some),
                "{variant}"
            );
        }
        // k = 5, alpha = 2: label 1 + 7-1-2.
        let tree = Sbnt::new(7, MinRight);
        assert_eq!((tree.parent_port(0b0101110), tree.label(0b0101110)), (Some(5), Some(5)));
    }

    #[test]
    fn every_variant_spans_every_small_cube() {
        for variant in Variant::ALL {
            for n in 0..=10u32 {
                let tree = Sbnt::new(n, variant);
                assert_spanning(&tree);
                let mut levels = vec![0; n as usize + 1];
                for c in 0..1usize << n {
                    levels[tree.level(c) as usize] += 1;
                    assert!(!is_cyclic(c, n) || c == 0 || tree.child_ports(c).is_empty(), "lemma 8: {c:b}");
                    if c != 0 {
                        assert_eq!(literal(n, variant, c), Some(tree.index(c)).zip(tree.parent_port(c)));
                    }
                }
                assert!((0..=n).all(|l| levels[l as usize] == binomial(n, l)));
                // Subtree j hangs from port j, or n-1-j of the variants that rotate left; it has every node of a longer
                // period than j. Heights: corollary 1.
                for j in 0..n {
                    let port = if variant.rotates_left() { n - 1 - j } else { j };
                    let height =
                        tree.subtree(1 << port).inspect(|&(c, _)| assert_eq!(tree.index(c), j)).map(|(_, l)| l);
                    assert_eq!(height.max(), Some(if j == 0 { n - 1 } else { n - 2 }));
                    let size = (1..1 << n).map(|c| period(c, n)).filter(|&p| p > j).map(|p| 1.0 / f64::from(p));
                    assert_eq!(tree.subtree_size(1 << port), size.sum::<f64>().round() as usize);
                }
            }
            let sizes =
                [0, 1, 2, 3, 4, 5].map(|j| (0..64).filter(|&c| c != 0 && Sbnt::new(6, variant).index(c) == j).count());
            assert_eq!(sizes, [13, 12, 11, 9, 9, 9]);
        }
    }

    #[test]
    fn fan_outs() {
        for n in 4..=10u32 {
            for variant in Variant::ALL {
                let tree = Sbnt::new(n, variant);
                for l in 1..=n {
                    let nodes = (1..1usize << n).filter(|c| c.count_ones() == l);
                    let expected = match l {
                        // Lemma 3; the other pair of trees differs from level 2 on (section 4).
                        _ if l == 1 || l == n || variant.minimises() => (n - l).div_ceil(2),
                        _ => (n - l - 1).max(1),
                    };
                    assert_eq!(nodes.map(|c| tree.child_ports(c).len()).max(), Some(expected), "{variant} {n} {l}");
                }
            }
        }
    }

    #[test]
    fn edges_common_to_the_variants() {
        // Below level 1, of minR and minBL, and of all four trees: items 13 and 14 of the errata.
        let common = |n: u32, variants: &[Variant]| {
            let parents = |c: usize| variants.iter().map(move |&v| Sbnt::new(n, v).parent(c));
            (1..1 << n)
                .filter(|c: &usize| c.count_ones() > 1 && parents(*c).all(|p| Some(p) == parents(*c).next()))
                .count()
        };
        assert_eq!(
            [2, 3, 4, 5, 6, 7, 8, 9, 10].map(|n| common(n, &[MinRight, MinLeftReversed])),
            [0, 0, 0, 5, 6, 14, 32, 63, 114]
        );
        assert_eq!([2, 3, 4, 5, 6, 7, 8, 9].map(|n| common(n, &Variant::ALL)), [0, 0, 0, 5, 6, 14, 32, 27]);
        assert_eq!(common(5, &[MinRight, MaxRightReversed]), 26);
        assert_eq!(common(5, &[MaxLeft, MinLeftReversed]), 26);
    }

    #[test]
    fn the_labels_are_a_one_port_schedule() {
        for variant in Variant::ALL {
            for n in 2..=10u32 {
                let tree = Sbnt::new(n, variant);
                for c in 0..1usize << n {
                    let mut busy: Vec<Option<u32>> = tree.children(c).map(|child| tree.label(child)).collect();
                    busy.push(tree.label(c));
                    busy.sort_unstable();
                    assert!(busy.windows(2).all(|pair| pair[0] < pair[1]), "{c:b} is busy twice in a cycle");
                    assert_eq!(busy[0], tree.label(c), "{c:b} sends before it receives");
                }
                let cycles = (1..1 << n).filter_map(|c| tree.label(c));
                assert_eq!(cycles.max(), Some(2 * n - 3));
            }
        }
    }

    #[test]
    fn names() {
        for variant in Variant::ALL {
            assert_eq!(variant.to_string().parse(), Ok(variant));
        }
        let error = "left".parse::<Variant>().expect_err("no such variant").to_string();
        assert!(Variant::ALL.iter().all(|variant| error.contains(variant.name())) && error.contains("'left'"));
    }

    fn any_node() -> impl Strategy<Value = (Sbnt, usize)> {
        let variant = prop::sample::select(Variant::ALL.to_vec());
        (variant, 1..=MAX_DIMENSION).prop_flat_map(|(variant, n)| (Just(Sbnt::new(n, variant)), 1..1usize << n))
    }

    proptest! {
        #[test]
        fn consistent_in_large_cubes((tree, c) in any_node(), repeats in 1u32..5) {
            assert_consistent(&tree, c);
            prop_assert_eq!(literal(tree.n, tree.variant, c), Some(tree.index(c)).zip(tree.parent_port(c)));
            // Cyclic addresses and their neighbours, which random ones never meet: repeat the low bits.
            let length = tree.n.div_ceil(repeats);
            let cyclic = (0..repeats).fold(0, |word, _| word << length | c & mask(length)) & mask(tree.n);
            assert_consistent(&tree, cyclic);
            for port in 0..tree.n {
                assert_consistent(&tree, cyclic ^ 1 << port);
            }
        }

        #[test]
        fn ports_of_children_are_contiguous((tree, c) in any_node()) {
            prop_assume!(tree.variant.minimises());
            let k = tree.parent_port(c).expect("not the root");
            let step = |j: u32| if tree.variant.rotates_left() { (k + tree.n - j) % tree.n } else { (k + j) % tree.n };
            let contiguous = (1..=tree.child_ports(c).len()).fold(Ports::NONE, |ports, j| ports.with(step(j)));
            prop_assert_eq!(tree.child_ports(c), contiguous);
        }

        #[test]
        fn the_label_of_lemma_17((tree, c) in any_node()) {
            prop_assume!(tree.variant == MinRight);
            let index = tree.index(c);
            let alpha = tree.n - 1 - rotate_right(c, index, tree.n).ilog2();
            prop_assert_eq!(tree.label(c), Some(index + tree.n - 1 - alpha));
        }
    }
}
