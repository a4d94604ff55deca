//! The collectives of MPI, by name.

/// A collective function of MPI, whatever its form: blocking, nonblocking or persistent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Kind {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

/// By number.
const NAMES: [(Kind, &str); 22] = [
    (Kind::Barrier, "barrier"),
    (Kind::Bcast, "bcast"),
    (Kind::Gather, "gather"),
    (Kind::Gatherv, "gatherv"),
    (Kind::Scatter, "scatter"),
    (Kind::Scatterv, "scatterv"),
    (Kind::Allgather, "allgather"),
    (Kind::Allgatherv, "allgatherv"),
    (Kind::Alltoall, "alltoall"),
    (Kind::Alltoallv, "alltoallv"),
    (Kind::Alltoallw, "alltoallw"),
    (Kind::Reduce, "reduce"),
    (Kind::Allreduce, "allreduce"),
    (Kind::ReduceScatter, "reduce_scatter"),
    (Kind::ReduceScatterBlock, "reduce_scatter_block"),
    (Kind::Scan, "scan"),
    (Kind::Exscan, "exscan"),
    (Kind::NeighborAllgather, "neighbor_allgather"),
    (Kind::NeighborAllgatherv, "neighbor_allgatherv"),
    (Kind::NeighborAlltoall, "neighbor_alltoall"),
    (Kind::NeighborAlltoallv, "neighbor_alltoallv"),
    (Kind::NeighborAlltoallw, "neighbor_alltoallw"),
];

const _: () = {
    let mut at = 0;
    while at < NAMES.len() {
        assert!(NAMES[at].0 as usize == at);
        at += 1;
    }
};

impl Kind {
    /// The name of the function, without `MPI_`, in lower case.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// The kind of a name, as MPI or this library writes it.
    pub fn parse(name: &str) -> Option<Kind> {
        let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
        let name = plain(name.trim());
        let name = name.strip_prefix("mpi").unwrap_or(&name);
        let name = match name {
            "broadcast" => "bcast",
            "exclusivescan" => "exscan",
            other => other,
        };
        NAMES.iter().find(|(_, known)| plain(known) == name).map(|(kind, _)| *kind)
    }
}

/// A set of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kinds(u32);

impl Kinds {
    /// Those that can be ours.
    pub const SERVED: Kinds = Kinds((1 << Kind::NeighborAllgather as u32) - 1);

    /// # Errors
    /// What is no name of a collective.
    pub fn parse(list: &str) -> Result<Kinds, String> {
        list.split(',').try_fold(Kinds(0), |Kinds(bits), name| match Kind::parse(name) {
            Some(kind) => Ok(Kinds(bits | 1 << kind as u32)),
            None => {
                let known: Vec<_> = NAMES.iter().map(|(_, name)| *name).collect();
                Err(format!("'{name}' is none of {}", known.join(", ")))
            }
        })
    }

    pub fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u32 != 0
    }

    pub fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }
}
