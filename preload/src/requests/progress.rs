//! Who moves calls that are under way: whatever function of MPI waits or looks for anything.
//!
//! The standard asks for that: a rank that has started a call and then waits in `MPI_Recv` must do its part of the call, or another rank,
//! which waits for the call before it sends, would wait for ever. Open MPI lets components of its own do so, by functions that all its
//! waits call again and again: one of ours is among them. To replace each function of MPI that may wait by one that looks would not
//! do, as many have no form that does not wait (`MPI_Comm_split`); nor would a thread, which few programs let use MPI.
//!
//! An MPI without such a thing makes nonblocking and persistent calls itself.

use crate::session;
use crate::turn::{self, Turn};
use std::ffi::{c_int, CStr};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::OnceLock;

/// Calls under way.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static MADE: OnceLock<bool> = OnceLock::new();

type Look = extern "C" fn() -> c_int;

/// Open MPI's function of this name that takes a function to be called, or no longer.
fn function(name: &CStr) -> Option<unsafe extern "C" fn(Look) -> c_int> {
    // SAFETY: a name that ends.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: it has had this type since there has been one.
    (!found.is_null())
        .then(|| unsafe { std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(Look) -> c_int>(found) })
}

/// Whether MPI moves our calls; from the first question on it does, if it can.
pub fn is_made() -> bool {
    // SAFETY: a function that may be called as long as the library is there, which is not unloaded.
    *MADE.get_or_init(|| function(c"opal_progress_register").is_some_and(|register| unsafe { register(look) == 0 }))
}

/// From now on it does not.
pub fn end() {
    ACTIVE.store(0, Relaxed);
    if MADE.get() == Some(&true) {
        if let Some(unregister) = function(c"opal_progress_unregister") {
            // SAFETY: what was registered.
            unsafe { unregister(look) };
        }
    }
}

/// Whether calls are under way.
#[inline]
pub fn any() -> bool {
    ACTIVE.load(Relaxed) > 0
}

pub fn set_active(active: usize) {
    ACTIVE.store(active, Relaxed);
}

/// What MPI calls while it waits: how many things have happened. It never waits itself: in the middle of a call of ours, or if another
/// thread has its turn, that one moves all calls.
extern "C" fn look() -> c_int {
    if !any() {
        return 0;
    }
    let Some(turn) = turn::take_if_free() else { return 0 };
    hypercoll::raw::progress();
    deliver(&turn)
}

/// Tells MPI which calls are over, as far as they have been moved; how many.
fn deliver(turn: &Turn) -> c_int {
    let (mut at, mut over) = (0, 0);
    while let Some(&request) = session::tables(turn).requests.active.get(at) {
        // SAFETY: there as long as its call is under way.
        if unsafe { (*request).transfer.as_ref().is_some_and(|transfer| !transfer.is_over()) } {
            at += 1;
            continue;
        }
        let active = &mut session::tables(turn).requests.active;
        active.remove(at);
        set_active(active.len());
        // SAFETY: its call is over, and nobody else has seen that yet.
        unsafe { super::handle::complete(request, turn) };
        over += 1;
    }
    over
}

/// In the turn of this thread, while it waits for other ranks: other threads have theirs, and hear which of their calls are over.
pub fn give_way() {
    if any() && session::several_threads() {
        deliver(&turn::take());
    }
    turn::give_way();
}
