//! What all ranks of a communicator do together while they meet: started, looked at, and waited for no longer than they are patient.

use super::accept;
use crate::error::{Error, Result};
use crate::executor::caller;
use crate::executor::patience::{say, Patience};
use mpi::ffi;
use std::ffi::{c_int, c_void};
use std::time::Instant;

/// How long ranks wait for each other, and what they do meanwhile.
pub(super) struct Waits<'w> {
    /// What they have called, as users know it.
    pub call: &'static str,
    /// The communicator that the others have, too.
    pub comm: ffi::MPI_Comm,
    pub patience: Patience,
    pub meanwhile: &'w dyn Fn(),
}

impl Waits<'_> {
    /// Looks again and again until something has come about.
    ///
    /// # Errors
    /// What a look finds wrong, and [`Error::Timeout`].
    pub fn until(&self, mut look: impl FnMut() -> Result<bool>) -> Result<()> {
        let (mut looks, mut since, mut said): (u64, Option<Instant>, bool) = (0, None, false);
        while !look()? {
            looks += 1;
            if !looks.is_multiple_of(64) {
                continue;
            }
            (self.meanwhile)();
            std::thread::yield_now();
            let waited = since.get_or_insert_with(Instant::now).elapsed();
            let what = || {
                let (call, seconds) = (self.call, waited.as_secs());
                format!("{call}: no progress for {seconds} s; not all ranks of the communicator have called it")
            };
            if !said && self.patience.report.is_some_and(|limit| waited >= limit) {
                said = true;
                say(&(what() + &caller::place("; this one from ")));
            }
            if self.patience.timeout.is_some_and(|limit| waited >= limit) {
                if self.patience.ends_job {
                    super::abort(self.comm, &format!("HYPERCOLL_TIMEOUT: {}", what()));
                }
                return Err(Error::Timeout { waiting_for: Vec::new(), what: what() });
            }
        }
        Ok(())
    }
}

/// Starts something nonblocking on a communicator, in some memory, and waits until it is done; the memory again.
///
/// # Errors
/// As [`UnderWay::wait`]'s.
pub(crate) fn together<T>(
    comm: ffi::MPI_Comm,
    call: &'static str,
    patience: Patience,
    meanwhile: &dyn Fn(),
    memory: T,
    start: impl FnOnce(&mut T, &mut ffi::MPI_Request) -> c_int,
) -> Result<T> {
    UnderWay::start(call, memory, start)?.wait(&Waits { call, comm, patience, meanwhile })
}

/// Something that has been started in some memory. If it is dropped before it is done, MPI may still use the memory, whenever the
/// last rank comes: it is left to it.
pub(super) struct UnderWay<T> {
    call: &'static str,
    memory: *mut T,
    request: ffi::MPI_Request,
}

impl<T> UnderWay<T> {
    /// Starts it.
    ///
    /// # Errors
    /// Those of MPI.
    pub fn start(
        call: &'static str,
        memory: T,
        start: impl FnOnce(&mut T, &mut ffi::MPI_Request) -> c_int,
    ) -> Result<UnderWay<T>> {
        let memory = Box::into_raw(Box::new(memory));
        // SAFETY: a constant handle of MPI, initialised by the rsmpi support library; the memory was a box's, and nobody else has it.
        let (mut request, lent) = unsafe { (ffi::RSMPI_REQUEST_NULL, &mut *memory) };
        accept(call, start(lent, &mut request))?;
        Ok(UnderWay { call, memory, request })
    }

    /// Whether it is done.
    ///
    /// # Errors
    /// Those of MPI.
    pub fn test(&mut self) -> Result<bool> {
        let mut done: c_int = 0;
        // SAFETY: a request of ours, which is none as soon as it has been complete, a valid out parameter, and a status that nobody wants.
        accept(self.call, unsafe { ffi::PMPI_Test(&mut self.request, &mut done, ffi::RSMPI_STATUS_IGNORE) })?;
        Ok(done != 0)
    }

    /// Waits until it is done; the memory again.
    ///
    /// # Errors
    /// Those of MPI, and [`Error::Timeout`].
    pub fn wait(mut self, waits: &Waits) -> Result<T> {
        waits.until(|| self.test())?;
        // SAFETY: it was a box's, and MPI is through with it.
        Ok(*unsafe { Box::from_raw(self.memory) })
    }
}

/// So many words of every rank, by rank.
///
/// # Errors
/// As [`UnderWay::wait`]'s.
pub(super) fn gathered<const N: usize>(
    comm: ffi::MPI_Comm,
    size: usize,
    waits: &Waits,
    own: [u64; N],
) -> Result<Vec<[u64; N]>> {
    let memory = (own, vec![[0; N]; size]);
    let gather = UnderWay::start("MPI_Iallgather", memory, |(own, all), request| {
        let (from, into) = (own.as_ptr().cast::<c_void>(), all.as_mut_ptr().cast::<c_void>());
        let bytes = size_of_val(own) as c_int;
        // As bytes: whether ranks have the same order of them is to be seen.
        // SAFETY: so many bytes to send, and room for those of every rank, which are kept until the request is complete; a live
        // communicator.
        unsafe {
            let kind = ffi::RSMPI_UINT8_T;
            ffi::PMPI_Iallgather(from, bytes, kind, into, bytes, kind, comm, request)
        }
    })?;
    Ok(gather.wait(waits)?.1)
}

/// Rank 0's text on all ranks, which call this together.
///
/// # Errors
/// As [`UnderWay::wait`]'s.
pub(super) fn broadcast_from_rank_0(comm: ffi::MPI_Comm, waits: &Waits, text: String) -> Result<String> {
    let mut bytes = text.into_bytes();
    let len = bytes.len().min(c_int::MAX as usize);
    let len = u64::from_ne_bytes(broadcast_of_bytes(comm, waits, (len as u64).to_ne_bytes())?);
    if len == 0 {
        // MPI refuses some addresses of nothing.
        return Ok(String::new());
    }
    bytes.resize(len as usize, 0);
    let bytes = broadcast_of_bytes(comm, waits, bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Rank 0's bytes on all ranks, each of which has memory for as many.
fn broadcast_of_bytes<T: AsMut<[u8]>>(comm: ffi::MPI_Comm, waits: &Waits, bytes: T) -> Result<T> {
    let broadcast = UnderWay::start("MPI_Ibcast", bytes, |bytes, request| {
        let bytes = bytes.as_mut();
        // SAFETY: as many bytes as are said, no more than fit an int, which are kept until the request is complete; a live communicator.
        unsafe {
            let (at, len) = (bytes.as_mut_ptr().cast::<c_void>(), bytes.len() as c_int);
            ffi::PMPI_Ibcast(at, len, ffi::RSMPI_UINT8_T, 0, comm, request)
        }
    })?;
    broadcast.wait(waits)
}
