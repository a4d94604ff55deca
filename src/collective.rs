//! What each collective means: which data is where before and after.
//!
//! All data of one call is numbered once, in a flat **space** of element positions. For a scatter the space is the
//! root's send buffer; for an all-to-all it is all send buffers, rank after rank; for a reduction it is the vector to
//! which every rank contributes a value at every position. Algorithms route intervals of the space between nodes and
//! know nothing of buffers; this file alone says where an interval lies at the start ([`Call::initial`]) and at the end
//! ([`Call::last`]).
//!
//! ```
//! use hypercoll::collective::{Call, Collective};
//!
//! // A scatter from rank 2: 4 ranks, blocks of 10 elements.
//! let call = Call::new(Collective::Scatter, 4, 10).with_root(2);
//! assert_eq!((call.send_len(2), call.send_len(0)), (40, 0)); // only the root sends
//! assert_eq!(call.receive_len(3), 10);
//! // The block of rank 3 ends at the beginning of its receive buffer.
//! assert_eq!(call.block(3), 30..40);
//! let placement = &call.last(3)[0];
//! assert_eq!((placement.space.clone(), placement.offset), (30..40, 0));
//! ```

mod avoided;
mod check;
mod layout;
mod product;

pub use avoided::Avoided;
pub use check::check_permutation;
pub use layout::Layout;
pub use product::MatrixProduct;

use crate::address::dimension_for;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

/// The collectives, by their MPI names (and `permute`, which MPI lacks).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Collective {
    /// The root's vector to all ranks.
    Broadcast,
    /// Block i of the root's vector to rank i.
    Scatter,
    /// Block of every rank to the root.
    Gather,
    /// Block of every rank to all ranks.
    AllGather,
    /// A block from every rank to every rank.
    AllToAll,
    /// Element-wise reduction of all vectors, on the root.
    Reduce,
    /// Element-wise reduction of all vectors, block i on rank i (the papers' histogram).
    ReduceScatter,
    /// Element-wise reduction of all vectors, on all ranks.
    AllReduce,
    /// The vector of rank i to rank p(i), for a permutation p known to all.
    Permute,
    /// The vector of one rank, the root, to another, the peer.
    Send,
    /// The vectors of two ranks, the root and the peer, change places.
    Exchange,
    /// A matrix stored by rows becomes its transpose stored by rows: a block from every rank to every rank.
    TransposeRows,
    /// A matrix stored by submatrices on a grid of ranks becomes its transpose: a permutation of the submatrices.
    TransposeSubmatrices,
    /// The product of two matrices that are spread over a grid of ranks, spread likewise.
    MatrixMultiply,
    /// No data: no rank leaves before all have entered.
    Barrier,
}

impl Collective {
    /// All collectives, in the order in which they are listed to users.
    pub const ALL: [Collective; 15] = [
        Collective::Broadcast,
        Collective::Scatter,
        Collective::Gather,
        Collective::AllGather,
        Collective::AllToAll,
        Collective::Reduce,
        Collective::ReduceScatter,
        Collective::AllReduce,
        Collective::Permute,
        Collective::Send,
        Collective::Exchange,
        Collective::TransposeRows,
        Collective::TransposeSubmatrices,
        Collective::MatrixMultiply,
        Collective::Barrier,
    ];

    /// The name in print: lower case, hyphens.
    pub fn name(self) -> &'static str {
        match self {
            Collective::Broadcast => "broadcast",
            Collective::Scatter => "scatter",
            Collective::Gather => "gather",
            Collective::AllGather => "all-gather",
            Collective::AllToAll => "all-to-all",
            Collective::Reduce => "reduce",
            Collective::ReduceScatter => "reduce-scatter",
            Collective::AllReduce => "all-reduce",
            Collective::Permute => "permute",
            Collective::Send => "send",
            Collective::Exchange => "exchange",
            Collective::TransposeRows => "transpose-rows",
            Collective::TransposeSubmatrices => "transpose-submatrices",
            Collective::MatrixMultiply => "matrix-multiply",
            Collective::Barrier => "barrier",
        }
    }

    /// Whether the call names a root.
    pub fn has_root(self) -> bool {
        matches!(self, Collective::Broadcast | Collective::Scatter | Collective::Gather | Collective::Reduce)
            || self.has_peer()
    }

    /// Whether the call names a second rank besides the root.
    pub fn has_peer(self) -> bool {
        matches!(self, Collective::Send | Collective::Exchange)
    }

    /// Whether the call is a permutation of vectors.
    pub fn permutes(self) -> bool {
        matches!(self, Collective::Permute | Collective::TransposeSubmatrices)
    }

    /// Whether the call has a form in place.
    pub fn has_in_place(self) -> bool {
        matches!(self, Collective::AllGather | Collective::AllReduce | Collective::Reduce)
    }

    /// Whether values are combined on the way.
    pub fn reduces(self) -> bool {
        matches!(self, Collective::Reduce | Collective::ReduceScatter | Collective::AllReduce)
    }

    /// Whether a rank on which data does not end may have to send it on more than once.
    pub(crate) fn relays_copies(self) -> bool {
        self.has_peer()
    }

    /// Whether the same data ends on several ranks, so that a rank that plays two nodes could be sent it twice.
    pub(crate) fn replicates(self) -> bool {
        matches!(self, Collective::Broadcast | Collective::AllGather) || self.reduces()
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Collective {
    type Err = String;

    /// Hyphens, underscores and their absence are all understood: `all-gather`, `all_gather`, `allgather`.
    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |s: &str| s.replace(['-', '_'], "").to_lowercase();
        let wanted = match plain(text).as_str() {
            "permutation" => "permute".to_string(),
            "bcast" => "broadcast".to_string(),
            other => other.to_string(),
        };
        Collective::ALL.into_iter().find(|c| plain(c.name()) == wanted).ok_or_else(|| {
            let names: Vec<_> = Collective::ALL.iter().map(|c| c.name()).collect();
            format!("unknown collective '{text}'; known: {}", names.join(", "))
        })
    }
}

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

/// One collective call: all that a schedule depends on, apart from the algorithm and its parameters.
///
/// Every rank of the communicator holds an equal `Call`; counts are in elements.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// Which collective.
    pub collective: Collective,
    /// Number of ranks.
    pub size: usize,
    /// The root, 0 where there is none.
    pub root: usize,
    /// The other rank of a send or an exchange, 0 where there is none.
    pub peer: usize,
    /// Elements of the vector (broadcast, reduce, all-reduce, permute) or of one block (the others); for a matrix product, of
    /// a side.
    pub count: usize,
    /// The send data already lies in its place in the receive buffer (all-gather, all-reduce, reduce on the root).
    pub in_place: bool,
    /// The reduction must combine contributions in rank order.
    pub ordered: bool,
    /// For permutations: rank i's vector goes to rank `permutation[i]`.
    pub permutation: Option<Arc<[usize]>>,
    /// The blocks, where they are not all of `count` elements (permutations, all-to-all, transpositions); `count` is then
    /// the longest.
    pub layout: Option<Layout>,
    /// For a matrix product: its shape, where the matrices are not squares with sides of `count` elements on the usual grid.
    pub matrices: Option<MatrixProduct>,
    /// Links, as pairs of ranks, that must carry nothing.
    pub avoid: Option<Avoided>,
}

impl Call {
    /// A call with root 0, not in place, commutative.
    pub fn new(collective: Collective, size: usize, count: usize) -> Call {
        let mut call = Call::bare(collective, size, count);
        if collective.has_peer() {
            call.peer = size - 1;
        }
        if collective.permutes() {
            call.permutation = Some((0..size).rev().collect());
        }
        if collective == Collective::TransposeSubmatrices {
            // As square as the powers of two that divide the number of ranks allow.
            call = call.with_grid(1 << (dimension_for(size) / 2).min(size.trailing_zeros()));
        }
        call
    }

    /// As [`Call::new`], without a peer and a permutation, for a caller who has them.
    pub(crate) fn bare(collective: Collective, size: usize, count: usize) -> Call {
        Call {
            collective,
            size,
            root: 0,
            peer: 0,
            count,
            in_place: false,
            ordered: false,
            permutation: None,
            layout: None,
            matrices: None,
            avoid: None,
        }
    }

    /// The same call with blocks of these lengths; `count` becomes the longest.
    pub fn with_layout(mut self, layout: Layout) -> Call {
        self.count = layout.longest();
        self.layout = Some(layout);
        self
    }

    /// The transposition of a grid of submatrices with `columns` columns, which must divide the number of ranks: rank
    /// a `columns` + b sends to rank b (size / `columns`) + a.
    pub fn with_grid(mut self, columns: usize) -> Call {
        let rows = self.size.checked_div(columns).unwrap_or(0);
        self.permutation = (rows * columns == self.size)
            .then(|| (0..self.size).map(|rank| rank % columns * rows + rank / columns).collect());
        self
    }

    /// For a matrix product: its shape and distribution.
    pub fn product(&self) -> MatrixProduct {
        self.matrices.unwrap_or_else(|| MatrixProduct::square(self.size, self.count))
    }

    /// The mask by which a permutation translates every rank, if it does: rank i's vector goes to rank i XOR mask.
    pub fn translation(&self) -> Option<usize> {
        let permutation = self.permutation.as_ref()?;
        let mask = *permutation.first()?;
        permutation.iter().enumerate().all(|(rank, &target)| rank ^ mask == target).then_some(mask)
    }

    /// The same call with another root.
    pub fn with_root(mut self, root: usize) -> Call {
        self.root = root;
        self
    }

    /// Block `index` of the space: of rank `index`, or, for all-to-all, the block from rank `index / size` to rank
    /// `index % size`. A vector that is not made of blocks (broadcast, reduce, all-reduce) is cut into `size` parts as
    /// even as possible; of a matrix product, it is the block of C.
    pub fn block(&self, index: usize) -> Range<usize> {
        match self.collective {
            Collective::Broadcast | Collective::Reduce | Collective::AllReduce => part(0..self.count, index, self.size),
            Collective::MatrixMultiply => self.product().c_block(index),
            Collective::Barrier => 0..0,
            _ => match &self.layout {
                Some(layout) => layout.block(index),
                None => index * self.count..(index + 1) * self.count,
            },
        }
    }

    /// Offset in the receive buffer of the block from rank `from` to the rank that holds the buffer.
    fn place(&self, from: usize, index: usize) -> usize {
        self.layout.as_ref().map_or(from * self.count, |layout| layout.place(index))
    }

    /// The index of the block that holds position `at` of the space.
    fn index(&self, at: usize) -> usize {
        match &self.layout {
            Some(layout) => layout.index(at),
            None => at / self.count.max(1),
        }
    }

    /// The whole space.
    pub fn space(&self) -> Range<usize> {
        let len = match (self.collective, &self.layout) {
            (Collective::Broadcast | Collective::Reduce | Collective::AllReduce | Collective::Send, _) => self.count,
            (Collective::Exchange, _) => {
                if self.root == self.peer {
                    self.count
                } else {
                    2 * self.count
                }
            }
            (Collective::MatrixMultiply, _) => self.product().space(),
            (Collective::Barrier, _) => 0,
            (_, Some(layout)) => layout.end(),
            (Collective::AllToAll | Collective::TransposeRows, None) => self.size * self.size * self.count,
            (_, None) => self.size * self.count,
        };
        0..len
    }

    /// Length of the send buffer of `rank`, in elements; 0 where the rank passes none.
    pub fn send_len(&self, rank: usize) -> usize {
        self.initial(rank).iter().filter(|p| p.buffer == Buffer::Send).map(|p| p.space.len()).sum()
    }

    /// Length of the receive buffer of `rank`, in elements; 0 where the rank passes none.
    pub fn receive_len(&self, rank: usize) -> usize {
        let held = self.initial(rank).into_iter().filter(|p| p.buffer == Buffer::Receive);
        held.chain(self.last(rank)).map(|p| p.offset + p.space.len()).max().unwrap_or(0)
    }

    /// Where the data (for a reduction: the contribution) of `rank` lies at the start.
    pub fn initial(&self, rank: usize) -> Vec<Placement> {
        let everything = self.space();
        let at = |space: Range<usize>, buffer, offset| vec![Placement { space, buffer, offset }];
        match self.collective {
            Collective::Broadcast if rank == self.root => at(everything, Buffer::Receive, 0),
            Collective::Scatter if rank == self.root => at(everything, Buffer::Send, 0),
            Collective::Broadcast | Collective::Scatter | Collective::Barrier => Vec::new(),
            Collective::AllGather if self.in_place => {
                let own = self.block(rank);
                let offset = own.start;
                at(own, Buffer::Receive, offset)
            }
            Collective::Gather | Collective::AllGather | Collective::Permute | Collective::TransposeSubmatrices => {
                at(self.block(rank), Buffer::Send, 0)
            }
            Collective::AllToAll | Collective::TransposeRows => {
                let row = rank * self.size;
                at(self.block(row).start..self.block(row + self.size - 1).end, Buffer::Send, 0)
            }
            Collective::Send | Collective::Exchange if rank == self.root => at(self.block(0), Buffer::Send, 0),
            Collective::Exchange if rank == self.peer => at(self.block(1), Buffer::Send, 0),
            Collective::Send | Collective::Exchange => Vec::new(),
            Collective::MatrixMultiply => {
                let (a, b) = (self.product().a_block(rank), self.product().b_block(rank));
                let behind = a.len();
                [at(a, Buffer::Send, 0), at(b, Buffer::Send, behind)].concat()
            }
            Collective::Reduce if self.in_place && rank == self.root => at(everything, Buffer::Receive, 0),
            Collective::AllReduce if self.in_place => at(everything, Buffer::Receive, 0),
            Collective::Reduce | Collective::ReduceScatter | Collective::AllReduce => at(everything, Buffer::Send, 0),
        }
    }

    /// Where the result of `rank` lies at the end: always in the receive buffer.
    pub fn last(&self, rank: usize) -> Vec<Placement> {
        let at = |space: Range<usize>, offset| Placement { space, buffer: Buffer::Receive, offset };
        match self.collective {
            Collective::Broadcast | Collective::AllGather | Collective::AllReduce => vec![at(self.space(), 0)],
            Collective::Gather | Collective::Reduce if rank == self.root => vec![at(self.space(), 0)],
            Collective::Gather | Collective::Reduce | Collective::Barrier => Vec::new(),
            Collective::Scatter | Collective::ReduceScatter | Collective::MatrixMultiply => {
                vec![at(self.block(rank), 0)]
            }
            Collective::AllToAll | Collective::TransposeRows => {
                let from = (0..self.size).map(|i| (i, i * self.size + rank));
                from.map(|(i, index)| at(self.block(index), self.place(i, index))).collect()
            }
            Collective::Send | Collective::Exchange if rank == self.peer => vec![at(self.block(0), 0)],
            Collective::Exchange if rank == self.root => vec![at(self.block(1), 0)],
            Collective::Send | Collective::Exchange => Vec::new(),
            Collective::Permute | Collective::TransposeSubmatrices => {
                let source = self.permutation.as_ref().and_then(|p| p.iter().position(|&to| to == rank));
                source.map(|i| at(self.block(i), 0)).into_iter().collect()
            }
        }
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
        match self.collective {
            Collective::Broadcast | Collective::AllGather | Collective::AllReduce => within(0..end, 0),
            Collective::Gather | Collective::Reduce if rank == self.root => within(0..end, 0),
            Collective::Gather | Collective::Reduce | Collective::Barrier => (None, end - at),
            Collective::Scatter | Collective::ReduceScatter | Collective::MatrixMultiply => within(self.block(rank), 0),
            Collective::AllToAll | Collective::TransposeRows => {
                let index = self.index(at);
                if index % self.size == rank {
                    within(self.block(index), self.place(index / self.size, index))
                } else {
                    (None, self.block(index).end - at)
                }
            }
            Collective::Send | Collective::Exchange if rank == self.peer => within(self.block(0), 0),
            Collective::Exchange if rank == self.root => within(self.block(1), 0),
            Collective::Send | Collective::Exchange => (None, end - at),
            Collective::Permute | Collective::TransposeSubmatrices => {
                let source = self.index(at);
                if self.permutation.as_ref().is_some_and(|p| p[source] == rank) {
                    within(self.block(source), 0)
                } else {
                    (None, self.block(source).end - at)
                }
            }
        }
    }
}

/// Part `index` of `parts` parts of an interval, as even as possible (lengths differ by one at most).
pub fn part(whole: Range<usize>, index: usize, parts: usize) -> Range<usize> {
    // In 128 bits: length times index may pass 2^64.
    let cut = |i: usize| whole.start + (whole.len() as u128 * i as u128 / parts.max(1) as u128) as usize;
    cut(index)..cut(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

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
                    call.matrices = Some(sides);
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
                assert!(before.iter().all(|x| *x) && after.iter().all(|x| *x), "{call:?}");
            }
        }
    }

    #[test]
    fn buffer_lengths_are_those_of_mpi() {
        let call = Call::new(Collective::AllToAll, 4, 5);
        assert_eq!((call.send_len(2), call.receive_len(2)), (20, 20));
        let call = Call::new(Collective::Scatter, 4, 5).with_root(1);
        assert_eq!((call.send_len(1), call.receive_len(1), call.send_len(0), call.receive_len(0)), (20, 5, 0, 5));
        let call = Call::new(Collective::ReduceScatter, 4, 5);
        assert_eq!((call.send_len(3), call.receive_len(3)), (20, 5));
        let mut call = Call::new(Collective::AllGather, 4, 5);
        call.in_place = true;
        assert_eq!((call.send_len(3), call.receive_len(3)), (0, 20));
    }

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
            }
        }
    }

    #[test]
    fn names_are_read_in_any_spelling() {
        for collective in Collective::ALL {
            assert_eq!(collective.name().parse(), Ok(collective));
            assert_eq!(collective.name().replace('-', "_").parse(), Ok(collective));
        }
        assert_eq!("Alltoall".parse(), Ok(Collective::AllToAll));
        assert!("allsorts".parse::<Collective>().is_err());
    }
}
