//! What can go wrong in a call: every error names the argument, the rank or the variable at fault.
//!
//! An error of the arguments is found before the rank sends anything. Its buffers stay as they were. If all ranks get
//! it, as in the example, the communicator can be used on. If only some do, those that wait for them get an error too
//! ([`Error::Mismatch`]), and the communicator is broken.
//!
//! All other errors are errors of the communicator: every rank of it gets the same one, in the call that it is in or in its
//! next one, and later calls return [`Error::Broken`]. The contents of receive buffers are undefined then. A new
//! [`Hypercube`](crate::Hypercube) made from the same MPI communicator works.
//!
//! ```
//! use hypercoll::{threads, Error};
//!
//! threads::run(2, |cube| {
//!     let mut data = [1, 2, 3];
//!     let error = cube.process_at_rank(7).broadcast_into(&mut data).unwrap_err();
//!     assert_eq!(error, Error::Root { root: 7, size: 2 });
//!     assert_eq!(error.to_string(), "root: 7 is no rank of a communicator of 2 ranks");
//!     assert_eq!(data, [1, 2, 3]);
//!     cube.process_at_rank(1).broadcast_into(&mut data).unwrap();
//! });
//! ```

use crate::collective::Collective;
use std::fmt;

/// An error of a collective call. Every message names the argument at fault.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A buffer has the wrong length.
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
    Root {
        /// The root passed.
        root: usize,
        /// The number of ranks.
        size: usize,
    },
    /// A call that only the root, or only the others, may make.
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
    UnknownAlgorithm {
        /// The name passed.
        name: String,
        /// The collective.
        collective: Collective,
        /// The names that would have done.
        known: String,
    },
    /// The algorithm cannot serve this call with these parameters.
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
    Packet,
    /// The operation is not defined for the element type.
    Operation {
        /// The operation.
        operation: String,
        /// The element type.
        element: &'static str,
    },
    /// Not a permutation of the ranks.
    Permutation {
        /// What is wrong with it.
        why: String,
    },
    /// Matrices or a grid of ranks that the call cannot be made for.
    Shape {
        /// Which argument.
        argument: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A buffer cannot be made of blocks like that.
    Partition {
        /// Which argument.
        argument: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Bins of a histogram that cannot be.
    Bins {
        /// Which argument.
        argument: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A call given as data that makes no sense.
    Call {
        /// Which part of it.
        argument: &'static str,
        /// The collective.
        collective: Collective,
        /// What is wrong.
        why: String,
    },
    /// A link that cannot be avoided.
    Link {
        /// The link, as two ranks.
        link: (usize, usize),
        /// Why not.
        why: String,
    },
    /// Ranks have made different calls, or one of them was refused its arguments: the same on all ranks of the communicator.
    Mismatch {
        /// The ranks that deviate from most.
        ranks: Vec<usize>,
        /// What ranks have called, and where.
        what: String,
    },
    /// A rank cannot take part any more: it has let go of its communicator, panicked, ended, or its transport failed.
    RankFailed {
        /// The rank.
        rank: usize,
        /// What has become of it.
        what: String,
    },
    /// An earlier collective on this communicator failed, and this rank was told then.
    Broken {
        /// What went wrong then.
        why: String,
    },
    /// A collective from within another one of the same communicator: from a function that combines, for instance.
    Nested,
    /// What was received is no element of its type: another program has sent something else under the same name. The buffer is all zeros.
    Element,
    /// No progress for longer than the limit that the user set by `HYPERCOLL_TIMEOUT`, which asked for an error.
    Timeout {
        /// The ranks whose messages are missing on the rank that found it.
        waiting_for: Vec<usize>,
        /// What all ranks are doing.
        what: String,
    },
    /// A communicator that no hypercube can be made of.
    Communicator {
        /// Why not.
        why: String,
    },
    /// A variable of the environment asks for what does not exist, or for what this call cannot do.
    Environment {
        /// The variable, or several with commas between.
        variable: String,
        /// What is wrong.
        why: String,
    },
    /// A tuning file that the user named cannot be read, or makes no sense.
    Tuning {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The MPI library reported an error.
    Mpi {
        /// The MPI function.
        call: &'static str,
        /// MPI's own words.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Length { argument, got, expected, why } => {
                write!(f, "{argument}: {got} elements, but {expected} are needed ({why})")
            }
            Error::Root { root, size } => write!(f, "root: {root} is no rank of a communicator of {size} ranks"),
            Error::Role { call, rank, root, instead } => write!(
                f,
                "{call}: rank {rank} {}the root {root}; call {instead} there",
                if rank == root { "is " } else { "is not " }
            ),
            Error::UnknownAlgorithm { name, collective, known } => {
                write!(f, "algorithm: '{name}' does not name an algorithm of {collective}; known: {known}")
            }
            Error::Unsuited { argument, algorithm, collective, why } => {
                write!(f, "{argument}: {algorithm} ({collective}) {why}")
            }
            Error::Packet => write!(f, "packet: 0 elements; a packet holds at least one"),
            Error::Operation { operation, element } => {
                write!(f, "operation: {operation} is not defined for elements of type {element}")
            }
            Error::Permutation { why } => write!(f, "permutation: {why}"),
            Error::Shape { argument, why } => write!(f, "{argument}: {why}"),
            Error::Partition { argument, why } => write!(f, "{argument}: {why}"),
            Error::Bins { argument, why } => write!(f, "{argument}: {why}"),
            Error::Call { argument, collective, why } => write!(f, "{argument}: {collective}: {why}"),
            Error::Link { link, why } => write!(f, "avoid_links: {}-{}: {why}", link.0, link.1),
            Error::Mismatch { what, .. } => write!(f, "calls differ: {what}"),
            Error::RankFailed { what, .. } => f.write_str(what),
            Error::Broken { why } => {
                write!(f, "communicator: an earlier collective on it failed ({why}); make a new Hypercube")
            }
            Error::Element => write!(f, "receive: what another rank has sent is no element of this type"),
            Error::Nested => write!(f, "communicator: a collective from within another one of it"),
            Error::Timeout { what, .. } => write!(f, "HYPERCOLL_TIMEOUT: {what}"),
            Error::Communicator { why } => write!(f, "communicator: {why}"),
            Error::Environment { variable, why } => write!(f, "{variable}: {why}"),
            Error::Tuning { file, why } => write!(f, "tuning file {file}: {why}"),
            Error::Mpi { call, message } => write!(f, "{call}: {message}"),
        }
    }
}

impl std::error::Error for Error {}

/// The result of a collective call.
pub type Result<T> = std::result::Result<T, Error>;
