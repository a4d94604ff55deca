//! Blocks of different lengths: how long they are, and where they lie in the buffers of a rank.

use crate::draw::{mix, Call, Random};
use hypercoll::collective::Collective;

/// Where the blocks of a buffer are.
pub struct Places {
    pub counts: Vec<usize>,
    pub at: Vec<usize>,
    /// Elements up to the end of the last, and perhaps some more.
    pub len: usize,
}

/// Which buffer of a rank.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Sent,
    Received,
}

/// Lengths by rank, or of an all-to-all by source and target: by Zipf's law in any order, with some that are 0; one long one; all alike;
/// none. In an all-to-all in place, two ranks send each other as much.
pub fn lengths(random: &mut Random, collective: Collective, size: usize, count: usize, in_place: bool) -> Vec<usize> {
    let (number, longest) = match collective {
        Collective::AllToAll => (size * size, count),
        _ => (size, count * (1 + random.below(size))),
    };
    let long = random.below(number);
    let kind = random.below(8);
    let one = |random: &mut Random, at: usize| match kind {
        0 => count * usize::from(at == long),
        1 => count,
        2 => 0,
        _ if random.once_in(4) => 0,
        _ => longest / (1 + random.below(size)),
    };
    let mut lengths: Vec<usize> = (0..number).map(|at| one(random, at)).collect();
    if in_place && collective == Collective::AllToAll {
        (0..number).for_each(|at| lengths[at] = lengths[at.min(at % size * size + at / size)]);
    }
    lengths
}

impl Call {
    /// Elements of the block that goes from one rank to another, of those that make up a buffer of one of them.
    pub fn block(&self, from: usize, to: usize) -> usize {
        let rank = if matches!(self.collective, Collective::Gather | Collective::AllGather) { from } else { to };
        match (&self.lengths, self.collective) {
            (None, _) => self.count,
            (Some(lengths), Collective::AllToAll) => lengths[from * self.size + to],
            (Some(lengths), _) => lengths[rank],
        }
    }

    /// The blocks of what a rank sends to all.
    pub fn sent(&self, rank: usize) -> Places {
        if self.collective == Collective::AllToAll && self.in_place {
            return self.received(rank);
        }
        self.places((0..self.size).map(|to| self.block(rank, to)).collect(), rank, Side::Sent)
    }

    /// The blocks of what a rank receives from all.
    pub fn received(&self, rank: usize) -> Places {
        self.places((0..self.size).map(|from| self.block(from, rank)).collect(), rank, Side::Received)
    }

    /// One after another, or each anywhere: every rank by itself.
    fn places(&self, counts: Vec<usize>, rank: usize, side: Side) -> Places {
        let mut random = Random(mix(self.data ^ ((2 * rank + side as usize) as u64) << 24));
        let has_places = self.lengths.is_some() && self.collective != Collective::ReduceScatter;
        let (order, apart) = match random.below(4) {
            // All from the same place on.
            0 if has_places && side == Side::Sent => {
                let len = counts.iter().copied().max().unwrap_or(0);
                return Places { at: vec![0; counts.len()], counts, len };
            }
            0 | 1 if has_places => (random.permutation(counts.len()), random.below(3)),
            _ => ((0..counts.len()).collect(), 0),
        };
        let (mut at, mut len) = (vec![0; counts.len()], apart);
        for block in order {
            at[block] = len;
            len += counts[block] + apart;
        }
        Places { counts, at, len }
    }
}
