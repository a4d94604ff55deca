//! Blocks of unequal lengths.
//!
//! # Who knows which lengths
//! A rank needs the lengths of the blocks that pass through it, and of no others: positions of the space are a rank's own, and a block
//! that it does not know has none of them. So a rank that knows less makes the same schedule ([`Known`] says how much it knows):
//!
//! | the call | known on every rank | who makes its schedule |
//! |---|---|---|
//! | all-gather, reduce-scatter, permutations, transpositions | all lengths | any algorithm |
//! | scatter and gather, all lengths told first | all lengths | any algorithm |
//! | scatter and gather, lengths sent down the tree first | what passes through the rank; sum and longest | algorithms along one tree, without packets |
//! | scatter and gather, without | the rank's own | `direct` |
//! | all-to-all | what the rank sends and receives | `one_factor`, `shift`, `pairwise_xor` |
//!
//! What algorithm serves the call, all ranks choose alike: by what all of them know, that is all lengths, their sum and the longest, or
//! none at all ([`Layout::typical`]). Nowhere is a list of more than two lengths for each rank.

use std::ops::Range;
use std::sync::Arc;

/// Blocks of unequal lengths: where each begins in the space, and in the buffers of the rank on which it lies.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Layout(Arc<Blocks>);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Blocks {
    kind: Kind,
    known: Known,
    /// Whether what passes through a rank stays in its receive buffer, block after block.
    keeps: bool,
    /// Offsets in the send buffer and in the receive buffer of this rank, by block; `None`: one after another.
    places: [Option<Arc<[usize]>>; 2],
}

/// Which blocks there are: first position of every block, and the end of the last one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Kind {
    /// One a rank.
    Vectors { starts: Arc<[usize]> },
    /// One from every rank to every rank, each with its offset in the receive buffer.
    Pairs { starts: Arc<[usize]>, offsets: Arc<[usize]> },
    /// Those from one rank, and then those to it, but the one to itself.
    Row { rank: usize, starts: Arc<[usize]> },
    /// Some of those that there are, one a rank, ascending.
    Some { size: usize, blocks: Arc<[usize]>, starts: Arc<[usize]> },
}

/// What lengths a rank knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Known {
    /// All, and so do the others.
    All,
    /// Those of blocks that pass through it; and, as all ranks, the sum of all and the longest.
    Passing {
        /// Elements of all blocks.
        sum: usize,
        /// Elements of the longest block.
        longest: usize,
    },
    /// Those of blocks that it has before or after.
    Own,
    /// For a choice: the sum of all and the longest, as all ranks. Whatever else an algorithm needs will be told.
    Summary {
        /// Elements of all blocks.
        sum: usize,
        /// Elements of the longest block.
        longest: usize,
    },
}

/// Which buffer offsets are of.
const SENT: usize = 0;
const RECEIVED: usize = 1;

impl Layout {
    /// One block a rank: `lengths` in elements, by rank, known on all ranks.
    pub fn of_vectors(lengths: impl IntoIterator<Item = usize>) -> Layout {
        Layout::with(Kind::Vectors { starts: prefix_sums(lengths) }, Known::All)
    }

    /// A block from every rank to every rank: `length(from, to)` in elements, known on all ranks.
    pub fn of_pairs(size: usize, length: impl Fn(usize, usize) -> usize) -> Layout {
        let pairs = (0..size).flat_map(|from| (0..size).map(move |to| (from, to)));
        let starts = prefix_sums(pairs.clone().map(|(from, to)| length(from, to)));
        let mut filled = vec![0usize; size];
        let offsets = pairs.map(|(from, to)| {
            let offset = filled[to];
            filled[to] = offset.saturating_add(length(from, to));
            offset
        });
        let offsets = offsets.collect();
        Layout::with(Kind::Pairs { starts, offsets }, Known::All)
    }

    /// The blocks that `rank` sends, by target, and those that it receives, by source: all that it knows of an all-to-all. Both say
    /// how long the block to itself is, and must agree.
    pub fn of_row(rank: usize, sends: &[usize], receives: &[usize]) -> Layout {
        let others = receives.iter().enumerate().map(|(from, &length)| if from == rank { 0 } else { length });
        let starts = prefix_sums(sends.iter().copied().chain(others));
        let one_after_another = |lengths: &[usize]| prefix_sums(lengths.iter().copied());
        let places = [sends, receives].map(one_after_another).map(Some);
        Layout::with(Kind::Row { rank, starts }, Known::Own).altered(|blocks| blocks.places = places)
    }

    /// Those of one block a rank, of `size` ranks, that this rank knows: `(block, length)`, ascending by block.
    pub fn of_some(size: usize, known: Known, lengths: impl IntoIterator<Item = (usize, usize)>) -> Layout {
        let (blocks, lengths): (Vec<usize>, Vec<usize>) = lengths.into_iter().unzip();
        Layout::with(Kind::Some { size, blocks: blocks.into(), starts: prefix_sums(lengths) }, known)
    }

    fn with(kind: Kind, known: Known) -> Layout {
        Layout(Arc::new(Blocks { kind, known, keeps: false, places: [None, None] }))
    }

    fn altered(mut self, alter: impl FnOnce(&mut Blocks)) -> Layout {
        alter(Arc::make_mut(&mut self.0));
        self
    }

    /// The same, where this rank knows all lengths, but acts on what all ranks know.
    pub fn knowing(self, known: Known) -> Layout {
        self.altered(|blocks| blocks.known = known)
    }

    /// The same, where what passes through a rank stays on it: its receive buffer has all blocks that it knows, one after another.
    pub(crate) fn keeping(self) -> Layout {
        self.altered(|blocks| blocks.keeps = true)
    }

    pub(super) fn keeps(&self) -> bool {
        self.0.keeps
    }

    /// The same, where blocks lie in this rank's send buffer at these offsets, by block or, of an all-to-all, by target. They may overlap.
    pub fn sent_from(self, offsets: impl Into<Arc<[usize]>>) -> Layout {
        self.altered(|blocks| blocks.places[SENT] = Some(offsets.into()))
    }

    /// The same, where blocks come to lie in this rank's receive buffer at these offsets, by block or, of an all-to-all, by source. They do
    /// not overlap.
    pub fn received_at(self, offsets: impl Into<Arc<[usize]>>) -> Layout {
        self.altered(|blocks| blocks.places[RECEIVED] = Some(offsets.into()))
    }

    /// What this rank knows.
    pub fn known(&self) -> Known {
        self.0.known
    }

    /// Number of blocks of the call; all that one could know of them.
    pub(crate) fn blocks(&self) -> usize {
        match &self.0.kind {
            Kind::Vectors { starts } | Kind::Pairs { starts, .. } => starts.len().saturating_sub(1),
            Kind::Row { .. } => self.ranks() * self.ranks(),
            Kind::Some { size, .. } => *size,
        }
    }

    /// Numbers that are listed.
    pub(crate) fn listed(&self) -> usize {
        let kind = match &self.0.kind {
            Kind::Vectors { starts } | Kind::Row { starts, .. } => starts.len(),
            Kind::Pairs { starts, offsets } => starts.len() + offsets.len(),
            Kind::Some { blocks, starts, .. } => blocks.len() + starts.len(),
        };
        kind + self.0.places.iter().flatten().map(|places| places.len()).sum::<usize>()
    }

    fn starts(&self) -> &[usize] {
        match &self.0.kind {
            Kind::Vectors { starts } | Kind::Pairs { starts, .. } => starts,
            Kind::Row { starts, .. } | Kind::Some { starts, .. } => starts,
        }
    }

    /// Ranks of a row.
    fn ranks(&self) -> usize {
        (self.starts().len() - 1) / 2
    }

    /// The positions of a block; none of one that this rank does not know.
    pub(super) fn block(&self, index: usize) -> Range<usize> {
        let at = match &self.0.kind {
            &Kind::Row { rank, .. } => match (index / self.ranks(), index % self.ranks()) {
                (from, to) if from == rank => to,
                (from, to) if to == rank => self.ranks() + from,
                _ => return 0..0,
            },
            Kind::Some { blocks, .. } => match blocks.binary_search(&index) {
                Ok(at) => at,
                Err(_) => return 0..0,
            },
            _ => index,
        };
        self.starts()[at]..self.starts()[at + 1]
    }

    /// The block that holds a position.
    pub(super) fn index(&self, at: usize) -> usize {
        let place = self.starts().partition_point(|&start| start <= at) - 1;
        match &self.0.kind {
            Kind::Row { rank, .. } if place < self.ranks() => rank * self.ranks() + place,
            Kind::Row { rank, .. } => (place - self.ranks()) * self.ranks() + rank,
            Kind::Some { blocks, .. } => blocks[place],
            _ => place,
        }
    }

    /// Offset in the receive buffer of a block from a rank, of an all-to-all.
    pub(super) fn place_from(&self, from: usize, index: usize) -> usize {
        match (&self.0.kind, &self.0.places[RECEIVED]) {
            (_, Some(places)) => places[from],
            (Kind::Pairs { offsets, .. }, None) => offsets[index],
            (_, None) => 0,
        }
    }

    /// Offsets of blocks in a buffer that holds those of all ranks, if they do not follow one another.
    pub(super) fn places(&self, sent: bool) -> Option<&[usize]> {
        self.0.places[if sent { SENT } else { RECEIVED }].as_deref()
    }

    /// Elements of all blocks that this rank knows.
    pub(super) fn end(&self) -> usize {
        self.starts().last().copied().unwrap_or(0)
    }

    /// Elements of the longest block, or of the longest that this rank knows.
    pub fn longest(&self) -> usize {
        if let Known::Passing { longest, .. } | Known::Summary { longest, .. } = self.0.known {
            return longest;
        }
        self.starts().windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
    }

    /// What all ranks know of it.
    pub(super) fn agreed(&self) -> Layout {
        let kind = match self.0.known {
            Known::All => self.0.kind.clone(),
            _ => Kind::Vectors { starts: Arc::default() },
        };
        Layout::with(kind, self.0.known).altered(|blocks| blocks.keeps = self.0.keeps)
    }

    /// Elements of all blocks and of the longest, as all ranks know them, if they do.
    fn summary(&self) -> Option<(usize, usize)> {
        match self.0.known {
            Known::All => Some((self.end(), self.longest())),
            Known::Passing { sum, longest } | Known::Summary { sum, longest } => Some((sum, longest)),
            Known::Own => None,
        }
    }

    /// Whether some block is longer than others, by what all ranks know.
    pub(crate) fn is_uneven(&self) -> bool {
        self.summary().is_some_and(|(sum, longest)| longest > sum.div_ceil(self.blocks().max(1)))
    }

    /// The lengths that are listed, but that of a block from the rank of an all-to-all to itself.
    fn lengths_between_ranks(&self) -> impl Iterator<Item = usize> + '_ {
        let own = match self.0.kind {
            Kind::Row { rank, .. } => [rank, self.ranks() + rank],
            _ => [usize::MAX; 2],
        };
        let lengths = self.starts().windows(2).map(|ends| ends[1] - ends[0]).enumerate();
        lengths.filter(move |(at, _)| !own.contains(at)).map(|(_, length)| length)
    }

    /// Whether some block that this rank knows is longer by more than a quarter than they are in the mean.
    pub(crate) fn is_uneven_here(&self) -> bool {
        let lengths = || self.lengths_between_ranks().map(|length| length as f64);
        let (blocks, all) = lengths().fold((0.0, 0.0), |(blocks, all), length| (blocks + 1.0, all + length));
        lengths().any(|length| 4.0 * blocks * length > 5.0 * all)
    }

    /// Elements of a block in the mean of those that the rank of an all-to-all sends to others, or receives from them, if these are more.
    pub(crate) fn mean_of_row(&self) -> Option<usize> {
        let Kind::Row { .. } = self.0.kind else { return None };
        let others = self.ranks() - 1;
        let sends: usize = self.lengths_between_ranks().take(others).sum();
        let receives: usize = self.lengths_between_ranks().skip(others).sum();
        Some(sends.max(receives).div_ceil(others.max(1)))
    }

    /// The length of a block of which as many, equal ones, are about as much work, by what all ranks know. `ports` links of a rank
    /// work at once.
    pub(crate) fn typical(&self, rooted: bool, steps: Steps, ports: usize) -> usize {
        let Some((sum, longest)) = self.summary() else { return 1 };
        let size = self.blocks().max(1);
        let mean = sum.div_ceil(size);
        match (&self.0.kind, rooted) {
            (Kind::Pairs { .. } | Kind::Row { .. }, _) => longest,
            (_, true) => mean.max(longest.saturating_mul(ports).div_ceil(size)),
            (_, false) if steps == Steps::OneByOne => longest,
            // Of all blocks but one; a rank's port is never idle.
            (_, false) if steps == Steps::Flowing => sum.div_ceil((size - 1).max(1)).clamp(mean.min(longest), longest),
            (_, false) => {
                // Some rank has the longest blocks together, and no more than there are.
                let steps =
                    (0..size.next_power_of_two().ilog2()).map(|step| longest.saturating_mul(1 << step).min(sum));
                let moved = steps.fold(0usize, usize::saturating_add);
                moved.div_ceil((size - 1).max(1)).clamp(mean.min(longest), longest)
            }
        }
    }
}

/// How an algorithm takes blocks from rank to rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Steps {
    /// Several together, or all from one rank.
    Together,
    /// Those of all ranks one step further in every round, so that the longest decides each time.
    OneByOne,
    /// The same, but each goes on as it comes, packet by packet.
    Flowing,
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

    /// Equal lengths are as much work as equal blocks; the sum and the longest decide between them where they are not.
    #[test]
    fn typical_lengths_are_between_the_mean_and_the_longest() {
        for size in [2, 3, 8, 13, 64] {
            let equal = Layout::of_vectors(vec![100; size]);
            for steps in [Steps::Together, Steps::OneByOne, Steps::Flowing] {
                assert_eq!([true, false].map(|rooted| equal.typical(rooted, steps, 1)), [100; 2], "{size}");
            }
            assert!(!equal.is_uneven());
            let zipf = Layout::of_vectors((1..=size).map(|place| 1000 / place));
            let one = Layout::of_vectors((0..size).map(|rank| if rank == 1 { 1000 } else { 0 }));
            for layout in [&zipf, &one] {
                assert!(layout.is_uneven());
                let mean = layout.end().div_ceil(size);
                let rooted = layout.typical(true, Steps::Together, 1);
                let [together, one_by_one, flowing] =
                    [Steps::Together, Steps::OneByOne, Steps::Flowing].map(|steps| layout.typical(false, steps, 1));
                assert!(
                    rooted == mean && mean < together && together <= one_by_one && one_by_one == 1000,
                    "{layout:?}"
                );
                // As many elements as there are go through a port, or, between two ranks, the longest.
                let (moved, least) = ((size - 1) * flowing, layout.end().min((size - 1) * 1000));
                assert!(
                    (least..layout.end() + size).contains(&moved) && flowing <= one_by_one,
                    "{layout:?}: {flowing}"
                );
                // What ranks are told is enough to choose like those that know all.
                let told = Known::Passing { sum: layout.end(), longest: 1000 };
                let some = Layout::of_some(size, told, [(0, layout.block(0).len())]);
                assert_eq!(
                    (some.typical(true, Steps::Together, 3), some.longest()),
                    (layout.typical(true, Steps::Together, 3), 1000)
                );
            }
            // A link of the root's carries the one long block, however many there are.
            assert_eq!(one.typical(true, Steps::Together, 3), (3000usize).div_ceil(size).max(1000usize.div_ceil(size)));
        }
        assert_eq!(
            Layout::of_row(0, &[1, 200], &[1, 3]).typical(false, Steps::OneByOne, 1),
            1,
            "nothing is known to all"
        );
    }

    /// On 4096 ranks no list of more than a few numbers a rank.
    #[test]
    fn nothing_is_listed_for_pairs_of_ranks() {
        let lengths: Vec<usize> = (0..4096).map(|rank| rank % 7).collect();
        let row = Layout::of_row(5, &lengths, &lengths);
        let call = Call::new(Collective::AllToAll, 4096, 0).with_layout(row.clone());
        assert_eq!(call.check(), Ok(()));
        assert!(row.listed() < 5 * 4096 && call.initial(5).len() + call.last(5).len() < 2 * 4096);
        let own = Layout::of_some(4096, Known::Own, [(5, 3)]);
        assert!(own.listed() < 4);
    }

    /// A row is what its rank knows of all pairs.
    #[test]
    fn a_row_is_of_all_pairs() {
        let length = |from: usize, to: usize| (3 * from + to) % 4;
        let all = Layout::of_pairs(5, length);
        for rank in 0..5 {
            let (sends, receives) =
                (0..5).map(|other| (length(rank, other), length(other, rank))).unzip::<_, _, Vec<_>, Vec<_>>();
            let row = Layout::of_row(rank, &sends, &receives);
            assert_eq!((row.blocks(), row.listed()), (25, 11 + 6 + 6));
            for index in 0..25 {
                let (from, to) = (index / 5, index % 5);
                let known = from == rank || to == rank;
                assert_eq!(row.block(index).len(), if known { length(from, to) } else { 0 });
                assert!(row.block(index).all(|at| row.index(at) == index));
                if to == rank {
                    assert_eq!(row.place_from(from, index), all.place_from(from, index));
                }
            }
        }
    }
}
