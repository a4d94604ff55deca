//! What a row of the table says of a collective.

use super::limit::{self, Links};
use super::table::TABLE;
use super::{Blocks, Call, Collective, Held};
use std::ops::Range;

/// What a collective means: one row of the table, from which all else that differs between collectives is read.
#[derive(Debug)]
pub struct Meaning {
    /// The collective.
    pub collective: Collective,
    /// The name in print: lower case, hyphens.
    pub name: &'static str,
    /// Other names that are understood, without hyphens.
    pub also: &'static [&'static str],
    /// Whether the call names a root.
    pub root: bool,
    /// Whether the call names a second rank besides the root.
    pub peer: bool,
    /// What permutation of the ranks the call has, if any.
    pub permutation: Option<Permutation>,
    /// What the space is made of.
    pub blocks: Blocks,
    /// Whether blocks may have unequal lengths.
    pub unequal: bool,
    /// Whether what a rank sends may lie where its result will be.
    pub in_place: InPlace,
    /// Whether values are combined on the way.
    pub reduces: bool,
    /// Of a reduction: whether a rank ends with the contributions of the ranks up to it, and not with those of all.
    pub prefix: bool,
    /// How many times the same data goes to all ranks, or comes from all; 0 where every rank has data of its own.
    pub passes: usize,
    /// Whether blocks come together on their way, or part, so that messages double or halve from round to round.
    pub gathers: bool,
    /// What a rank holds before; of a reduction, to what it contributes.
    pub before: fn(&Call, usize) -> Held,
    /// What a rank holds after.
    pub after: fn(&Call, usize) -> Held,
    /// Of a reduction: the ranks whose contributions make the result of a rank.
    pub contributors: fn(&Call, usize) -> Range<usize>,
    /// The collective that starts where this one ends, and ends where it starts, if its arguments are the same.
    pub reversal: Option<Collective>,
    /// The function of MPI that does it, if there is one.
    pub native: Option<MpiFunction>,
    /// Elements that one of the links must carry in one direction, whatever the algorithm, on a whole cube of at least two ranks;
    /// `None` if that is not known, or none need be carried.
    pub limit: fn(&Call, Links) -> Option<f64>,
}

/// A permutation of the ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permutation {
    /// The caller's.
    Any,
    /// The transposition of a grid of ranks, or its turn to the right by a quarter.
    Grid {
        /// Whether it is the turn.
        turned: bool,
    },
}

/// Whether data that is sent may lie where the result will be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InPlace {
    /// There is no such form.
    Never,
    /// If the call says so ([`Call::in_place`]).
    Allowed,
    /// There is no other form.
    Always,
}

/// The functions of MPI that do what a collective does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MpiFunction {
    /// `MPI_Bcast`
    Bcast,
    /// `MPI_Scatter`
    Scatter,
    /// `MPI_Gather`
    Gather,
    /// `MPI_Allgather`
    Allgather,
    /// `MPI_Alltoall`
    Alltoall,
    /// `MPI_Neighbor_alltoallv`, on a communicator whose graph is the cube.
    NeighborAlltoallv,
    /// `MPI_Reduce`
    Reduce,
    /// `MPI_Reduce_scatter_block`
    ReduceScatterBlock,
    /// `MPI_Allreduce`
    Allreduce,
    /// `MPI_Scan`
    Scan,
    /// `MPI_Exscan`
    Exscan,
    /// `MPI_Barrier`
    Barrier,
    /// `MPI_Send`, `MPI_Recv` and `MPI_Sendrecv`, of which a program would make it.
    PointToPoint,
}

/// What a row need not say.
pub(super) const USUAL: Meaning = Meaning {
    collective: Collective::Barrier,
    name: "",
    also: &[],
    root: false,
    peer: false,
    permutation: None,
    blocks: Blocks::None,
    unequal: false,
    in_place: InPlace::Never,
    reduces: false,
    prefix: false,
    passes: 0,
    gathers: false,
    before: |_, _| Held::Nothing,
    after: |_, _| Held::Nothing,
    contributors: |call, _| 0..call.size,
    reversal: None,
    native: None,
    limit: limit::unknown,
};

impl Collective {
    /// Its row of the table.
    pub fn meaning(self) -> &'static Meaning {
        &TABLE[self as usize]
    }

    /// Whether the call names a root.
    pub fn has_root(self) -> bool {
        self.meaning().root
    }

    /// Whether the call names a second rank besides the root.
    pub fn has_peer(self) -> bool {
        self.meaning().peer
    }

    /// Whether its algorithms care which ranks share a host: where a call names no ranks but a root, by itself or as neighbours.
    pub fn knows_hosts(self) -> bool {
        let Meaning { peer, permutation, blocks, .. } = *self.meaning();
        !peer && permutation.is_none() && !self.multiplies() && blocks != Blocks::Neighbors
    }

    /// Whether the call is a permutation of vectors.
    pub fn permutes(self) -> bool {
        self.meaning().permutation.is_some()
    }

    /// Whether the call has a form in place.
    pub fn has_in_place(self) -> bool {
        self.meaning().in_place == InPlace::Allowed
    }

    /// Whether values are combined on the way.
    pub fn reduces(self) -> bool {
        self.meaning().reduces
    }

    /// Whether a rank ends with the contributions of the ranks up to it.
    pub fn is_prefix(self) -> bool {
        self.meaning().prefix
    }

    /// Whether the result is a product of matrices.
    pub fn multiplies(self) -> bool {
        self.meaning().blocks == Blocks::Product
    }

    /// Whether there is any data: else no rank leaves before all have entered.
    pub fn has_data(self) -> bool {
        self.meaning().blocks != Blocks::None
    }

    /// Whether a rank on which data does not end may have to send it on more than once.
    pub(crate) fn relays_copies(self) -> bool {
        self.has_peer()
    }

    /// Whether the same data ends on several ranks, so that a rank that plays two nodes could be sent it twice.
    pub(crate) fn replicates(self) -> bool {
        self.meaning().passes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reversal has before is what the collective has after, on every rank, and the other way round.
    #[test]
    fn a_reversal_starts_where_the_collective_ends() {
        for collective in Collective::ALL {
            let Some(reversal) = collective.meaning().reversal else { continue };
            assert_eq!(reversal.meaning().reversal, Some(collective));
            for (rank, root) in [(0, 0), (2, 0), (2, 2), (1, 2)] {
                let [call, back] = [collective, reversal].map(|c| Call::new(c, 5, 3).with_root(root));
                assert_eq!((reversal.meaning().before)(&back, rank), (collective.meaning().after)(&call, rank));
            }
        }
    }
}
