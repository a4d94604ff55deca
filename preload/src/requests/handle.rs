//! Handles of MPI's that stand for calls of ours.

use super::{progress, Again, Request, Start, Step, KNOWN};
use crate::calls::{Left, Ours};
use crate::failure;
use crate::native::{ffi, SUCCESS};
use crate::session;
use crate::turn::{self, Turn};
use ffi::{MPI_Request, MPI_Status};
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use std::sync::atomic::fence;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Instant;

/// Messages of this rank to itself: which tags are taken.
#[derive(Default)]
pub struct Itself {
    tags: c_int,
    unused: Vec<c_int>,
}

impl Itself {
    fn tag(&mut self) -> c_int {
        self.unused.pop().unwrap_or_else(|| {
            self.tags += 1;
            self.tags
        })
    }
}

const RANK: c_int = 0;

/// Gives the program a handle of a call, which is under way, or to be started later.
pub unsafe fn give(request: Request, into: *mut MPI_Request, turn: &Turn) -> c_int {
    let request = Box::into_raw(Box::new(request));
    let own = &mut *request;
    let code = match &mut own.again {
        None => ffi::PMPI_Grequest_start(Some(query), Some(freed), Some(cancelled), request.cast(), &mut own.handle),
        Some(Again { tag, .. }) => {
            *tag = session::tables(turn).requests.itself.tag();
            let (nothing, alone) = (std::ptr::null_mut(), session::alone());
            ffi::PMPI_Recv_init(nothing, 0, ffi::RSMPI_UINT8_T, RANK, *tag, alone, &mut own.handle)
        }
    };
    if code != SUCCESS {
        // MPI has no handle left. What is under way ends here.
        drop(Box::from_raw(request));
        return code;
    }
    let requests = &mut session::tables(turn).requests;
    requests.know(request, own.handle);
    if own.transfer.is_some() {
        requests.active.push(request);
        progress::set_active(requests.active.len());
    }
    *into = own.handle;
    // One that has gone wrong before it was under way.
    if (*request).failed.is_some() {
        complete(request, turn);
    }
    SUCCESS
}

/// Gives the program a handle of a call that is over: that of a message to nobody, which costs MPI nothing.
pub unsafe fn over(into: *mut MPI_Request) -> c_int {
    ffi::PMPI_Isend(std::ptr::null(), 0, ffi::RSMPI_UINT8_T, ffi::RSMPI_PROC_NULL, 0, session::alone(), into)
}

/// A call is over: so is its request.
pub unsafe fn complete(request: *mut Request, turn: &Turn) {
    (*request).end(turn);
    // Another thread may see that it is over, from MPI, which need not say so in a way that shows what was written before.
    fence(Release);
    match &(*request).again {
        // Whoever waits for it may have it freed from here on.
        None => {
            ffi::PMPI_Grequest_complete((*request).handle);
        }
        Some(Again { tag, .. }) if (*request).failed.is_none() => say_to_itself(*tag, 0),
        // What has gone wrong comes as a message that is too long. Open MPI 4 frees such a request; it is not ours any more.
        Some(Again { tag, .. }) => {
            let tag = *tag;
            let mut request = Box::from_raw(request);
            session::tables(turn).requests.forget(request.handle);
            // Last, as a handler of the program's may free it.
            Request::raise(&mut *request);
            say_to_itself(tag, 1);
        }
    }
}

/// Sends the message that a persistent request waits for, of so many bytes.
unsafe fn say_to_itself(tag: c_int, bytes: c_int) {
    let byte = 0u8;
    ffi::PMPI_Send((&raw const byte).cast(), bytes, ffi::RSMPI_UINT8_T, RANK, tag, session::alone());
}

/// What MPI asks of a generalised request that is over: the empty status, and whether anything has gone wrong.
unsafe extern "C" fn query(state: *mut c_void, status: *mut MPI_Status) -> c_int {
    fence(Acquire);
    (*status).MPI_SOURCE = ffi::RSMPI_ANY_SOURCE;
    (*status).MPI_TAG = ffi::RSMPI_ANY_TAG;
    ffi::PMPI_Status_set_elements(status, ffi::RSMPI_UINT8_T, 0);
    ffi::PMPI_Status_set_cancelled(status, 0);
    Request::raise(state.cast())
}

/// The program has seen that a generalised request is over.
unsafe extern "C" fn freed(state: *mut c_void) -> c_int {
    let turn = turn::take();
    let request = Box::from_raw(state.cast::<Request>());
    session::tables(&turn).requests.forget(request.handle);
    drop(request);
    SUCCESS
}

unsafe extern "C" fn cancelled(_: *mut c_void, _: c_int) -> c_int {
    ffi::MPI_ERR_REQUEST as c_int
}

/// The request of a handle, if it is one of ours.
unsafe fn ours(handle: *mut MPI_Request, turn: &Turn) -> Option<*mut Request> {
    // What is wrong with a pointer is MPI's to say.
    handle.as_ref().and_then(|&handle| session::tables(turn).requests.find(handle))
}

/// Whether the program has requests of ours.
#[inline]
pub fn are_known() -> bool {
    KNOWN.load(Relaxed) > 0 && session::is_active()
}

/// What MPI says of requests with which something cannot be done.
unsafe fn refuse() -> c_int {
    let code = ffi::MPI_ERR_REQUEST as c_int;
    ffi::PMPI_Comm_call_errhandler(ffi::RSMPI_COMM_WORLD, code);
    code
}

/// Starts a persistent request, if it is one of ours.
///
/// # Safety
/// As MPI says.
pub unsafe fn start(handle: *mut MPI_Request) -> Option<c_int> {
    if !are_known() {
        return None;
    }
    let turn = turn::take();
    let request = &mut *ours(handle, &turn)?;
    let again = request.again.as_ref()?;
    if request.transfer.is_some() {
        drop(turn);
        return Some(refuse());
    }
    request.since = session::facts().asked.report.is_some().then(Instant::now);
    let start = Start::new(Some(Rc::clone(&request.cube)), Step::Again, again.options.clone());
    let mut ours = Ours::started(request.own, request.kind, None, request.rank, again.size, start);
    match (again.plan)(&mut ours) {
        Ok(()) => (),
        Err(Left::Failed(error)) => {
            let (comm, name) = (request.comm, request.form().name(request.kind));
            let rank = request.rank;
            // What it has of a hypercube is not counted by several threads at once.
            drop(ours);
            drop(turn);
            return Some(failure::raise(comm, &name, rank, &error));
        }
        // Lists that the program has changed since.
        Err(Left::ToMpi(_) | Left::ToLater) => {
            drop(ours);
            drop(turn);
            return Some(refuse());
        }
    }
    if let Some(own) = request.own.as_mut() {
        (own.left, own.last) = (None, Rc::downgrade(&request.cube));
    }
    request.by = request.cube.last_algorithm().unwrap_or("nothing to do");
    request.transfer = ours.start.and_then(|start| start.transfer);
    let code = ffi::PMPI_Start(&mut request.handle);
    let requests = &mut session::tables(&turn).requests;
    requests.active.push(request);
    progress::set_active(requests.active.len());
    Some(code)
}

/// Frees a request, if it is one of ours: a persistent one that is not active, or one that is over.
///
/// # Safety
/// As MPI says.
pub unsafe fn free(handle: *mut MPI_Request) -> Option<c_int> {
    if !are_known() {
        return None;
    }
    let turn = turn::take();
    let request = ours(handle, &turn)?;
    if (*request).transfer.is_some() {
        drop(turn);
        return Some(refuse());
    }
    // Its error handler frees it, while somebody waits for it, who does so, too.
    if (*request).raises {
        return Some(SUCCESS);
    }
    if (*request).again.is_none() {
        drop(turn);
        return Some(ffi::PMPI_Request_free(handle));
    }
    Some(free_persistent(request, handle, &turn))
}

unsafe fn free_persistent(request: *mut Request, handle: *mut MPI_Request, turn: &Turn) -> c_int {
    let request = Box::from_raw(request);
    let requests = &mut session::tables(turn).requests;
    requests.forget(request.handle);
    requests.itself.unused.extend(request.again.as_ref().map(|again| again.tag));
    ffi::PMPI_Request_free(handle)
}

/// Refuses to cancel a request, if it is one of ours.
///
/// # Safety
/// As MPI says.
pub unsafe fn cancel(handle: *mut MPI_Request) -> Option<c_int> {
    if !are_known() {
        return None;
    }
    let known = ours(handle, &turn::take()).is_some();
    known.then(|| refuse())
}

/// MPI ends.
pub fn let_go(turn: &Turn) {
    let known: Vec<_> = session::tables(turn).requests.known.values().copied().collect();
    for request in known {
        // SAFETY: there as long as it is known.
        unsafe {
            if (*request).again.is_some() && (*request).transfer.is_none() {
                let mut handle = (*request).handle;
                free_persistent(request, &mut handle, turn);
            }
        }
    }
}
