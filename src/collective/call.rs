//! A call as data.

use super::{Avoided, Collective, Known, Layout, MatrixProduct, Permutation};
use crate::address::{dimension_for, Hosts};
use std::sync::Arc;

/// One collective call: all that a schedule depends on, apart from the algorithm and its parameters.
///
/// Every rank of the communicator holds an equal `Call`, but for what it knows of its [`Layout`]; counts are in elements.
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
    pub matrices: Option<Box<MatrixProduct>>,
    /// Links, as pairs of ranks, that must carry nothing.
    pub avoid: Option<Avoided>,
    /// The hosts of the ranks, where there are several, with several ranks. Algorithms see ranks at the places that these give them,
    /// unless `ordered`.
    pub hosts: Option<Hosts>,
}

impl Call {
    /// A call with root 0, not in place, commutative.
    pub fn new(collective: Collective, size: usize, count: usize) -> Call {
        let mut call = Call::bare(collective, size, count);
        if collective.has_peer() {
            call.peer = size - 1;
        }
        match collective.meaning().permutation {
            None => call,
            Some(Permutation::Any) => Call { permutation: Some((0..size).rev().collect()), ..call },
            // As square as the powers of two that divide the number of ranks allow.
            Some(Permutation::Grid { .. }) => call.with_grid(1 << (dimension_for(size) / 2).min(size.trailing_zeros())),
        }
    }

    /// As [`Call::new`], without a peer and a permutation, for a caller who has them.
    #[inline]
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
            hosts: None,
        }
    }

    /// The same call with blocks of these lengths; `count` becomes the longest.
    pub fn with_layout(mut self, layout: Layout) -> Call {
        self.count = layout.longest();
        self.layout = Some(layout);
        self
    }

    /// Elements of the block that goes straight from one rank to another, in a call with blocks whose lengths no rank knows but their own two.
    pub(crate) fn straight(&self, from: usize, to: usize) -> usize {
        let block = match self.collective {
            Collective::AllToAll => self.block_between(from, to),
            Collective::Scatter => self.block(to),
            // A gather, as nothing else has lengths that some ranks do not know.
            _ => self.block(from),
        };
        block.len()
    }

    /// What all ranks know of it: of those that agree the same, but for the buffers of each.
    pub(crate) fn agreed(&self) -> Call {
        let Some(layout) = &self.layout else { return self.clone() };
        let count = if layout.known() == Known::All { self.count } else { 0 };
        Call { layout: Some(layout.agreed()), count, ..self.clone() }
    }

    /// The transposition of a grid of submatrices with `columns` columns, which must divide the number of ranks: rank
    /// a `columns` + b sends to rank b `rows` + a, where `rows` = size / `columns`. A quarter turn: to rank b `rows` + `rows` - 1 - a.
    pub fn with_grid(mut self, columns: usize) -> Call {
        let rows = self.size.checked_div(columns).unwrap_or(0);
        let turned = self.collective.meaning().permutation == Some(Permutation::Grid { turned: true });
        let column = |row: usize| if turned { rows - 1 - row } else { row };
        self.permutation = (rows * columns == self.size)
            .then(|| (0..self.size).map(|rank| rank % columns * rows + column(rank / columns)).collect());
        self
    }

    /// For a matrix product: its shape and distribution.
    pub fn product(&self) -> MatrixProduct {
        self.matrices.as_deref().copied().unwrap_or_else(|| MatrixProduct::square(self.size, self.count))
    }

    /// The mask by which a permutation translates every rank, if it does: rank i's vector goes to rank i XOR mask.
    pub fn translation(&self) -> Option<usize> {
        let permutation = self.permutation.as_ref()?;
        let mask = *permutation.first()?;
        permutation.iter().enumerate().all(|(rank, &target)| rank ^ mask == target).then_some(mask)
    }

    /// The masks (v, w) of a permutation that swaps the halves of every address and translates them, if it is one: rank a 2^c + b of
    /// 2^(2c) sends to rank (b XOR v) 2^c + (a XOR w). Transposition, quarter turns, and both by a Gray code, are such.
    pub fn swapped_halves(&self) -> Option<(usize, usize)> {
        let permutation = self.permutation.as_ref()?;
        let c = self.size.trailing_zeros() / 2;
        if self.size != 1 << (2 * c) {
            return None;
        }
        let halves = |rank: usize| (rank >> c, rank & ((1 << c) - 1));
        let (v, w) = halves(*permutation.first()?);
        let swaps = |(rank, &target): (usize, &usize)| {
            let (a, b) = halves(rank);
            halves(target) == (b ^ v, a ^ w)
        };
        permutation.iter().enumerate().all(swaps).then_some((v, w))
    }

    /// The number of hosts; as many as ranks where nothing is known of them.
    pub(crate) fn host_count(&self) -> usize {
        self.hosts.as_ref().map_or(self.size, Hosts::len)
    }

    /// The hosts by which ranks have their places as nodes; none where operands, or results, go by rank.
    pub(crate) fn placing(&self) -> Option<&Hosts> {
        let placing = |hosts: &&Hosts| if self.collective.is_prefix() { hosts.in_order() } else { !self.ordered };
        self.hosts.as_ref().filter(placing)
    }

    /// Whether ranks have to do with blocks of unlike lengths, by what this one knows of them, or with hosts of unlike numbers of ranks, so that
    /// what is passed on from one to the next had better go on as it comes, and nobody wait for who has more to send, unless an algorithm keeps
    /// hosts in step.
    pub(crate) fn flows(&self) -> bool {
        let hosts = self.hosts.as_ref().map(Hosts::most_and_fewest);
        let unlike = hosts.is_some_and(|(most, fewest)| most > fewest);
        match self.collective {
            Collective::AllGather | Collective::AllToAll | Collective::ReduceScatter | Collective::AllReduce => {
                unlike || self.layout.as_ref().is_some_and(Layout::is_uneven_here)
            }
            _ => false,
        }
    }

    /// Whether nodes are numbered so that any algorithm that goes through their dimensions combines in rank order. A prefix sum's
    /// algorithms see to the order themselves: there node r is rank r.
    pub(crate) fn in_order_of_nodes(&self) -> bool {
        self.ordered && !self.collective.is_prefix()
    }

    /// The same call with another root.
    pub fn with_root(mut self, root: usize) -> Call {
        self.root = root;
        self
    }
}
