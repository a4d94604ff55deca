//! What rank 0 tells all ranks of a communicator that is none of ours.

use super::meeting::Duplicate;
use super::together::{broadcast_from_rank_0, Waits};
use crate::error::Result;
use crate::executor::patience::Patience;
use mpi::ffi;

/// Rank 0's text on all ranks of the communicator, who have called what is named and are waited for as the patience says. Messages are of a
/// duplicate, so that none of a rank whose others do not come is taken for one of the program's.
///
/// # Errors
/// Those of MPI, and [`Error::Timeout`](crate::error::Error::Timeout).
pub(crate) fn by_rank_0(comm: ffi::MPI_Comm, call: &'static str, patience: Patience, text: String) -> Result<String> {
    let waits = Waits { call, comm, patience, meanwhile: &|| () };
    let mut duplicate = Duplicate::of(comm)?.comm(&waits)?;
    let told = broadcast_from_rank_0(duplicate, &waits, text)?;
    // SAFETY: the communicator is ours, and nothing is under way on it.
    unsafe { ffi::PMPI_Comm_free(&mut duplicate) };
    Ok(told)
}
