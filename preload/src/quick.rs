//! Calls that are known to go to MPI without another look: that costs less than what there is to see.
//!
//! Of each collective the last such call is remembered, by its communicator, count, predefined datatype and operation.

use crate::kind::Kind;
use crate::native;
use crate::native::ffi::{MPI_Comm, MPI_Datatype, MPI_Op};
use crate::session;
use crate::trial;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// What such a call is known by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    count: usize,
    datatype: usize,
    operation: usize,
}

/// In a cache line of its own.
#[repr(align(64))]
struct Known {
    comm: AtomicUsize,
    count: AtomicUsize,
    datatype: AtomicUsize,
    operation: AtomicUsize,
    /// For how many calls that is known.
    stands: AtomicPtr<AtomicU64>,
}

/// No communicator.
const NONE: usize = 1;

static KNOWN: [Known; 22] = [const {
    Known {
        comm: AtomicUsize::new(NONE),
        count: AtomicUsize::new(0),
        datatype: AtomicUsize::new(0),
        operation: AtomicUsize::new(0),
        stands: AtomicPtr::new(std::ptr::null_mut()),
    }
}; 22];
/// Whether every call is to be looked at, for an explanation that may be asked for.
static EXPLAINED: AtomicBool = AtomicBool::new(false);

impl Key {
    pub fn of(count: i64, datatype: MPI_Datatype) -> Option<Key> {
        Some(Key { count: count as usize, datatype: native::word(datatype), operation: 0 })
    }

    pub fn of_reduction(count: i64, datatype: MPI_Datatype, operation: MPI_Op) -> Option<Key> {
        Some(Key { count: count as usize, datatype: native::word(datatype), operation: native::word(operation) })
    }

    /// Of a call without data.
    pub const NOTHING: Option<Key> = Some(Key { count: 0, datatype: 0, operation: 0 });
}

/// Whether a call goes to MPI.
#[inline(always)]
pub fn is_native(kind: Kind, comm: MPI_Comm, key: Option<Key>) -> bool {
    let known = &KNOWN[kind as usize];
    let Some(Key { count, datatype, operation }) = key else { return false };
    known.comm.load(Relaxed) == native::word(comm)
        && known.count.load(Relaxed) == count
        && known.datatype.load(Relaxed) == datatype
        && known.operation.load(Relaxed) == operation
        // SAFETY: there as long as the communicator, with which all this is forgotten.
        && trial::use_up(unsafe { &*known.stands.load(Relaxed) })
}

/// Remembers that it does, for as many calls as a number says that is there as long as the communicator. Several threads would see one part of what another one writes.
pub fn remember(kind: Kind, comm: MPI_Comm, key: Option<Key>, stands: *const AtomicU64) {
    let Some(Key { count, datatype, operation }) = key else { return };
    let facts = session::facts();
    let predefined = datatype == 0 || facts.types.contains_key(&datatype);
    if !predefined || facts.asked.report.is_some() || session::several_threads() || EXPLAINED.load(Relaxed) {
        return;
    }
    let known = &KNOWN[kind as usize];
    known.count.store(count, Relaxed);
    known.datatype.store(datatype, Relaxed);
    known.operation.store(operation, Relaxed);
    known.stands.store(stands.cast_mut(), Relaxed);
    known.comm.store(native::word(comm), Relaxed);
}

/// Forgets all, as a communicator goes, or something else is asked of one.
pub fn forget() {
    KNOWN.iter().for_each(|known| known.comm.store(NONE, Relaxed));
}

/// From now on every call is looked at.
pub fn look_at_all() {
    EXPLAINED.store(true, Relaxed);
    forget();
}
