//! Communicators of several hosts that this rank has left, and others perhaps not yet.
//!
//! Ranks of other hosts tell each other when they leave, so that nobody waits for them. Such a message may come after its receiver has
//! left, too, and must not be taken for one of a later communicator, which could have the same number: a communicator is freed when all
//! of them have come. Nobody waits for that. It is looked for when other communicators come and go. One whose calls have failed on others
//! is never freed; those of them that MPI keeps from returning, because of a message to this rank, are then told that it has left.
//!
//! When MPI ends, what is in the list is left to it, with its memory: messages that nobody waits for any more.

use super::messages::Messages;
use mpi::ffi;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Departed {
    comm: ffi::MPI_Comm,
    messages: Messages,
    /// Those that are still to say that they have left.
    peers: Vec<usize>,
}

// SAFETY: it is used under a lock, by threads that make or free a communicator just then, and so may call MPI.
unsafe impl Send for Departed {}

/// Those of all threads, as the one that has left may end. It is never dropped.
fn departed() -> MutexGuard<'static, Vec<Departed>> {
    static DEPARTED: Mutex<Vec<Departed>> = Mutex::new(Vec::new());
    DEPARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves a communicator that is ours; these peers leave it as well, at some time.
pub(super) fn leave(comm: ffi::MPI_Comm, messages: Messages, peers: Vec<usize>) {
    departed().push(Departed { comm, messages, peers });
    free_those_that_all_have_left();
}

/// Looks whether any can be freed.
pub(super) fn free_those_that_all_have_left() {
    let free = |departed: &mut Departed| {
        let is_free = departed.messages.have_left(&departed.peers);
        if is_free {
            // SAFETY: the communicator is ours and is freed once; nothing is under way on it. MPI has not been ended.
            unsafe { ffi::PMPI_Comm_free(&mut departed.comm) };
        }
        is_free
    };
    // What MPI calls when a communicator is freed may leave another one.
    let mut all = std::mem::take(&mut *departed());
    all.retain_mut(|departed| !free(departed));
    departed().append(&mut all);
}

/// How many have been left and not been freed.
#[cfg(test)]
pub(super) fn count() -> usize {
    departed().len()
}
