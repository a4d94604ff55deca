//! What calls MPI, and what shares memory between ranks: the executor's transport, MPI's control variables, and its communicators whose graph is the cube.
//!
//! This is the one module over `mpi::ffi` and `libc`, and the only one with `unsafe` code. All calls use the `PMPI_`
//! names, so that the library can live inside an interposer that exports the `MPI_` ones. Programs reach it by
//! [`Hypercube::new`]:
//!
//! ```no_run
//! use hypercoll::Hypercube;
//!
//! let universe = mpi::initialize().unwrap();
//! let cube = Hypercube::new(&universe.world())?;
//! let mut data = vec![cube.rank(); 1000];
//! cube.process_at_rank(0).broadcast_into(&mut data)?;
//! assert_eq!(data, [0; 1000]);
//! println!("rank {}: {}", cube.rank(), cube.transport()); // memory of the host, MPI, or both
//! # hypercoll::Result::Ok(())
//! ```
//!
//! [`Hypercube::new`]: crate::Hypercube::new

mod affinity;
mod asked;
pub mod control_variables;
pub mod cube_graph;
mod departed;
mod ending;
mod envelopes;
mod host;
mod lobby;
mod meeting;
mod messages;
mod operation;
mod own_core;
mod pipe;
mod progress;
mod requests;
mod segment;
mod shared_memory;
mod single_copy;
#[cfg(test)]
mod tests;
mod together;
mod told;
mod transfers;
mod transport;
mod yielding;

pub(crate) use ending::{before_mpi_ends, For};
pub(crate) use host::host;
pub(crate) use meeting::Found;
pub(crate) use own_core::OwnCore;
pub(crate) use together::together;
pub(crate) use told::by_rank_0;
pub(crate) use transport::MpiTransport;

use crate::error::{Error, Result};
use mpi::ffi;
use std::ffi::{c_char, c_int};

/// Ends the job. With requests under way that use the buffers of a call, any other way out is unsound.
fn abort(comm: ffi::MPI_Comm, why: &str) -> ! {
    eprintln!("hypercoll: {why}");
    // SAFETY: aborting is always allowed.
    unsafe { ffi::PMPI_Abort(comm, 1) };
    // MPI need not end the process before it returns.
    std::process::abort()
}

/// The class of an error code, for comparison with the constants of MPI: some libraries have many codes of one class.
fn class(code: c_int) -> u32 {
    // Success is a class of its own, and asked for after every call.
    if code == ffi::MPI_SUCCESS as c_int {
        return ffi::MPI_SUCCESS;
    }
    let mut class = code;
    // SAFETY: a valid out parameter; what is no code of MPI's stays as it is.
    unsafe { ffi::PMPI_Error_class(code, &mut class) };
    class as u32
}

/// Turns a return code of MPI into a `Result`.
#[inline]
fn accept(call: &'static str, code: c_int) -> Result<()> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    Err(refused(call, code))
}

/// What a return code of MPI says that is not success.
#[cold]
fn refused(call: &'static str, code: c_int) -> Error {
    let mut text = vec![0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut len: c_int = 0;
    // SAFETY: `text` holds the MPI_MAX_ERROR_STRING bytes that MPI may write, `len` is a valid out parameter.
    let known = unsafe { ffi::PMPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut len) };
    let message = if known == ffi::MPI_SUCCESS as c_int {
        String::from_utf8_lossy(&text[..(len.max(0) as usize).min(text.len())]).into_owned()
    } else {
        format!("error code {code}")
    };
    Error::Mpi { call, message }
}
