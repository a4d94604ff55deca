//! Of what the data of a call is made: the space, and its blocks.

use super::{Call, Layout};
use crate::address::dimension_for;
use std::ops::Range;

/// What the space of a collective is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocks {
    /// There is no data.
    None,
    /// One vector, which may be cut into a part for each rank.
    Parts,
    /// A block for each rank.
    Ranks,
    /// A block from each rank to each rank.
    Pairs,
    /// A block from each rank over each port, also where no rank is there to receive it.
    Neighbors,
    /// The vector of the root, and of an exchange the peer's behind it, if that is another rank.
    Ends {
        /// Whether the peer has one, too.
        both: bool,
    },
    /// Two matrices and their product; a count is that of a side.
    Product,
}

impl Call {
    /// Block `index` of the space: of rank `index`, or, for all-to-all, the block from rank `index / size` to rank
    /// `index % size`, and between neighbours the block from rank `index / n` over port `index % n`. A vector that is not made of blocks (broadcast, reduce, all-reduce) is cut into `size` parts as
    /// even as possible; of a matrix product, it is the block of C.
    pub fn block(&self, index: usize) -> Range<usize> {
        match self.collective.meaning().blocks {
            Blocks::None => 0..0,
            Blocks::Parts => part(0..self.count, index, self.size),
            Blocks::Product => self.product().c_block(index),
            Blocks::Ranks | Blocks::Pairs | Blocks::Neighbors | Blocks::Ends { .. } => match &self.layout {
                Some(layout) => layout.block(index),
                None => index * self.count..(index + 1) * self.count,
            },
        }
    }

    /// The block from one rank to another, of an all-to-all.
    pub fn block_between(&self, from: usize, to: usize) -> Range<usize> {
        self.block(from * self.size + to)
    }

    /// n, the dimension of the cube that has a node for every rank.
    pub(super) fn ports(&self) -> usize {
        dimension_for(self.size) as usize
    }

    /// Number of blocks that the call has a layout of, if their lengths are not equal.
    pub(super) fn blocks(&self) -> usize {
        match self.collective.meaning().blocks {
            Blocks::Pairs => self.size * self.size,
            Blocks::Neighbors => self.size * self.ports(),
            _ => self.size,
        }
    }

    /// Offset in the receive buffer of the block from rank `from` to the rank that holds the buffer.
    pub(super) fn place(&self, from: usize, index: usize) -> usize {
        self.layout.as_ref().map_or(from * self.count, |layout| layout.place_from(from, index))
    }

    /// The index of the block that holds position `at` of the space.
    pub(super) fn index(&self, at: usize) -> usize {
        match &self.layout {
            Some(layout) => layout.index(at),
            None => at / self.count.max(1),
        }
    }

    /// The whole space.
    pub fn space(&self) -> Range<usize> {
        let of_blocks = |blocks: usize| self.layout.as_ref().map_or(blocks * self.count, Layout::end);
        let len = match self.collective.meaning().blocks {
            Blocks::None => 0,
            Blocks::Parts => self.count,
            Blocks::Ranks | Blocks::Pairs | Blocks::Neighbors => of_blocks(self.blocks()),
            Blocks::Ends { both } if both && self.root != self.peer => 2 * self.count,
            Blocks::Ends { .. } => self.count,
            Blocks::Product => self.product().space(),
        };
        0..len
    }
}

/// Part `index` of `parts` parts of an interval, as even as possible (lengths differ by one at most).
pub fn part(whole: Range<usize>, index: usize, parts: usize) -> Range<usize> {
    // In 128 bits: length times index may pass 2^64.
    let cut = |i: usize| whole.start + (whole.len() as u128 * i as u128 / parts.max(1) as u128) as usize;
    cut(index)..cut(index + 1)
}

/// The part of [`part`] that has the `nth` of so many elements.
pub(crate) fn part_with(nth: usize, elements: usize, parts: usize) -> usize {
    ((nth as u128 + 1) * parts as u128).div_ceil(elements.max(1) as u128) as usize - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_even_and_complete() {
        for len in 0..20 {
            for parts in 1..9 {
                let cuts: Vec<_> = (0..parts).map(|i| part(3..3 + len, i, parts)).collect();
                assert_eq!(cuts[0].start, 3);
                assert_eq!(cuts[parts - 1].end, 3 + len);
                assert!(cuts.windows(2).all(|w| w[0].end == w[1].start));
                let lens: Vec<_> = cuts.iter().map(|c| c.len()).collect();
                assert!(lens.iter().max().unwrap() - lens.iter().min().unwrap() <= 1);
                assert!((0..len).all(|nth| cuts[part_with(nth, len, parts)].contains(&(3 + nth))));
            }
        }
    }
}
