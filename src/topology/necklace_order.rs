//! The order of all nodes by which the trees of Bertsekas et al. share out the work: necklace after necklace.
//!
//! Reference: D. P. Bertsekas, C. Özveren, G. D. Stamoulis, P. Tseng and J. N. Tsitsiklis, 1991, section 2 (with erratum 32).
//! Symbols: d is n here, the class R_kn a necklace (the rotations of one address) of k ones, n(t) is
//! [`NecklaceOrder::number`], m(t) is [`NecklaceOrder::column`] + 1, i with t in E_i is [`NecklaceOrder::step`].
//!
//! Definition: the nodes other than 0 are numbered 1, 2, ..., 2^n - 1: first those with one 1, then with two, and so on; among
//! equally many ones by necklaces, in ascending order of the least rotation w, so that w = 0..01..1 comes first, as it
//! must; within a necklace every node is the one before it rotated left by one. The first node of a necklace is w rotated
//! left by its own column, where the column of number v is (v - 1) mod n. So every node t is w rotated left by its
//! column, and bit column(t) of t is 1, as w is odd.
//!
//! A node of n different rotations therefore knows its column at once: it is the index of the spanning balanced n-tree.
//! For the others, and for numbers and steps, the paper has a table of the cube. Here a node finds its number by counting, in
//! O(n^3) word operations: see [`NecklaceOrder::before`].
//!
//! Example, n = 4, a row a step and a column m(t) - 1:
//!
//! ```text
//! 0001 0010 0100 1000
//! 0011 0110 1100 1001
//! 0101 1010 1101 1011
//! 0111 1110 1111
//! ```
//!
//! ```
//! use hypercoll::topology::necklace_order::NecklaceOrder;
//!
//! // Node 1010 is in the third row of the table, in its second column.
//! let order = NecklaceOrder::new(4);
//! let at = order.number(0b1010);
//! assert_eq!((order.step(at), order.column(at)), (3, Some(1)));
//! ```

use super::sbnt::{Sbnt, Variant};
use super::Tree;
use crate::address::{binomial, period, rotate_left, rotate_right};

/// The order of the nodes of the n-cube.
#[derive(Clone, Copy, Debug)]
pub struct NecklaceOrder {
    balanced: Sbnt,
}

impl NecklaceOrder {
    /// The order for the cube of dimension `n`.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`](crate::address::MAX_DIMENSION).
    pub fn new(n: u32) -> NecklaceOrder {
        NecklaceOrder { balanced: Sbnt::new(n, Variant::MinRight) }
    }

    /// n.
    pub fn dimension(&self) -> u32 {
        self.balanced.dimension()
    }

    /// q = ceil((2^n - 1) / n), the number of steps; 0 for n = 0.
    pub fn steps(&self) -> usize {
        let n = self.dimension();
        ((1usize << n) - 1).div_ceil(n.max(1) as usize)
    }

    /// n(t): 0 for node 0, else from 1 to 2^n - 1. O(n^3) word operations.
    pub fn number(&self, t: usize) -> usize {
        if t == 0 {
            return 0;
        }
        let n = self.dimension() as usize;
        let index = self.balanced.index(t);
        let before = self.before(rotate_right(t, index, n as u32));
        // The least rotation becomes t by index + any number of periods of left rotations; the first node of the necklace is
        // that of before mod n.
        before + 1 + (index as usize + n - before % n) % period(t, n as u32) as usize
    }

    /// m(t) - 1 = (n(t) - 1) mod n, from 0 to n-1; `None` for node 0. O(n) word operations unless t is cyclic.
    pub fn column(&self, t: usize) -> Option<u32> {
        let n = self.dimension();
        (t != 0).then(|| if period(t, n) == n { self.balanced.index(t) } else { (self.number(t) as u32 - 1) % n })
    }

    /// i such that t is in E_i: 0 for node 0, else ceil(n(t) / n), from 1 to [`NecklaceOrder::steps`].
    pub fn step(&self, t: usize) -> usize {
        self.number(t).div_ceil(self.dimension().max(1) as usize)
    }

    /// All nodes but 0, each with its column and step, necklace by necklace; O(n^2) word operations a node.
    pub fn nodes(&self) -> impl Iterator<Item = Place> + '_ {
        let n = self.dimension();
        let least = (1..1usize << n).step_by(2).filter(|&w| self.balanced.index(w) == 0);
        least.flat_map(move |w| {
            let before = self.before(w);
            (before..before + period(w, n) as usize).map(move |number| {
                let column = (number % n as usize) as u32;
                Place { node: rotate_left(w, column, n), column, step: number / n as usize + 1 }
            })
        })
    }

    /// The number of nodes, without node 0, that come before the necklace of `w`, its least rotation.
    ///
    /// Of the words with as many ones as w these are the ones with a rotation below w. The others are the rotations of w,
    /// and the words x all of whose rotations exceed w. Read such an x cyclically and compare it with w, bit by bit: a
    /// smaller bit than w's never comes, and after a greater one the comparison begins anew, since no rotation of w is below w. So x
    /// is a cyclic sequence of blocks "the first j bits of w, then a 1", for places j where w has a 0, and is so in one way
    /// only. Such sequences are counted by length and weight; the block across the end of x may begin at as many places as it has bits.
    pub fn before(&self, w: usize) -> usize {
        let n = self.dimension() as usize;
        let ones = w.count_ones() as usize;
        let blocks: Vec<(usize, usize)> = (0..n)
            .filter(|j| w >> (n - 1 - j) & 1 == 0)
            .map(|j| (j + 1, (w >> (n - j)).count_ones() as usize + 1))
            .collect();
        let mut sequences = vec![0usize; (n + 1) * (ones + 1)];
        let at = |length: usize, weight: usize| length * (ones + 1) + weight;
        sequences[at(0, 0)] = 1;
        for length in 1..=n {
            for weight in 1..=ones {
                let fits = blocks.iter().filter(|block| block.0 <= length && block.1 <= weight);
                sequences[at(length, weight)] =
                    fits.map(|block| sequences[at(length - block.0, weight - block.1)]).sum();
            }
        }
        let around = blocks.iter().filter(|block| block.1 <= ones);
        let above: usize = around.map(|block| block.0 * sequences[at(n - block.0, ones - block.1)]).sum();
        let up_to_as_many: usize = (1..=ones).map(|weight| binomial(n as u32, weight as u32)).sum();
        up_to_as_many - above - period(w, n as u32) as usize
    }
}

/// A node other than 0 and where it stands in the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// t.
    pub node: usize,
    /// m(t) - 1.
    pub column: u32,
    /// i with t in E_i.
    pub step: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{mask, MAX_DIMENSION};
    use proptest::prelude::*;

    /// The nodes in order, by the paper's rules and by sorting the bits of all addresses as text.
    fn sorted(n: usize) -> Vec<usize> {
        let rotations = |t: usize| {
            let text = format!("{t:0n$b}");
            (0..n).map(|u| format!("{}{}", &text[u..], &text[..u])).collect::<Vec<_>>()
        };
        let least = |t: usize| rotations(t).into_iter().min().expect("a rotation");
        let mut classes: Vec<(u32, String)> =
            (1..1usize << n).filter(|&t| least(t) == format!("{t:0n$b}")).map(|t| (t.count_ones(), least(t))).collect();
        classes.sort();
        let mut order = Vec::new();
        for (_, word) in classes {
            let m = order.len() % n;
            // Rotate the text left m times, then once more for every further node of the necklace.
            let mut member = format!("{}{}", &word[m..], &word[..m]);
            let mut members = Vec::new();
            while !members.contains(&member) {
                members.push(member.clone());
                member = format!("{}{}", &member[1..], &member[..1]);
            }
            order.extend(members.iter().map(|text| usize::from_str_radix(text, 2).expect("bits")));
        }
        order
    }

    #[test]
    fn numbers_are_those_of_the_sorted_table() {
        for n in 1..=12u32 {
            let order = NecklaceOrder::new(n);
            let expected = sorted(n as usize);
            assert_eq!(expected.len(), mask(n));
            assert_eq!((order.number(0), order.column(0), order.step(0)), (0, None, 0));
            for (at, &t) in expected.iter().enumerate() {
                let (column, step) = (at as u32 % n, at / n as usize + 1);
                assert_eq!((order.number(t), order.column(t), order.step(t)), (at + 1, Some(column), step), "{t:b}");
                assert_eq!(t >> column & 1, 1, "property (1) of the paper");
            }
            let mut nodes: Vec<Place> = order.nodes().collect();
            nodes.sort_by_key(|place| (place.step, place.column));
            assert!(nodes.iter().map(|place| place.node).eq(expected));
            assert!(nodes.iter().all(|p| (Some(p.column), p.step) == (order.column(p.node), order.step(p.node))));
            assert_eq!(nodes.last().map(|place| place.step), Some(order.steps()));
        }
        assert_eq!(NecklaceOrder::new(0).steps(), 0);
    }

    /// The table of the header.
    #[test]
    fn the_4_cube() {
        let rows = [1, 2, 4, 8, 3, 6, 12, 9, 5, 10, 13, 11, 7, 14, 15];
        assert_eq!(sorted(4), rows);
        assert!((1..).zip(rows).all(|(number, t)| NecklaceOrder::new(4).number(t) == number));
    }

    /// The first necklace of its weight is that of 0..01..1; its first node's lowest 1, of the block of ones, is bit m(t).
    #[test]
    fn blocks_come_first() {
        for n in 2..=MAX_DIMENSION {
            let order = NecklaceOrder::new(n);
            let mut before = 0;
            for k in 1..n {
                assert_eq!(order.before(mask(k)), before);
                let first = rotate_left(mask(k), before as u32 % n, n);
                assert_eq!(order.number(first), before + 1);
                before += binomial(n, k);
            }
            assert_eq!(order.number(mask(n)), mask(n));
        }
    }

    proptest! {
        /// In cubes too large to be sorted: rotating left by one is the next number but for the wrap within the necklace.
        #[test]
        fn necklaces_are_consecutive((n, t) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), 1..1usize << n)), repeats in 1u32..4) {
            let order = NecklaceOrder::new(n);
            let length = n.div_ceil(repeats);
            let cyclic = (0..repeats).fold(0, |word, _| word << length | t & mask(length)) & mask(n);
            for t in [t, cyclic] {
                if t == 0 {
                    continue;
                }
                let mut numbers: Vec<usize> =
                    (0..period(t, n)).map(|u| order.number(rotate_right(t, u, n))).collect();
                numbers.sort_unstable();
                prop_assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
                prop_assert_eq!(order.column(t), Some(((order.number(t) - 1) % n as usize) as u32));
            }
        }
    }
}
