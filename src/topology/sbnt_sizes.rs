//! How many nodes hang where in the SBnT, from counts of necklaces instead of walks (but for the paths of the maximising variants): a formula
//! asks for these on cubes of which a walk would take longer than the call.
//!
//! Reference: Ho and Johnsson 1988, section 3 (theorem 1, table 1). Subtree j has one node of every necklace of more than j
//! addresses, level l of it those with l ones; a necklace of d | n addresses repeats a primitive one of d bits.
//!
//! The path of a subtree is 1, 11, 111, ... (in the maximising variants 1, 11, 111, ... from the highest bit), rotated: of
//! each level it has the node with the most below it (tested). Below 1^k, in a minimising variant, are the minimal words that
//! end in k ones; the rest of such a word is a prefix of one that repeats a primitive necklace of at most n - k bits, and
//! each of these has one prefix of n - k bits. Nearly all such prefixes make a minimal word: the counts are at most 5% high.

use super::sbnt::Sbnt;
use super::Tree;
use crate::address::{binomial, mask, periods, reverse_bits, rotate_left, rotate_right};

/// The dimension up to which a path of the minimising variants is counted by a walk: 55 nodes.
const WALKED: u32 = 8;

impl Sbnt {
    /// The number of nodes of subtree `j` of the root, without walking it: one node of every necklace of more than j nodes.
    ///
    /// By theorem 1 the largest is subtree 0, and the subtrees from n/2 on are the smallest. Ho & Johnsson 1988, table 1.
    pub fn subtree_nodes(&self, j: u32) -> usize {
        let n = self.dimension();
        // The root is a necklace of its own.
        let larger = periods(n).filter(|&(period, _)| period > j as usize).map(|(period, nodes)| nodes / period);
        larger.sum::<usize>() - usize::from(j == 0 && n > 0)
    }

    /// The nodes of subtree 0 by their levels below its root, without walking it.
    pub fn level_nodes(&self) -> Vec<usize> {
        let n = self.dimension();
        (1..=n).map(|level| divisors(gcd(n, level)).map(|r| primitive_of_weight(n / r, level / r)).sum()).collect()
    }

    /// Down the path of subtree `j`, on which the largest subtrees of every level are, the nodes at and below each of its nodes: counted if
    /// [`Sbnt::path_is_counted`], else at most.
    pub fn path_nodes(&self, j: u32) -> Vec<usize> {
        let n = self.dimension();
        // Of cyclic nodes, 11...1 ends the path of subtree 0 only.
        let path = 1..=if j == 0 { n } else { n - 1 };
        if self.path_is_counted() {
            let left = self.variant().rotates_left();
            let node = |k| if left { rotate_right(reverse_bits(mask(k), n), j, n) } else { rotate_left(mask(k), j, n) };
            return path.map(|k| self.subtree_size(node(k))).collect();
        }
        let primitive: Vec<usize> = (0..n).map(|bits| periods(bits).last().map_or(0, |(d, nodes)| nodes / d)).collect();
        let below = |bits: u32| primitive[..=bits as usize].iter().sum::<usize>().max(1);
        path.map(|k| if k == 1 { self.subtree_nodes(j) } else { below(n - k) }).collect()
    }

    /// Whether [`Sbnt::path_nodes`] are exact: in the minimising variants up to dimension 8, else always.
    pub fn path_is_counted(&self) -> bool {
        self.dimension() <= WALKED || !self.variant().minimises()
    }
}

/// The primitive necklaces of `d` bits of which `ones` are ones.
fn primitive_of_weight(d: u32, ones: u32) -> usize {
    let repeated = divisors(gcd(d, ones)).skip(1).map(|r| (d / r) as usize * primitive_of_weight(d / r, ones / r));
    (binomial(d, ones) - repeated.sum::<usize>()) / d as usize
}

fn divisors(of: u32) -> impl Iterator<Item = u32> {
    (1..=of).filter(move |d| of.is_multiple_of(*d))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::sbnt::Variant;

    /// By walks: for every level of subtree j its nodes, and the largest subtree that hangs there.
    fn walked(tree: &Sbnt, j: u32) -> (Vec<usize>, Vec<usize>) {
        let mut levels = (vec![0; tree.dimension() as usize], vec![0; tree.dimension() as usize]);
        for (c, level) in tree.subtree(tree.top(j)) {
            levels.0[level as usize] += 1;
            levels.1[level as usize] = tree.subtree_size(c).max(levels.1[level as usize]);
        }
        levels
    }

    #[test]
    fn levels_and_paths_are_those_of_a_walk() {
        for variant in Variant::ALL {
            for n in 1..=12 {
                let tree = Sbnt::new(n, variant);
                for j in 0..n {
                    let (levels, mut largest) = walked(&tree, j);
                    largest.retain(|&nodes| nodes > 0);
                    if j == 0 {
                        assert_eq!(tree.level_nodes(), levels, "{variant} {n}");
                    }
                    let path = tree.path_nodes(j);
                    if tree.path_is_counted() {
                        assert_eq!(path, largest, "{variant} {n} {j}");
                    }
                    assert_eq!((path.len(), path[0]), (largest.len(), tree.subtree_nodes(j)));
                    assert!(path.iter().zip(&largest).all(|(at_most, nodes)| at_most >= nodes), "{variant} {n} {j}");
                }
            }
        }
    }

    #[test]
    fn where_a_path_is_not_counted_it_is_at_most_5_percent_high() {
        for n in [9, 10, 11, 12, 13, 16, 17, 18] {
            let tree = Sbnt::new(n, Variant::MinRight);
            let nodes: usize = (1..=n).map(|k| tree.subtree_size(mask(k))).sum();
            let at_most: usize = tree.path_nodes(0).iter().sum();
            assert!((nodes..=nodes + nodes / 20).contains(&at_most), "{n}: {nodes}, {at_most}");
        }
    }
}
