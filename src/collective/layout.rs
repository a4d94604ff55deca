//! Blocks of unequal lengths.

use std::ops::Range;
use std::sync::Arc;

/// Blocks of unequal lengths: where each begins in the space, and in the receive buffer of the rank on which it ends.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// First position of every block, and the end of the last one.
    starts: Arc<[usize]>,
    /// Offset of every block in the receive buffer.
    places: Arc<[usize]>,
}

impl Layout {
    /// Number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.places.len()
    }

    /// The positions of a block.
    pub(super) fn block(&self, index: usize) -> Range<usize> {
        self.starts[index]..self.starts[index + 1]
    }

    /// Offset of a block in the receive buffer.
    pub(super) fn place(&self, index: usize) -> usize {
        self.places[index]
    }

    /// The block that holds a position.
    pub(super) fn index(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at) - 1
    }

    /// Elements of all blocks.
    pub(super) fn end(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Elements of the longest block.
    pub fn longest(&self) -> usize {
        (0..self.blocks()).map(|index| self.block(index).len()).max().unwrap_or(0)
    }

    /// One block a rank, each alone in its receive buffer: `lengths` in elements, by rank.
    pub fn of_vectors(lengths: impl IntoIterator<Item = usize>) -> Layout {
        let starts = prefix_sums(lengths);
        Layout { places: vec![0; starts.len() - 1].into(), starts }
    }

    /// A block from every rank to every rank: `length(from, to)` in elements.
    pub fn of_pairs(size: usize, length: impl Fn(usize, usize) -> usize) -> Layout {
        let pairs = (0..size).flat_map(|from| (0..size).map(move |to| (from, to)));
        let starts = prefix_sums(pairs.clone().map(|(from, to)| length(from, to)));
        let mut filled = vec![0usize; size];
        let places = pairs.map(|(from, to)| {
            let place = filled[to];
            filled[to] = place.saturating_add(length(from, to));
            place
        });
        Layout { starts, places: places.collect() }
    }
}

/// More positions than can be counted end at the last one: then [`super::Call::check`] refuses the longest block.
fn prefix_sums(lengths: impl IntoIterator<Item = usize>) -> Arc<[usize]> {
    let mut end = 0usize;
    let ends = lengths.into_iter().map(|length| {
        end = end.saturating_add(length);
        end
    });
    std::iter::once(0).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Call, Collective};
    use crate::error::Error;

    #[test]
    fn more_positions_than_can_be_counted_are_refused() {
        const HALF: usize = usize::MAX / 2;
        for lengths in [[3, usize::MAX], [usize::MAX, 3], [usize::MAX, usize::MAX], [HALF + 1, HALF + 1]] {
            let call = Call::new(Collective::AllGather, 2, 0).with_layout(Layout::of_vectors(lengths));
            assert!(matches!(call.check(), Err(Error::Call { argument: "count", .. })), "{lengths:?}");
        }
        for length in [HALF, usize::MAX / 4 + 1, usize::MAX] {
            let call = Call::new(Collective::AllToAll, 2, 0).with_layout(Layout::of_pairs(2, |_, _| length));
            assert!(matches!(call.check(), Err(Error::Call { argument: "count", .. })), "{length}");
        }
    }
}
