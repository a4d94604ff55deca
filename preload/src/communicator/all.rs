//! All communicators of the program: found, made, revoked and freed.

use super::{Communicator, Cube, OF_ANOTHER_JOB};
use crate::left::MPI_HAS_ENDED;
use crate::native::{self, ffi, SUCCESS};
use crate::quick;
use crate::requests;
use crate::session;
use crate::turn;
use ffi::MPI_Comm;
#[cfg(revoke)]
use hypercoll::collective::{Call, Collective};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};

/// Communicators that get a hypercube before anybody knows whether they will need it.
const MANY: u64 = 1000;

/// All communicators that there are.
#[derive(Default)]
pub struct Communicators {
    all: Vec<*mut Communicator>,
    /// The last ones that were looked for.
    last: [Option<(usize, *mut Communicator)>; 4],
    pub(super) served: u64,
}

fn cached(word: usize) -> usize {
    (word >> 4 ^ word >> 10 ^ word) % 4
}

impl Communicators {
    /// What is kept of a communicator; `None` if MPI knows of no such, or is freeing it.
    pub fn find(&mut self, comm: MPI_Comm) -> Option<*mut Communicator> {
        let word = native::word(comm);
        if let Some((known, found)) = self.last[cached(word)] {
            if known == word {
                return Some(found);
            }
        }
        if native::is_null_comm(comm) || is_leaving(word) {
            return None;
        }
        let (mut found, mut is_there) = (std::ptr::null_mut::<Communicator>(), 0);
        let key = session::facts().communicator_key;
        // SAFETY: what is no communicator is refused by MPI; the out parameters are valid, as in `attached_layout`.
        let code = unsafe { ffi::PMPI_Comm_get_attr(comm, key, (&raw mut found).cast::<c_void>(), &mut is_there) };
        if code != SUCCESS {
            return None;
        }
        if is_there == 0 {
            found = self.add(comm)?;
        }
        self.last[cached(word)] = Some((word, found));
        Some(found)
    }

    fn add(&mut self, comm: MPI_Comm) -> Option<*mut Communicator> {
        let (mut rank, mut size, mut inter): (c_int, c_int, c_int) = (0, 0, 0);
        // SAFETY: a live communicator, valid out parameters.
        let known = unsafe {
            ffi::PMPI_Comm_rank(comm, &mut rank) == SUCCESS
                && ffi::PMPI_Comm_size(comm, &mut size) == SUCCESS
                && ffi::PMPI_Comm_test_inter(comm, &mut inter) == SUCCESS
        };
        let cube = match (inter, size) {
            (0, 1) => Cube::Native("one rank alone"),
            (0, _) => Cube::Later,
            _ => Cube::Native("an intercommunicator"),
        };
        let own = Communicator::new(comm, (rank as usize, size as usize), cube, self.all.len());
        let own = Box::into_raw(Box::new(own));
        // SAFETY: a live communicator and key; `freed` gives the box back.
        let kept =
            known && unsafe { ffi::PMPI_Comm_set_attr(comm, session::facts().communicator_key, own.cast()) } == SUCCESS;
        if !kept {
            // SAFETY: nobody else has it.
            drop(unsafe { Box::from_raw(own) });
            return None;
        }
        self.all.push(own);
        Some(own)
    }

    /// # Safety
    /// It has been added, and is removed once.
    unsafe fn remove(&mut self, own: *mut Communicator) -> Communicator {
        // SAFETY: it is given back here, and so in the list until now.
        let place = unsafe { (*own).place };
        self.forget(|(_, known)| known == own);
        self.all.swap_remove(place);
        if let Some(&moved) = self.all.get(place) {
            // SAFETY: as above.
            unsafe { (*moved).place = place };
        }
        // SAFETY: as above, and nobody else has it.
        *unsafe { Box::from_raw(own) }
    }

    /// Such as these are looked for from now on.
    fn forget(&mut self, which: impl Fn((usize, *mut Communicator)) -> bool) {
        self.last.iter_mut().filter(|last| last.is_some_and(&which)).for_each(|last| *last = None);
    }

    /// How many have hypercubes.
    pub(super) fn live(&self) -> usize {
        // SAFETY: in the list.
        self.all.iter().filter(|&&own| matches!(unsafe { &(*own).cube }, Cube::Ours(_))).count()
    }

    /// MPI ends: the hypercubes go before it. How many there have been.
    pub fn let_go(&mut self) -> u64 {
        for &own in &self.all {
            // SAFETY: in the list.
            unsafe {
                (*own).cube = Cube::Native(MPI_HAS_ENDED);
                (*own).started = None;
                (*own).lanes.clear();
            }
        }
        self.served
    }
}

thread_local! {
    /// The communicators that this thread is having freed.
    static LEAVING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn is_leaving(word: usize) -> bool {
    LEAVING.with_borrow(|leaving| leaving.contains(&word))
}

/// Has a communicator freed by a function of MPI. In which order that calls the functions of attributes, ranks need not see alike, and ours may be
/// called before one of the program's that makes a call on the communicator: such calls are MPI's.
///
/// # Safety
/// As MPI says.
pub unsafe fn free(comm: *mut MPI_Comm, by: unsafe extern "C" fn(*mut MPI_Comm) -> c_int) -> c_int {
    if comm.is_null() || !session::is_active() {
        return by(comm);
    }
    let word = native::word(*comm);
    {
        let turn = turn::take();
        quick::forget_on(word);
        session::tables(&turn).communicators.forget(|(known, _)| known == word);
    }
    LEAVING.with_borrow_mut(|leaving| leaving.push(word));
    let code = by(comm);
    LEAVING.with_borrow_mut(|leaving| leaving.pop());
    code
}

/// A communicator is freed.
pub unsafe extern "C" fn freed(_: MPI_Comm, _: c_int, kept: *mut c_void, _: *mut c_void) -> c_int {
    let turn = turn::take();
    quick::forget();
    requests::outlive(kept.cast(), &turn);
    let own = session::tables(&turn).communicators.remove(kept.cast());
    // Its hypercube goes after the tables have been left, as it calls MPI.
    drop(own);
    SUCCESS
}

/// A communicator has been made, by all its ranks together. If all calls on it are to be ours it gets its hypercube now, as a nonblocking
/// call may not wait for one. A program that makes very many, few of which may ever have a call, gets the first ones' so.
///
/// # Safety
/// Null, or a live communicator, all of whose ranks do the same.
pub unsafe fn is_made(comm: MPI_Comm) {
    if !session::is_active() || session::facts().asked.from > 1 || !requests::are_possible() {
        return;
    }
    let turn = turn::take();
    let communicators = &mut session::tables(&turn).communicators;
    let Some(own) = communicators.find(comm) else { return };
    if let Cube::Later = (*own).cube {
        if !native::is_of_this_job(comm) {
            (*own).cube = OF_ANOTHER_JOB;
            return;
        }
        let few = communicators.served < MANY;
        let call = "the function that makes a communicator";
        let all_say = (*own).all_say(call, few);
        // If there can be none, each call says so.
        if let Ok(true) = (*own).met(all_say) {
            let _ = Communicator::make(own, call, true, &turn);
        }
    }
}

/// A communicator has been revoked by this rank, which says so to those that have a call on it under way. What comes later is MPI's to refuse.
///
/// # Safety
/// A live communicator.
#[cfg(revoke)]
pub unsafe fn is_revoked(comm: MPI_Comm) {
    if !session::is_active() {
        return;
    }
    let turn = turn::take();
    quick::forget();
    let Some(own) = session::tables(&turn).communicators.find(comm) else { return };
    if !std::mem::replace(&mut (*own).revoked, true) {
        for cube in (*own).cubes() {
            let why = hypercoll::Error::Communicator { why: "it has been revoked".into() };
            cube.refuse_raw(&Call::new(Collective::Barrier, (*own).size, 0), why);
        }
    }
}
