//! Requests of MPI under way on one communicator, each with its owner, and what has come that none of them waits for.

use super::{accept, class};
use crate::error::Result;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// Whose request it is.
pub(super) type Owner = usize;

/// The requests of a communicator.
pub(super) struct Requests {
    comm: ffi::MPI_Comm,
    requests: Vec<ffi::MPI_Request>,
    /// For each request, in the same order: whose it is, and whether it receives.
    owners: Vec<(Owner, bool)>,
    indices: Vec<c_int>,
    statuses: Vec<ffi::MPI_Status>,
    /// Memory for what is complete.
    completed: Vec<(Owner, usize)>,
}

impl Requests {
    /// Of a live communicator that returns errors, on which nobody else sends or receives.
    pub fn on(comm: ffi::MPI_Comm) -> Requests {
        Requests {
            comm,
            requests: Vec::new(),
            owners: Vec::new(),
            indices: Vec::new(),
            statuses: Vec::new(),
            completed: Vec::new(),
        }
    }

    pub fn comm(&self) -> ffi::MPI_Comm {
        self.comm
    }

    /// Ends the job.
    pub fn abort(&self, why: &str) -> ! {
        super::abort(self.comm, why)
    }

    pub fn any(&self) -> bool {
        !self.requests.is_empty()
    }

    pub fn owners(&self) -> impl Iterator<Item = Owner> + '_ {
        self.owners.iter().map(|&(owner, _)| owner)
    }

    /// Starts to send; if `synchronous`, it is complete only when it has met its receive.
    ///
    /// # Safety
    /// The bytes are there, and nobody writes them, until the request is complete.
    #[inline(always)]
    pub unsafe fn send(
        &mut self,
        owner: Owner,
        peer: usize,
        tag: c_int,
        start: *const u8,
        len: usize,
        synchronous: bool,
    ) -> Result<()> {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        let (at, kind) = (start.cast::<c_void>(), ffi::RSMPI_UINT8_T);
        let (count, peer) = (len as c_int, peer as c_int);
        if synchronous {
            accept("MPI_Issend", ffi::PMPI_Issend(at, count, kind, peer, tag, self.comm, &mut request))?;
        } else {
            accept("MPI_Isend", ffi::PMPI_Isend(at, count, kind, peer, tag, self.comm, &mut request))?;
        }
        self.requests.push(request);
        self.owners.push((owner, false));
        Ok(())
    }

    /// Whether MPI is through already with what was started last, as it most likely is with a short message: then that is forgotten here.
    ///
    /// # Errors
    /// If it failed.
    #[inline(always)]
    pub fn is_last_over(&mut self) -> Result<bool> {
        let Some(request) = self.requests.last_mut() else { return Ok(false) };
        let mut is_over: c_int = 0;
        // SAFETY: a live request, and a valid out parameter.
        let code = unsafe { ffi::PMPI_Test(request, &mut is_over, ffi::RSMPI_STATUS_IGNORE) };
        if is_over != 0 {
            self.requests.pop();
            self.owners.pop();
        }
        accept("MPI_Test", code)?;
        Ok(is_over != 0)
    }

    /// Starts to receive.
    ///
    /// # Safety
    /// The bytes are there, and nobody else touches them, until the request is complete; no longer message matches.
    #[inline(always)]
    pub unsafe fn receive(&mut self, owner: Owner, peer: usize, tag: c_int, start: *mut u8, len: usize) -> Result<()> {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        let (at, kind) = (start.cast::<c_void>(), ffi::RSMPI_UINT8_T);
        let code = ffi::PMPI_Irecv(at, len as c_int, kind, peer as c_int, tag, self.comm, &mut request);
        accept("MPI_Irecv", code)?;
        self.requests.push(request);
        self.owners.push((owner, true));
        Ok(())
    }

    /// Takes receives back from MPI: those that no message has met are complete at the next test, the others when it has come.
    pub fn cancel(&mut self, is_one: impl Fn(Owner) -> bool) {
        for (request, _) in self.requests.iter_mut().zip(&self.owners).filter(|(_, &(owner, _))| is_one(owner)) {
            // SAFETY: a live request of a receive. One that cannot be cancelled goes on.
            unsafe { ffi::PMPI_Cancel(request) };
        }
    }

    /// Tests the requests until one is complete, so many times at most: the owners of those that are complete, with the bytes that were
    /// received; give the list back. With `all` it is either all of them or none, which is cheaper to find out.
    ///
    /// # Errors
    /// If any of them failed, or MPI cannot test; what is complete is then complete all the same.
    pub fn test(&mut self, all: bool, looks: u32) -> Result<Vec<(Owner, usize)>> {
        let count = self.requests.len();
        let mut list = std::mem::take(&mut self.completed);
        list.clear();
        if count == 0 {
            return Ok(list);
        }
        if self.indices.len() < count {
            self.indices.resize(count, 0);
            // SAFETY: MPI_Status is plain data that MPI fills in; all-zero is a valid value of its fields.
            self.statuses.resize(count, unsafe { std::mem::zeroed() });
        }
        let (all, test) = match count {
            1 => (true, "MPI_Test"),
            _ if all => (true, "MPI_Testall"),
            _ => (false, "MPI_Testsome"),
        };
        let mut completed: c_int = 0;
        let (requests, statuses) = (self.requests.as_mut_ptr(), self.statuses.as_mut_ptr());
        let mut code = ffi::MPI_SUCCESS as c_int;
        for _ in 0..looks {
            // SAFETY: `requests`, `indices` and `statuses` hold at least `count` elements.
            code = unsafe {
                if count == 1 {
                    ffi::PMPI_Test(requests, &mut completed, statuses)
                } else if all {
                    ffi::PMPI_Testall(count as c_int, requests, &mut completed, statuses)
                } else {
                    let indices = self.indices.as_mut_ptr();
                    ffi::PMPI_Testsome(count as c_int, requests, &mut completed, indices, statuses)
                }
            };
            if completed != 0 || code != ffi::MPI_SUCCESS as c_int {
                break;
            }
        }
        // Errors of single requests are in the statuses; that of one alone is what was returned.
        let failed = class(code) == ffi::MPI_ERR_IN_STATUS;
        let mut outcome = if failed { Ok(()) } else { accept(test, code) };
        if completed == 0 {
            if failed {
                // Some MPI libraries say of all that one of them has failed while others are under way.
                let under_way = |code: &c_int| [ffi::MPI_SUCCESS, ffi::MPI_ERR_PENDING].contains(&class(*code));
                let mut codes = self.statuses[..count].iter().map(|status| status.MPI_ERROR);
                outcome = codes.find(|code| !under_way(code)).map_or(outcome, |code| accept(test, code));
            }
            return outcome.map(|()| list);
        }
        if all {
            completed = count as c_int;
            (0..).zip(&mut self.indices[..count]).for_each(|(index, place)| *place = index);
        }
        let completed = completed.max(0) as usize;
        for at in 0..completed {
            if failed {
                outcome = outcome.and(accept(test, self.statuses[at].MPI_ERROR));
            }
            let (owner, receives) = self.owners[self.indices[at] as usize];
            let mut bytes: c_int = 0;
            if receives {
                // SAFETY: a status that MPI has filled in, and a valid out parameter.
                unsafe { ffi::PMPI_Get_count(&self.statuses[at], ffi::RSMPI_UINT8_T, &mut bytes) };
            }
            list.push((owner, bytes.max(0) as usize));
        }
        // Completed requests have become null: close the gaps.
        let (mut kept, mut next) = (0, 0);
        self.indices[..completed].sort_unstable();
        for index in 0..count {
            if next < completed && self.indices[next] as usize == index {
                next += 1;
            } else {
                self.requests[kept] = self.requests[index];
                self.owners[kept] = self.owners[index];
                kept += 1;
            }
        }
        self.requests.truncate(kept);
        self.owners.truncate(kept);
        outcome.map(|()| list)
    }

    /// Takes a list back, to use its memory again.
    pub fn take_back(&mut self, list: Vec<(Owner, usize)>) {
        self.completed = list;
    }

    /// Lets MPI make progress on whatever is under way on any communicator; it yields the core if it was told to. MPI libraries
    /// make none if a probe finds something: this one is for a message of this rank to itself, and there are none. Nothing depends
    /// on it, so its errors are left to the calls that something depends on.
    pub fn make_progress(&mut self, rank: usize) {
        // SAFETY: a constant of MPI, set by the rsmpi support library.
        let any = unsafe { ffi::RSMPI_ANY_TAG };
        let _ = self.probe(rank as c_int, any);
    }

    /// Looks for a message that no request waits for: its sender, its tag and its status.
    fn probe(&self, source: c_int, tag: c_int) -> Result<Option<ffi::MPI_Status>> {
        let mut there: c_int = 0;
        // SAFETY: MPI_Status is plain data that MPI fills in; a live communicator, and valid out parameters.
        unsafe {
            let mut status: ffi::MPI_Status = std::mem::zeroed();
            accept("MPI_Iprobe", ffi::PMPI_Iprobe(source, tag, self.comm, &mut there, &mut status))?;
            Ok((there != 0).then_some(status))
        }
    }

    /// Whether there is a message that no request waits for.
    pub fn is_anything_there(&self) -> bool {
        // SAFETY: constants of MPI, set by the rsmpi support library.
        let (source, tag) = unsafe { (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG) };
        matches!(self.probe(source, tag), Ok(Some(_)))
    }

    /// A message that no request waits for, if there is one: its sender, tag and length in bytes.
    pub fn unexpected(&self, source: c_int, tag: c_int) -> Result<Option<(usize, c_int, usize)>> {
        let Some(status) = self.probe(source, tag)? else { return Ok(None) };
        let mut len = 0;
        // SAFETY: a status that MPI has filled in, and a valid out parameter.
        accept("MPI_Get_count", unsafe { ffi::PMPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut len) })?;
        Ok(Some((status.MPI_SOURCE.max(0) as usize, status.MPI_TAG, len.max(0) as usize)))
    }

    /// Receives a message that no request waits for, if there is one: its sender, tag and bytes.
    pub fn take_unexpected(&mut self, source: c_int, tag: c_int) -> Result<Option<(usize, c_int, Vec<u8>)>> {
        let Some((peer, tag, len)) = self.unexpected(source, tag)? else { return Ok(None) };
        let mut bytes = vec![0u8; len];
        let at = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: `bytes` holds the `len` bytes of the message that the probe has seen, and nobody else receives on this communicator.
        unsafe {
            let (count, kind, status) = (len as c_int, ffi::RSMPI_UINT8_T, ffi::RSMPI_STATUS_IGNORE);
            accept("MPI_Recv", ffi::PMPI_Recv(at, count, kind, peer as c_int, tag, self.comm, status))?;
        }
        Ok(Some((peer, tag, bytes)))
    }
}
