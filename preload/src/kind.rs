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

/// The form of a collective function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Form {
    Blocking,
    Nonblocking,
    Persistent,
}

impl Form {
    const ALL: [Form; 3] = [Form::Blocking, Form::Nonblocking, Form::Persistent];

    /// The name of a function of this form, as [`Kind::name`].
    pub fn name(self, kind: Kind) -> String {
        match self {
            Form::Blocking => kind.name().into(),
            Form::Nonblocking => format!("i{}", kind.name()),
            Form::Persistent => format!("{}_init", kind.name()),
        }
    }
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
        let name = match plain(name) {
            name if name == "broadcast" => "bcast".into(),
            name if name == "exclusivescan" => "exscan".into(),
            name => name,
        };
        NAMES.iter().find(|(_, known)| plain(known) == name).map(|(kind, _)| *kind)
    }
}

/// A name without what is written in several ways.
fn plain(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase().replace(['-', '_'], "");
    let name = name.strip_prefix("mpix").or(name.strip_prefix("mpi")).unwrap_or(&name);
    name.into()
}

/// A set of them, each in some forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kinds(u128);

impl Kinds {
    const NONE: Kinds = Kinds(0);
    /// Those that can be ours.
    pub const SERVED: Kinds = {
        let one_form = (1 << Kind::NeighborAllgather as u32) - 1;
        Kinds(one_form | one_form << NAMES.len() | one_form << (2 * NAMES.len()))
    };

    fn bit(kind: Kind, form: Form) -> u128 {
        1 << (kind as usize + form as usize * NAMES.len())
    }

    /// The name of a collective is that of all its forms; names of functions are those of one.
    fn named(name: &str) -> Option<Kinds> {
        let name = plain(name);
        if let Some(kind) = Kind::parse(&name) {
            return Some(Kinds(Form::ALL.iter().map(|&form| Kinds::bit(kind, form)).sum()));
        }
        let nonblocking = name.strip_prefix('i').map(|name| (name, Form::Nonblocking));
        let (name, form) = nonblocking.or(name.strip_suffix("init").map(|name| (name, Form::Persistent)))?;
        Some(Kinds(Kinds::bit(Kind::parse(name)?, form)))
    }

    /// # Errors
    /// What is no name of a collective.
    pub fn parse(list: &str) -> Result<Kinds, String> {
        list.split(',').try_fold(Kinds::NONE, |Kinds(bits), name| match Kinds::named(name) {
            Some(Kinds(more)) => Ok(Kinds(bits | more)),
            None => {
                let known: Vec<_> = NAMES.iter().map(|(_, name)| *name).collect();
                Err(format!("'{name}' is none of {}, nor their nonblocking or persistent form", known.join(", ")))
            }
        })
    }

    pub fn has(self, kind: Kind, form: Form) -> bool {
        self.0 & Kinds::bit(kind, form) != 0
    }

    pub fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }
}
