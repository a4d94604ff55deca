//! The collectives and their names.

use super::table::TABLE;
use std::fmt;
use std::str::FromStr;

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
    /// A block from every rank to each of its neighbours on the cube.
    NeighborAllToAll,
    /// Element-wise reduction of all vectors, on the root.
    Reduce,
    /// Element-wise reduction of all vectors, block i on rank i (the papers' histogram).
    ReduceScatter,
    /// Element-wise reduction of all vectors, on all ranks.
    AllReduce,
    /// Element-wise reduction of the vectors of ranks 0 to r, on rank r.
    Scan,
    /// Element-wise reduction of the vectors of the ranks below r, on rank r; rank 0 gets nothing.
    ExclusiveScan,
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
    /// A matrix stored by submatrices on a grid of ranks is turned to the right by a quarter: a permutation of the submatrices.
    QuarterTurn,
    /// The product of two matrices that are spread over a grid of ranks, spread likewise.
    MatrixMultiply,
    /// No data: no rank leaves before all have entered.
    Barrier,
}

impl Collective {
    /// All collectives, in the order in which they are listed to users.
    pub const ALL: [Collective; TABLE.len()] = {
        let mut all = [Collective::Broadcast; TABLE.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = TABLE[at].collective;
            at += 1;
        }
        all
    };

    /// The name in print: lower case, hyphens.
    pub fn name(self) -> &'static str {
        self.meaning().name
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
        let wanted = plain(text);
        let is_wanted = |c: &Collective| plain(c.name()) == wanted || c.meaning().also.contains(&wanted.as_str());
        Collective::ALL.into_iter().find(is_wanted).ok_or_else(|| {
            let names: Vec<_> = Collective::ALL.iter().map(|c| c.name()).collect();
            format!("unknown collective '{text}'; known: {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
