//! What is done before MPI ends, whatever was leaked: what is attached to MPI_COMM_SELF is deleted before anything else of MPI (MPI 3.1,
//! 8.7.1), and that is when.

use super::accept;
use crate::error::Result;
use mpi::ffi;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

type Act = Option<fn()>;

/// What is to be done, by whom it is asked for.
static ACTS: Mutex<[Act; 2]> = Mutex::new([None; 2]);

/// Who asks.
#[derive(Clone, Copy)]
pub(crate) enum For {
    /// Calls under way: they are moved to their end.
    Calls,
    /// The thread that lets MPI make progress, which ends after them.
    Progress,
}

/// Does that before MPI ends, on the thread that ends it. Where there are only sessions, which have no MPI_COMM_SELF, it is not done.
///
/// # Errors
/// Those of MPI.
pub(crate) fn before_mpi_ends(who: For, act: fn()) -> Result<()> {
    let mut acts = ACTS.lock().unwrap_or_else(PoisonError::into_inner);
    if acts[who as usize].is_some() {
        return Ok(());
    }
    let mut is_initialized: c_int = 0;
    // SAFETY: a valid out parameter; may be called at any time.
    accept("MPI_Initialized", unsafe { ffi::PMPI_Initialized(&mut is_initialized) })?;
    if is_initialized == 0 {
        return Ok(());
    }
    if acts.iter().all(Option::is_none) {
        let mut key: c_int = 0;
        // SAFETY: two functions of the right types, which stay, and a valid out parameter; a constant handle of MPI. The value is never read.
        unsafe {
            let made = ffi::PMPI_Comm_create_keyval(Some(not_copied), Some(mpi_ends), &mut key, std::ptr::null_mut());
            accept("MPI_Comm_create_keyval", made)?;
            let attached = ffi::PMPI_Comm_set_attr(ffi::RSMPI_COMM_SELF, key, std::ptr::null_mut());
            accept("MPI_Comm_set_attr", attached)?;
        }
    }
    acts[who as usize] = Some(act);
    Ok(())
}

/// Duplicates of MPI_COMM_SELF may go at any time: nothing is attached to them.
///
/// # Safety
/// MPI passes a valid out parameter for whether the value is copied.
unsafe extern "C" fn not_copied(
    _: ffi::MPI_Comm,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    is_copied: *mut c_int,
) -> c_int {
    // SAFETY: promised.
    unsafe { *is_copied = 0 };
    ffi::MPI_SUCCESS as c_int
}

extern "C" fn mpi_ends(_: ffi::MPI_Comm, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    let acts = *ACTS.lock().unwrap_or_else(PoisonError::into_inner);
    acts.iter().flatten().for_each(|act| act());
    ffi::MPI_SUCCESS as c_int
}
