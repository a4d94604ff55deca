//! The pattern behind sends to opposite corners: which part of a block for node x goes across which of the bits of x.
//!
//! * O.C. SEND 2: a piece for each bit of x, which goes across that bit first and then across the others in cyclic order
//!   ([`turn`] numbers the pieces).
//! * O.C. SEND 3: every node between the root and x has an equal share of the block at each distance, and gives equal parts of
//!   it across all bits that it lacks ([`Spread`]).
//!
//! Reference: Stout and Wagar 1990, section 3. Addresses are relative to the root.

use crate::address::{mask, rotate_right, Ports};
use crate::collective::part;
use crate::topology::sbnt::{Sbnt, Variant};
use std::ops::Range;

/// Which part of a block for node `x`, cut for the 1 bits of `ways`, goes across bit s. The last part, the longest of unequal
/// ones, goes across the first of the bits from x's index in the SBnT upwards, cyclically; the part before it across the
/// second, and so on.
pub fn turn(n: u32, x: usize, ways: usize, s: u32) -> usize {
    let index = Sbnt::new(n, Variant::MinRight).index(x);
    let before = rotate_right(ways, index, n) & mask((s + n - index) % n);
    (ways.count_ones() - 1 - before.count_ones()) as usize
}

/// The least common multiple of 1, ..., n, and `usize::MAX` where that is beyond a word.
pub fn lcm(n: u32) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (1..=n as usize).try_fold(1usize, |all, l| (all / gcd(all, l)).checked_mul(l)).unwrap_or(usize::MAX)
}

/// Ascending intervals.
pub type Share = Vec<Range<usize>>;

/// O.C. SEND 3 from the root to node x.
#[derive(Clone, Copy)]
pub struct Spread {
    n: u32,
    x: usize,
}

impl Spread {
    /// The send to node `x` of the n-cube.
    pub fn new(n: u32, x: usize) -> Spread {
        Spread { n, x }
    }

    /// The shares of all nodes between the root and c, both included, in ascending order.
    pub fn shares(&self, c: usize, whole: Range<usize>) -> Vec<Share> {
        let mut shares = vec![vec![whole]];
        let bits: Vec<u32> = Ports::from_mask(c).iter().collect();
        // Bit b of an index stands for bit bits[b] of a node.
        for at in 1..1usize << bits.len() {
            let mut share = Vec::new();
            let between: usize = Ports::from_mask(at).iter().map(|b| 1 << bits[b as usize]).sum();
            for b in Ports::from_mask(at) {
                let port = bits[b as usize];
                share.extend(self.given(&shares[at ^ 1 << b], between ^ 1 << port, port));
            }
            share.sort_unstable_by_key(|piece| piece.start);
            share.dedup_by(|next, piece| {
                let joined = next.start == piece.end;
                if joined {
                    piece.end = next.end;
                }
                joined
            });
            shares.push(share);
        }
        shares
    }

    /// What the node `from` gives across a port of its share.
    pub fn given(&self, share: &Share, from: usize, port: u32) -> Share {
        let ways = self.x ^ from;
        let total = share.iter().map(Range::len).sum();
        let wanted = part(0..total, turn(self.n, self.x, ways, port), ways.count_ones() as usize);
        let mut at = 0;
        let pieces = share.iter().map(|piece| {
            let within = |position: usize| piece.start + position.saturating_sub(at).min(piece.len());
            let taken = within(wanted.start)..within(wanted.end);
            at += piece.len();
            taken
        });
        pieces.filter(|piece| !piece.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_common_multiples() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(lcm), [1, 1, 2, 6, 12, 60, 60, 420, 840, 2520, 2520]);
        assert_eq!(lcm(64), usize::MAX);
    }

    /// The pieces of x are in the order of its bits, the last one's from the root of its subtree in the SBnT.
    #[test]
    fn pieces_take_turns_from_the_index_on() {
        // R^2(01100) = 00011 is least, so 01100 is reached by way of 00100; R(10110) = 01011 is, so 10110 by way of 00010.
        assert_eq!([2, 3].map(|s| turn(5, 0b01100, 0b01100, s)), [1, 0]);
        assert_eq!([1, 2, 4].map(|s| turn(5, 0b10110, 0b10110, s)), [2, 1, 0]);
        assert_eq!([1, 4].map(|s| turn(5, 0b10110, 0b10010, s)), [1, 0]);
    }

    /// The analysis of O.C. SEND 3: m / C(l, j) elements on every node at distance j, m / (l C(l-1, j)) over every link
    /// beyond it, whatever the bits of x; and at x each element once.
    #[test]
    fn the_links_between_root_and_corner_are_evenly_loaded() {
        for (n, x) in [(1, 1), (2, 3), (3, 5), (3, 7), (4, 15), (5, 0b10111), (6, 0b111111), (7, 0b1011101), (7, 127)] {
            let x: usize = x;
            let l = x.count_ones();
            let m = 2 * lcm(l);
            let spread = Spread::new(n, x);
            for c in (0..=x).filter(|c| c & !x == 0) {
                let share = spread.shares(c, 100..100 + m).pop().expect("c itself is last");
                let len = |share: &Share| share.iter().map(Range::len).sum::<usize>();
                let j = c.count_ones();
                let choices = |l: u32, j: u32| (0..j as usize).fold(1, |all, i| all * (l as usize - i) / (i + 1));
                assert_eq!(len(&share), m / choices(l, j), "{c:b} of {x:b}");
                assert!(share.windows(2).all(|pair| pair[0].end < pair[1].start), "{share:?}");
                for port in Ports::from_mask(x ^ c) {
                    let given = spread.given(&share, c, port);
                    assert_eq!(len(&given), m / (l as usize * choices(l - 1, j)), "{c:b} of {x:b} across {port}");
                }
                if c == x {
                    assert!(share.iter().cloned().flatten().eq(100..100 + m));
                }
            }
        }
    }

    /// Whatever the length, a node gives all that it has.
    #[test]
    fn nothing_is_lost_where_nothing_divides() {
        for m in 0..20 {
            for x in 1..16usize {
                let share = Spread::new(4, x).shares(x, 7..7 + m).pop().expect("x itself is last");
                assert!(share.iter().cloned().flatten().eq(7..7 + m), "{m} elements for {x:b}");
            }
        }
    }
}
