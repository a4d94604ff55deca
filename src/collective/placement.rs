//! Where the data of a call lies before and after.

use super::{Call, InPlace};
use std::ops::Range;

/// A buffer of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Buffer {
    /// The user's send buffer, never written.
    Send,
    /// The user's receive buffer (the only buffer of a broadcast and of a call in place).
    Receive,
    /// The library's own memory.
    Scratch,
}

/// An interval of the space and where it lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The positions.
    pub space: Range<usize>,
    /// The buffer that holds them, contiguously.
    pub buffer: Buffer,
    /// Offset of the first position in the buffer, in elements.
    pub offset: usize,
}

/// What a rank holds of the space, before a call or after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// Nothing.
    Nothing,
    /// All of it (of a reduction before: a contribution to all of it).
    Everything,
    /// A block, by its index.
    Block(usize),
    /// The blocks from a rank: to all ranks, or over all its ports.
    From(usize),
    /// The blocks from all ranks to a rank.
    To(usize),
    /// The blocks to a rank from all its neighbours.
    ToNode(usize),
    /// The block that the permutation moves to a rank.
    MovedTo(usize),
    /// The blocks of both factors of a matrix product that a rank holds.
    Factors(usize),
}

/// Data of one rank that another one is to have: all of it lies one after another on both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The rank that has it before.
    pub rank: usize,
    /// Where it lies there, in elements.
    pub offset: usize,
    /// Where it is to be in the receive buffer.
    pub target: Range<usize>,
}

impl Call {
    /// Length of the send buffer of `rank`, in elements; 0 where the rank passes none.
    pub fn send_len(&self, rank: usize) -> usize {
        let sent = self.initial(rank).into_iter().filter(|p| p.buffer == Buffer::Send);
        sent.map(|p| p.offset + p.space.len()).max().unwrap_or(0)
    }

    /// Length of the receive buffer of `rank`, in elements; 0 where the rank passes none.
    pub fn receive_len(&self, rank: usize) -> usize {
        if let Held::ToNode(_) = self.after(rank) {
            // Ports without a neighbour have their blocks, too.
            return self.ports() * self.count;
        }
        let held = self.initial(rank).into_iter().filter(|p| p.buffer == Buffer::Receive);
        held.chain(self.last(rank)).map(|p| p.offset + p.space.len()).max().unwrap_or(0)
    }

    /// Where the data (for a reduction: the contribution) of `rank` lies at the start.
    pub fn initial(&self, rank: usize) -> Vec<Placement> {
        let meaning = self.collective.meaning();
        let sent = self.placements((meaning.before)(self, rank), Buffer::Send);
        let in_place = match meaning.in_place {
            InPlace::Never => false,
            InPlace::Allowed => self.in_place,
            InPlace::Always => true,
        };
        let last = if in_place { self.last(rank) } else { Vec::new() };
        let moved = sent.into_iter().map(|sent| {
            // What the rank is to have afterwards is there already.
            let around = last.iter().find(|l| l.space.start <= sent.space.start && sent.space.end <= l.space.end);
            around.map_or(sent.clone(), |l| Placement {
                buffer: l.buffer,
                offset: l.offset + sent.space.start - l.space.start,
                space: sent.space,
            })
        });
        moved.collect()
    }

    /// Where the result of `rank` lies at the end: always in the receive buffer.
    pub fn last(&self, rank: usize) -> Vec<Placement> {
        self.placements(self.after(rank), Buffer::Receive)
    }

    fn after(&self, rank: usize) -> Held {
        match &self.layout {
            Some(layout) if layout.keeps() => Held::Everything,
            _ => (self.collective.meaning().after)(self, rank),
        }
    }

    /// The ranks of whose data the result of `rank` may be made: of a reduction those that contribute to it, else all.
    pub fn contributors(&self, rank: usize) -> Range<usize> {
        (self.collective.meaning().contributors)(self, rank)
    }

    /// Where all that is held lies in a buffer that holds nothing else.
    fn placements(&self, held: Held, buffer: Buffer) -> Vec<Placement> {
        let at = |space: Range<usize>, offset| Placement { space, buffer, offset };
        let places = self.layout.as_ref().and_then(|layout| layout.places(buffer == Buffer::Send));
        let placed = |first: usize, places: &[usize]| {
            let blocks = (first..first + self.size).zip(places);
            let blocks = blocks.map(|(index, &place)| at(self.block(index), place));
            blocks.filter(|p| !p.space.is_empty()).collect()
        };
        match held {
            Held::Nothing => Vec::new(),
            Held::Everything => places.map_or_else(|| vec![at(self.space(), 0)], |places| placed(0, places)),
            Held::Block(index) => vec![at(self.block(index), 0)],
            Held::From(rank) => match places {
                Some(places) => placed(rank * self.size, places),
                None => vec![at(self.row(rank), 0)],
            },
            Held::To(rank) => {
                let from = (0..self.size).map(|i| (i, i * self.size + rank));
                let blocks = from.map(|(i, index)| at(self.block(index), self.place(i, index)));
                blocks.filter(|p| !p.space.is_empty()).collect()
            }
            Held::ToNode(rank) => {
                let neighbors = (0..self.ports()).map(|port| (port, rank ^ 1 << port));
                let blocks = neighbors.filter(|&(_, from)| from < self.size);
                let blocks = blocks.map(|(port, from)| at(self.block(from * self.ports() + port), port * self.count));
                blocks.filter(|p| !p.space.is_empty()).collect()
            }
            Held::MovedTo(rank) => {
                let source = self.permutation.as_ref().and_then(|p| p.iter().position(|&to| to == rank));
                source.map(|i| at(self.block(i), 0)).into_iter().collect()
            }
            Held::Factors(rank) => {
                let (a, b) = (self.product().a_block(rank), self.product().b_block(rank));
                let behind = a.len();
                vec![at(a, 0), at(b, behind)]
            }
        }
    }

    /// The positions of all blocks from a rank.
    fn row(&self, rank: usize) -> Range<usize> {
        // A single rank has no neighbours.
        let Some(last) = (self.blocks() / self.size).checked_sub(1) else { return 0..0 };
        let first = rank * (last + 1);
        self.block(first).start..self.block(first + last).end
    }

    /// Where position `at` of the space ends on `rank`: the offset in the receive buffer, if it ends there at all, and
    /// for how many positions from `at` on that answer holds without a gap. Constant time, as schedules ask it often.
    pub(crate) fn home(&self, rank: usize, at: usize) -> (Option<usize>, usize) {
        let end = self.space().end;
        let within = |block: Range<usize>, offset: usize| {
            if at < block.start {
                (None, block.start - at)
            } else if at < block.end {
                (Some(offset + at - block.start), block.end - at)
            } else {
                (None, end - at)
            }
        };
        match self.after(rank) {
            Held::Nothing => (None, end - at),
            Held::Everything => match self.layout.as_ref().and_then(|layout| layout.places(false)) {
                Some(places) => {
                    let index = self.index(at);
                    within(self.block(index), places[index])
                }
                None => within(0..end, 0),
            },
            Held::Block(index) => within(self.block(index), 0),
            Held::From(rank) => within(self.row(rank), 0),
            Held::To(rank) => {
                let index = self.index(at);
                if index % self.size == rank {
                    within(self.block(index), self.place(index / self.size, index))
                } else {
                    (None, self.block(index).end - at)
                }
            }
            Held::ToNode(rank) => {
                let index = self.index(at);
                let (from, port) = (index / self.ports(), index % self.ports());
                if from ^ 1 << port == rank {
                    within(self.block(index), port * self.count)
                } else {
                    (None, self.block(index).end - at)
                }
            }
            Held::MovedTo(rank) => {
                let source = self.index(at);
                if self.permutation.as_ref().is_some_and(|p| p[source] == rank) {
                    within(self.block(source), 0)
                } else {
                    (None, self.block(source).end - at)
                }
            }
            Held::Factors(rank) => {
                let (a, b) = (self.product().a_block(rank), self.product().b_block(rank));
                let behind = a.len();
                if at < a.end {
                    within(a, 0)
                } else {
                    within(b, behind)
                }
            }
        }
    }

    /// What the result of `rank` is made of, by the rank that has it before: of a reduction the contributions to
    /// every element. (The elements of a matrix product are none of those that there are before.)
    ///
    /// ```
    /// use hypercoll::collective::{Call, Collective, Origin};
    ///
    /// // All-to-all of 3 ranks: rank 1 gets the second block of every rank.
    /// let origins = Call::new(Collective::AllToAll, 3, 10).origins(1);
    /// assert_eq!(origins.len(), 3);
    /// assert_eq!(origins[2], Origin { rank: 2, offset: 10, target: 20..30 });
    /// ```
    pub fn origins(&self, rank: usize) -> Vec<Origin> {
        let last = self.last(rank);
        let mut origins = Vec::new();
        for from in self.contributors(rank) {
            for source in self.initial(from) {
                for target in &last {
                    let start = source.space.start.max(target.space.start);
                    let end = source.space.end.min(target.space.end);
                    if start < end {
                        let place = |at: usize| target.offset + at - target.space.start;
                        let offset = source.offset + start - source.space.start;
                        origins.push(Origin { rank: from, offset, target: place(start)..place(end) });
                    }
                }
            }
        }
        origins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Collective, Layout, MatrixProduct};

    fn calls(size: usize, count: usize) -> Vec<Call> {
        let mut calls = Vec::new();
        for collective in Collective::ALL {
            for root in 0..if collective.has_root() { size } else { 1 } {
                let mut call = Call::new(collective, size, count).with_root(root);
                if collective.has_peer() {
                    call.peer = (root + 1) % size;
                }
                if collective.permutes() {
                    call.permutation = Some((0..size).map(|i| (i + 1) % size).collect());
                    calls.push(call.clone());
                    call = call.with_layout(Layout::of_vectors((0..size).map(|i| (i * count) % 4)));
                }
                if collective == Collective::MatrixMultiply {
                    calls.push(call.clone());
                    let (grid_rows, grid_columns) = (size, 1);
                    let sides = MatrixProduct { rows: count, inner: count + 2, columns: 3, grid_rows, grid_columns };
                    call.matrices = Some(sides.into());
                }
                if matches!(collective, Collective::AllToAll | Collective::TransposeRows) {
                    calls.push(call.clone());
                    call = call.with_layout(Layout::of_pairs(size, |i, j| (3 * i + j) * count % 4));
                }
                calls.push(call.clone());
                if collective.has_in_place() {
                    call.in_place = true;
                    calls.push(call);
                }
            }
        }
        calls
    }

    /// `home` is the fast form of `last`: they must say the same for every position.
    #[test]
    fn home_agrees_with_last() {
        for size in 1..6 {
            for count in [0, 1, 3, 7] {
                for call in calls(size, count) {
                    for rank in 0..size {
                        let last = call.last(rank);
                        for at in call.space() {
                            let place = |at: usize| {
                                last.iter().find(|p| p.space.contains(&at)).map(|p| p.offset + at - p.space.start)
                            };
                            let (offset, run) = call.home(rank, at);
                            assert!(run > 0 && at + run <= call.space().end, "{call:?} rank {rank} position {at}");
                            for step in 0..run {
                                assert_eq!(place(at + step), offset.map(|o| o + step), "{call:?} rank {rank} at {at}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// Together the ranks start with every position and end with every position; of a product they start with the factors and
    /// end with the result.
    #[test]
    fn nothing_is_left_out() {
        for size in 1..6 {
            for call in calls(size, 3) {
                let mut before = vec![false; call.space().len()];
                let mut after = before.clone();
                for rank in 0..size {
                    call.initial(rank).into_iter().flat_map(|p| p.space).for_each(|at| before[at] = true);
                    call.last(rank).into_iter().flat_map(|p| p.space).for_each(|at| after[at] = true);
                }
                if call.collective == Collective::MatrixMultiply {
                    assert!(before.iter().zip(&after).all(|(before, after)| before != after), "{call:?}");
                    continue;
                }
                // Nothing ends on the only rank of an exclusive scan.
                let ends = call.collective != Collective::ExclusiveScan || size > 1 || call.in_place;
                // Nor does what is for a neighbour that is no rank.
                let ports = call.ports().max(1) * call.count;
                let misses = |at: usize| {
                    call.collective == Collective::NeighborAllToAll
                        && (at / ports) ^ (1 << (at % ports / call.count)) >= size
                };
                let all_end = after.iter().enumerate().all(|(at, x)| *x == (ends && !misses(at)));
                assert!(before.iter().all(|x| *x) && all_end, "{call:?}");
            }
        }
    }

    #[test]
    fn buffer_lengths_are_those_of_mpi() {
        let call = Call::new(Collective::AllToAll, 4, 5);
        assert_eq!((call.send_len(2), call.receive_len(2)), (20, 20));
        let call = Call::new(Collective::Scatter, 4, 5).with_root(1);
        assert_eq!((call.send_len(1), call.receive_len(1), call.send_len(0), call.receive_len(0)), (20, 5, 0, 5));
        // A block a port, also where there is no neighbour: rank 1 of 3 has none across port 1.
        let call = Call::new(Collective::NeighborAllToAll, 3, 5);
        assert_eq!((call.send_len(1), call.receive_len(1)), (10, 10));
        let call = Call::new(Collective::ReduceScatter, 4, 5);
        assert_eq!((call.send_len(3), call.receive_len(3)), (20, 5));
        let mut call = Call::new(Collective::AllGather, 4, 5);
        call.in_place = true;
        assert_eq!((call.send_len(3), call.receive_len(3)), (0, 20));
    }
}
