//! The table of the collectives: a row each, in the order in which they are listed to users.
//!
//! A new collective is a name ([`Collective`]), a row here, and its algorithms. What it means is said here alone: the schedules, the
//! checker, the choice, the command line and the benchmark read it.

use super::limit;
use super::meaning::USUAL;
use super::{Blocks, Call, Collective, Held, InPlace, Meaning, MpiFunction, Permutation};

pub(super) const TABLE: &[Meaning] = &[
    Meaning {
        collective: Collective::Broadcast,
        name: "broadcast",
        also: &["bcast"],
        root: true,
        blocks: Blocks::Parts,
        in_place: InPlace::Always,
        passes: 1,
        before: all_on_root,
        after: all,
        reversal: Some(Collective::Reduce),
        native: Some(MpiFunction::Bcast),
        limit: limit::vector,
        ..USUAL
    },
    Meaning {
        collective: Collective::Scatter,
        name: "scatter",
        root: true,
        blocks: Blocks::Ranks,
        unequal: true,
        gathers: true,
        before: all_on_root,
        after: own_block,
        reversal: Some(Collective::Gather),
        native: Some(MpiFunction::Scatter),
        limit: limit::blocks_of_others,
        ..USUAL
    },
    Meaning {
        collective: Collective::Gather,
        name: "gather",
        root: true,
        blocks: Blocks::Ranks,
        unequal: true,
        gathers: true,
        before: own_block,
        after: all_on_root,
        reversal: Some(Collective::Scatter),
        native: Some(MpiFunction::Gather),
        limit: limit::blocks_of_others,
        ..USUAL
    },
    Meaning {
        collective: Collective::AllGather,
        name: "all-gather",
        blocks: Blocks::Ranks,
        unequal: true,
        in_place: InPlace::Allowed,
        passes: 1,
        gathers: true,
        before: own_block,
        after: all,
        reversal: Some(Collective::ReduceScatter),
        native: Some(MpiFunction::Allgather),
        limit: limit::blocks_of_others,
        ..USUAL
    },
    Meaning {
        collective: Collective::AllToAll,
        name: "all-to-all",
        blocks: Blocks::Pairs,
        unequal: true,
        before: |_, rank| Held::From(rank),
        after: |_, rank| Held::To(rank),
        native: Some(MpiFunction::Alltoall),
        limit: limit::pairs,
        ..USUAL
    },
    Meaning {
        collective: Collective::NeighborAllToAll,
        name: "neighbor-all-to-all",
        also: &["neighbouralltoall"],
        blocks: Blocks::Neighbors,
        before: |_, rank| Held::From(rank),
        after: |_, rank| Held::ToNode(rank),
        native: Some(MpiFunction::NeighborAlltoallv),
        limit: limit::neighbors,
        ..USUAL
    },
    Meaning {
        collective: Collective::Reduce,
        name: "reduce",
        root: true,
        blocks: Blocks::Parts,
        in_place: InPlace::Allowed,
        reduces: true,
        passes: 1,
        before: all,
        after: all_on_root,
        reversal: Some(Collective::Broadcast),
        native: Some(MpiFunction::Reduce),
        limit: limit::vector,
        ..USUAL
    },
    Meaning {
        collective: Collective::ReduceScatter,
        name: "reduce-scatter",
        blocks: Blocks::Ranks,
        unequal: true,
        reduces: true,
        passes: 1,
        gathers: true,
        before: all,
        after: own_block,
        reversal: Some(Collective::AllGather),
        native: Some(MpiFunction::ReduceScatterBlock),
        limit: limit::blocks_of_others,
        ..USUAL
    },
    Meaning {
        collective: Collective::AllReduce,
        name: "all-reduce",
        blocks: Blocks::Parts,
        in_place: InPlace::Allowed,
        reduces: true,
        passes: 2,
        gathers: true,
        before: all,
        after: all,
        reversal: Some(Collective::AllReduce),
        native: Some(MpiFunction::Allreduce),
        limit: limit::parts_of_others_twice,
        ..USUAL
    },
    Meaning {
        collective: Collective::Scan,
        name: "scan",
        blocks: Blocks::Parts,
        in_place: InPlace::Allowed,
        reduces: true,
        prefix: true,
        before: all,
        after: all,
        contributors: |_, rank| 0..rank + 1,
        native: Some(MpiFunction::Scan),
        limit: limit::vector,
        ..USUAL
    },
    Meaning {
        collective: Collective::ExclusiveScan,
        name: "exclusive-scan",
        also: &["exscan"],
        blocks: Blocks::Parts,
        in_place: InPlace::Allowed,
        reduces: true,
        prefix: true,
        before: all,
        // The receive buffer of rank 0 stays as it is.
        after: |call, rank| if rank > 0 || call.in_place { Held::Everything } else { Held::Nothing },
        contributors: |_, rank| 0..rank.max(1),
        native: Some(MpiFunction::Exscan),
        limit: limit::vector,
        ..USUAL
    },
    Meaning {
        collective: Collective::Permute,
        name: "permute",
        also: &["permutation"],
        permutation: Some(Permutation::Any),
        blocks: Blocks::Ranks,
        unequal: true,
        before: own_block,
        after: |_, rank| Held::MovedTo(rank),
        native: Some(MpiFunction::PointToPoint),
        limit: limit::permuted,
        ..USUAL
    },
    Meaning {
        collective: Collective::Send,
        name: "send",
        root: true,
        peer: true,
        blocks: Blocks::Ends { both: false },
        before: |call, rank| if rank == call.root { Held::Block(0) } else { Held::Nothing },
        after: |call, rank| if rank == call.peer { Held::Block(0) } else { Held::Nothing },
        native: Some(MpiFunction::PointToPoint),
        limit: limit::vector,
        ..USUAL
    },
    Meaning {
        collective: Collective::Exchange,
        name: "exchange",
        root: true,
        peer: true,
        blocks: Blocks::Ends { both: true },
        before: |call, rank| one_of_two(rank, call.root, call.peer),
        after: |call, rank| one_of_two(rank, call.peer, call.root),
        native: Some(MpiFunction::PointToPoint),
        limit: limit::vector,
        ..USUAL
    },
    Meaning {
        collective: Collective::TransposeRows,
        name: "transpose-rows",
        blocks: Blocks::Pairs,
        unequal: true,
        before: |_, rank| Held::From(rank),
        after: |_, rank| Held::To(rank),
        native: Some(MpiFunction::Alltoall),
        limit: limit::pairs,
        ..USUAL
    },
    Meaning {
        collective: Collective::TransposeSubmatrices,
        name: "transpose-submatrices",
        permutation: Some(Permutation::Grid { turned: false }),
        blocks: Blocks::Ranks,
        unequal: true,
        before: own_block,
        after: |_, rank| Held::MovedTo(rank),
        native: Some(MpiFunction::PointToPoint),
        ..USUAL
    },
    Meaning {
        collective: Collective::QuarterTurn,
        name: "quarter-turn",
        permutation: Some(Permutation::Grid { turned: true }),
        blocks: Blocks::Ranks,
        unequal: true,
        before: own_block,
        after: |_, rank| Held::MovedTo(rank),
        native: Some(MpiFunction::PointToPoint),
        ..USUAL
    },
    Meaning {
        collective: Collective::MatrixMultiply,
        name: "matrix-multiply",
        blocks: Blocks::Product,
        before: |_, rank| Held::Factors(rank),
        after: own_block,
        ..USUAL
    },
    Meaning { collective: Collective::Barrier, name: "barrier", native: Some(MpiFunction::Barrier), ..USUAL },
];

/// A row is found by its collective.
const _: () = {
    let mut at = 0;
    while at < TABLE.len() {
        assert!(TABLE[at].collective as usize == at);
        at += 1;
    }
};

fn all(_: &Call, _: usize) -> Held {
    Held::Everything
}

fn all_on_root(call: &Call, rank: usize) -> Held {
    if rank == call.root {
        Held::Everything
    } else {
        Held::Nothing
    }
}

fn own_block(_: &Call, rank: usize) -> Held {
    Held::Block(rank)
}

/// The first block on one rank, the second on another.
fn one_of_two(rank: usize, first: usize, second: usize) -> Held {
    match rank {
        _ if rank == first => Held::Block(0),
        _ if rank == second => Held::Block(1),
        _ => Held::Nothing,
    }
}
