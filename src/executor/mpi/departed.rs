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
use std::cell::RefCell;

struct Departed {
    comm: ffi::MPI_Comm,
    messages: Messages,
    /// Those that are still to say that they have left.
    peers: Vec<usize>,
}

impl Drop for Departed {
    /// MPI may have been ended, or not be through with messages: it keeps their memory.
    fn drop(&mut self) {
        self.messages.abandon();
    }
}

thread_local! {
    static DEPARTED: RefCell<Vec<Departed>> = const { RefCell::new(Vec::new()) };
}

/// Leaves a communicator that is ours; these peers leave it as well, at some time.
pub(super) fn leave(comm: ffi::MPI_Comm, messages: Messages, peers: Vec<usize>) {
    let departed = Departed { comm, messages, peers };
    // Where the thread ends just now, there is no list any more, and MPI keeps it all.
    let _ = DEPARTED.try_with(|list| list.borrow_mut().push(departed));
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
    let _ = DEPARTED.try_with(|list| list.borrow_mut().retain_mut(|departed| !free(departed)));
}
