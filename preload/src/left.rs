//! Why a call is not over, or not under way.

use hypercoll::Error;

pub enum Left {
    /// MPI is to make it, and why.
    ToMpi(&'static str),
    /// It is ours, and was only to be prepared.
    ToLater,
    Failed(Error),
}

/// What is counted, and chosen to be ours, has a hypercube until then.
pub const MPI_HAS_ENDED: &str = "MPI has ended";

impl From<Error> for Left {
    fn from(error: Error) -> Left {
        Left::Failed(error)
    }
}
