//! What can go wrong in a call.

use crate::collective::Collective;

/// An error of a collective call. Every message names the argument at fault.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A buffer has the wrong length.
    #[error("{argument}: {got} elements, but {expected} are needed ({why})")]
    Length {
        /// Which buffer.
        argument: &'static str,
        /// Elements passed.
        got: usize,
        /// Elements needed.
        expected: String,
        /// Where the need comes from.
        why: &'static str,
    },
    /// The root is no rank of the communicator.
    #[error("root: {root} is no rank of a communicator of {size} ranks")]
    Root {
        /// The root passed.
        root: usize,
        /// The number of ranks.
        size: usize,
    },
    /// A call that only the root, or only the others, may make.
    #[error("{call}: rank {rank} {}the root {root}; call {instead} there", if rank == root { "is " } else { "is not " })]
    Role {
        /// The call made.
        call: &'static str,
        /// The calling rank.
        rank: usize,
        /// The root.
        root: usize,
        /// The call to make.
        instead: &'static str,
    },
    /// No algorithm of that name serves the collective.
    #[error("algorithm: '{name}' does not name an algorithm of {collective}; known: {known}")]
    UnknownAlgorithm {
        /// The name passed.
        name: String,
        /// The collective.
        collective: Collective,
        /// The names that would have done.
        known: String,
    },
    /// The algorithm cannot serve this call with these parameters.
    #[error("{argument}: {algorithm} ({collective}) {why}")]
    Unsuited {
        /// Which parameter.
        argument: &'static str,
        /// The algorithm.
        algorithm: &'static str,
        /// The collective.
        collective: Collective,
        /// Why not.
        why: String,
    },
    /// A packet of no elements.
    #[error("packet: 0 elements; a packet holds at least one")]
    Packet,
    /// The operation is not defined for the element type.
    #[error("operation: {operation} is not defined for elements of type {element}")]
    Operation {
        /// The operation.
        operation: String,
        /// The element type.
        element: &'static str,
    },
    /// Not a permutation of the ranks.
    #[error("permutation: {why}")]
    Permutation {
        /// What is wrong with it.
        why: String,
    },
    /// Matrices or a grid of ranks that the call cannot be made for.
    #[error("{argument}: {why}")]
    Shape {
        /// Which argument.
        argument: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Bins of a histogram that cannot be.
    #[error("{argument}: {why}")]
    Bins {
        /// Which argument.
        argument: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A call given as data that makes no sense.
    #[error("{argument}: {collective}: {why}")]
    Call {
        /// Which part of it.
        argument: &'static str,
        /// The collective.
        collective: Collective,
        /// What is wrong.
        why: String,
    },
    /// A link that cannot be avoided.
    #[error("avoid_links: {}-{}: {why}", link.0, link.1)]
    Link {
        /// The link, as two ranks.
        link: (usize, usize),
        /// Why not.
        why: String,
    },
    /// A message of another length than the schedule of this rank says.
    #[error("count: rank {peer} sent a message of {got} bytes where {expected} were expected; the ranks passed different counts, elements, roots, algorithms or packets")]
    CountsDiffer {
        /// The sender.
        peer: usize,
        /// Bytes that came.
        got: usize,
        /// Bytes that the schedule says.
        expected: usize,
    },
    /// Another rank failed in this collective, or has ended.
    #[error("rank {peer} failed in this collective or has ended")]
    PeerFailed {
        /// The rank from which the news came.
        peer: usize,
    },
    /// An earlier collective on this communicator failed.
    #[error("communicator: an earlier collective on it failed, so messages of it may still be under way; make a new Hypercube")]
    Broken,
    /// Nothing arrived for longer than the limit that the user set.
    #[error("HYPERCOLL_TIMEOUT: no progress for {seconds} s in a collective; waiting for ranks {waiting_for:?}")]
    Timeout {
        /// The time waited, in seconds.
        seconds: u64,
        /// The ranks whose messages are missing.
        waiting_for: Vec<usize>,
    },
    /// A variable of the environment asks for what does not exist, or for what this call cannot do.
    #[error("{variable}: {why}")]
    Environment {
        /// The variable, or several with commas between.
        variable: String,
        /// What is wrong.
        why: String,
    },
    /// A tuning file that the user named cannot be read, or makes no sense.
    #[error("tuning file {file}: {why}")]
    Tuning {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The MPI library reported an error.
    #[error("{call}: {message}")]
    Mpi {
        /// The MPI function.
        call: &'static str,
        /// MPI's own words.
        message: String,
    },
}

/// The result of a collective call.
pub type Result<T> = std::result::Result<T, Error>;
