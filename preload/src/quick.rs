//! Calls that are known: to go to MPI without another look, which costs less than what there is to see, or to be ours as they were before.
//!
//! Of each collective some are remembered, by their communicator, counts, predefined datatypes, operation and root, and by what is seen of their
//! buffers.

use crate::communicator::Communicator;
use crate::failure;
use crate::kind::Kind;
use crate::native::ffi::{MPI_Comm, MPI_Datatype, MPI_Op};
use crate::native::{self, SUCCESS};
use crate::operation::Operation;
use crate::session;
use crate::stands::Stands;
use crate::turn;
use hypercoll::raw::{Buffers, RawPlan};
use hypercoll::Hypercube;
use std::ffi::{c_int, c_void};
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// What such a call is known by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    count: usize,
    datatype: usize,
    /// An operation, or the datatype of what is received.
    other: usize,
    /// The count of that; of a call that has lists, what is read of them.
    other_count: usize,
    /// The root, and what is seen of the buffers.
    form: usize,
}

/// A call of ours, worked out.
pub struct Again {
    pub own: *mut Communicator,
    pub cube: Rc<Hypercube>,
    pub planned: RawPlan<'static>,
    pub operation: Option<Operation>,
    /// What is noted of it while the machine is not measured.
    pub early: f64,
}

/// Who makes a call.
pub enum Who {
    Native,
    Ours(*const Again),
    /// That is to be seen.
    Unknown,
}

/// In a cache line of its own.
#[repr(align(64))]
struct Known {
    comm: AtomicUsize,
    count: AtomicUsize,
    datatype: AtomicUsize,
    other: AtomicUsize,
    other_count: AtomicUsize,
    /// For how many calls that is known.
    stands: AtomicPtr<Stands>,
    form: AtomicUsize,
    /// What is ours; null if the call goes to MPI. A counted reference.
    again: AtomicPtr<Again>,
}

/// No communicator, nor anything that a program may pass for one: neither an integer as [`native::word`] has it, nor an address.
const NONE: usize = 1 << 62;
/// Calls of a collective that are known at a time, a power of two from 64 on.
const KEPT: usize = 128;
/// No root has it.
const STARTED: usize = 1 << 62;
/// Bits of a number of ranks.
const ENTRIES: u32 = 31;

/// The calls of a collective that are known.
struct Table {
    known: [Known; KEPT],
    /// A bit for each that has been remembered: to forget a few takes no look at all places.
    remembered: [AtomicU64; KEPT / 64],
}

static TABLES: [Table; 22] = [const {
    Table {
        known: [const {
            Known {
                comm: AtomicUsize::new(NONE),
                count: AtomicUsize::new(0),
                datatype: AtomicUsize::new(0),
                other: AtomicUsize::new(0),
                other_count: AtomicUsize::new(0),
                stands: AtomicPtr::new(std::ptr::null_mut()),
                again: AtomicPtr::new(std::ptr::null_mut()),
                form: AtomicUsize::new(0),
            }
        }; KEPT],
        remembered: [const { AtomicU64::new(0) }; KEPT / 64],
    }
}; 22];
/// Whether every call is to be looked at, for an explanation that may be asked for.
static EXPLAINED: AtomicBool = AtomicBool::new(false);

impl Key {
    #[inline(always)]
    pub fn of(count: i64, datatype: MPI_Datatype, root: i64, buffer: *const c_void) -> Key {
        let form = form(root, std::ptr::null(), buffer);
        Key { count: count as usize, datatype: native::word(datatype), form, ..Key::NOTHING }
    }

    /// Of a call that has blocks of one length. (Arguments that count at the root alone are part of it on all ranks: a call that differs in them
    /// is merely not known.)
    #[inline(always)]
    pub fn of_blocks(
        [send_count, receive_count]: [i64; 2],
        [send_type, receive_type]: [MPI_Datatype; 2],
        root: i64,
        send: *const c_void,
        receive: *const c_void,
    ) -> Key {
        let (datatype, other) = (native::word(send_type), native::word(receive_type));
        let (count, other_count) = (send_count as usize, receive_count as usize);
        Key { count, datatype, other, other_count, form: form(root, send, receive) }
    }

    /// Of a call that moves blocks of lengths of their own: who makes it depends on no more than this and what is seen in its lists, if it makes sense.
    #[inline(always)]
    pub fn of_lists(types: [MPI_Datatype; 2], root: i64, send: *const c_void, receive: *const c_void) -> Key {
        Key::of_blocks([0; 2], types, root, send, receive)
    }

    /// The same, where this rank reads so many entries, and sees something in them on which it depends who makes it, if that is a number for which
    /// there is room.
    #[inline(always)]
    pub fn reading(self, entries: usize, seen: usize) -> Option<Key> {
        let has_room = entries < 1 << ENTRIES && seen < 1 << (usize::BITS - ENTRIES);
        has_room.then_some(Key { other_count: seen << ENTRIES | entries, ..self })
    }

    #[inline(always)]
    pub fn of_reduction(
        count: i64,
        datatype: MPI_Datatype,
        operation: MPI_Op,
        root: i64,
        send: *const c_void,
        receive: *const c_void,
    ) -> Key {
        let (datatype, other) = (native::word(datatype), native::word(operation));
        Key { count: count as usize, datatype, other, other_count: 0, form: form(root, send, receive) }
    }

    /// The same of a call that is only started.
    #[inline(always)]
    pub fn started(self) -> Key {
        Key { form: self.form ^ STARTED, ..self }
    }

    /// Of a call without data.
    pub const NOTHING: Key = Key { count: 0, datatype: 0, other: 0, other_count: 0, form: 0 };

    /// The place of such a call on a communicator, of each root another one, so that roots in turn do not drive each other out. Products of odd
    /// numbers do not wait for each other.
    #[inline(always)]
    fn place(&self, comm: MPI_Comm) -> usize {
        let Key { count, datatype, other, form, .. } = *self;
        // (Turned, so that a call that is started has another place than one like it that is waited for.)
        let numbers = count ^ form.rotate_left(24);
        let handles = native::word(comm) ^ datatype ^ other.rotate_left(20);
        let numbers = (numbers as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = numbers ^ (handles as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        (mixed >> (u64::BITS - KEPT.ilog2())) as usize
    }
}

/// By what is seen of its buffers a call makes sense, or is to be refused.
#[inline(always)]
fn form(root: i64, send: *const c_void, receive: *const c_void) -> usize {
    let in_place = native::in_place();
    let seen = [send == in_place, receive == in_place, send.is_null(), receive.is_null(), send == receive];
    seen.into_iter().fold(root as usize, |form, seen| form << 1 | usize::from(seen))
}

/// The call of a collective that was found last, by all its arguments: in loops to compare these takes less than to look for the call.
#[repr(align(128))]
struct Last {
    arguments: [AtomicUsize; 8],
    known: AtomicPtr<Known>,
}

static LAST: [Last; 22] =
    [const { Last { arguments: [const { AtomicUsize::new(NONE) }; 8], known: AtomicPtr::new(std::ptr::null_mut()) } };
        22];

impl Last {
    /// From now on it is none. (All calls have a communicator, and so one argument at least that is not this.)
    fn forget(&self) {
        self.arguments.iter().for_each(|argument| argument.store(NONE, Relaxed));
    }
}

/// Who makes a call with these arguments, if it is the last one of which that was asked: then it is one fewer for which that is known.
#[inline(always)]
pub fn who_is_last<const N: usize>(kind: Kind, arguments: [usize; N]) -> Who {
    let last = &LAST[kind as usize];
    match last.arguments.iter().zip(&arguments).all(|(last, argument)| last.load(Relaxed) == *argument) {
        // SAFETY: what is in static memory, as it was noted with such arguments.
        true => unsafe { &*last.known.load(Relaxed) }.who(),
        false => Who::Unknown,
    }
}

/// Who makes a call with these arguments, if that is known: the same.
#[inline(always)]
pub fn who<const N: usize>(kind: Kind, comm: MPI_Comm, key: Key, arguments: [usize; N]) -> Who {
    let Some(known) = find(kind, comm, key) else { return Who::Unknown };
    let last = &LAST[kind as usize];
    last.known.store(std::ptr::from_ref(known).cast_mut(), Relaxed);
    last.arguments.iter().zip(arguments).for_each(|(last, argument)| last.store(argument, Relaxed));
    known.who()
}

/// Whether a call that is only started goes to MPI: the same.
#[inline(always)]
pub fn is_native_if_started(kind: Kind, comm: MPI_Comm, key: Key) -> bool {
    find(kind, comm, key.started()).is_some_and(|known| known.stands().count_started())
}

#[inline(always)]
fn find(kind: Kind, comm: MPI_Comm, key: Key) -> Option<&'static Known> {
    let known = &TABLES[kind as usize].known[key.place(comm)];
    (known.is(comm, key) && known.other_count.load(Relaxed) == key.other_count).then_some(known)
}

/// The same of a call that has lists, of which is asked what is seen in as many entries as this rank reads, if they make sense.
#[inline(always)]
pub fn who_of_lists(kind: Kind, comm: MPI_Comm, key: Key, see: impl FnOnce(usize) -> Option<usize>) -> Who {
    let known = &TABLES[kind as usize].known[key.place(comm)];
    if !known.is(comm, key) {
        return Who::Unknown;
    }
    let entries = known.other_count.load(Relaxed) & ((1 << ENTRIES) - 1);
    match see(entries).and_then(|seen| key.reading(entries, seen)) {
        Some(key) => find(kind, comm, key).map_or(Who::Unknown, Known::who),
        None => Who::Unknown,
    }
}

/// Remembers who makes a call, for as many calls as that stands, which is there as long as the communicator. Several threads would see one
/// part of what another one writes.
pub fn remember(kind: Kind, comm: MPI_Comm, key: Option<Key>, stands: *const Stands, again: Option<Again>) {
    let Some(key) = key else { return };
    let facts = session::facts();
    let Key { count, datatype, other, other_count, form } = key;
    // What is the program's may come to have the same handle, on one rank alone. (No datatype is one that does not count.)
    let is_type = |word| native::is_null_word(word) || facts.types.contains_key(&word);
    let is_operation = || facts.operations.iter().any(|(known, _)| *known == other);
    if !is_type(datatype) || !is_type(other) && !is_operation() {
        return;
    }
    if facts.asked.report.is_some() || session::several_threads() || EXPLAINED.load(Relaxed) {
        return;
    }
    let (table, place) = (&TABLES[kind as usize], key.place(comm));
    let (known, remembered) = (&table.known[place], &table.remembered[place / 64]);
    known.forget();
    remembered.store(remembered.load(Relaxed) | 1 << (place % 64), Relaxed);
    known.count.store(count, Relaxed);
    known.datatype.store(datatype, Relaxed);
    known.other.store(other, Relaxed);
    known.other_count.store(other_count, Relaxed);
    known.stands.store(stands.cast_mut(), Relaxed);
    let again = again.map_or(std::ptr::null(), |again| Rc::into_raw(Rc::new(again)));
    known.again.store(again.cast_mut(), Relaxed);
    known.form.store(form, Relaxed);
    known.comm.store(native::word(comm), Relaxed);
}

impl Known {
    /// Whether it is such a call, but for a second count. (With another root a call may be one that MPI refuses, and a rank makes alone: it is
    /// none of those for which something stands.)
    #[inline(always)]
    fn is(&self, comm: MPI_Comm, key: Key) -> bool {
        let Key { count, datatype, other, form, .. } = key;
        self.comm.load(Relaxed) == native::word(comm)
            && self.count.load(Relaxed) == count
            && self.datatype.load(Relaxed) == datatype
            && self.other.load(Relaxed) == other
            && self.form.load(Relaxed) == form
    }

    #[inline(always)]
    fn who(&self) -> Who {
        let again = self.again.load(Relaxed);
        match (self.stands().count(), again.is_null()) {
            (false, _) => Who::Unknown,
            (true, true) => Who::Native,
            (true, false) => Who::Ours(again),
        }
    }

    #[inline(always)]
    fn stands(&self) -> &Stands {
        // SAFETY: there as long as the communicator, with which all this is forgotten.
        unsafe { &*self.stands.load(Relaxed) }
    }

    fn forget(&self) {
        LAST.iter().filter(|last| std::ptr::eq(last.known.load(Relaxed), self)).for_each(Last::forget);
        self.comm.store(NONE, Relaxed);
        let again = self.again.swap(std::ptr::null_mut(), Relaxed);
        if !again.is_null() {
            // SAFETY: a counted reference, which nobody finds here any more.
            drop(unsafe { Rc::from_raw(again.cast_const()) });
        }
    }
}

/// All that has been remembered.
fn remembered() -> impl Iterator<Item = &'static Known> {
    TABLES.iter().flat_map(|table| {
        let places = (0..KEPT).step_by(64).zip(&table.remembered).flat_map(|(first, bits)| {
            let mut bits = bits.load(Relaxed);
            std::iter::from_fn(move || {
                let place = (bits != 0).then(|| first + bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(place)
            })
        });
        places.map(|place| &table.known[place])
    })
}

/// Makes a call of ours again.
///
/// # Safety
/// As [`who`] has found it, for buffers that are as MPI says.
#[inline(never)]
pub unsafe fn again(
    kind: Kind,
    comm: MPI_Comm,
    again: *const Again,
    send: *const c_void,
    receive: *const c_void,
) -> c_int {
    // It may be forgotten in the middle of the call.
    Rc::increment_strong_count(again);
    let again = Rc::from_raw(again);
    let turn = turn::take();
    ((*again.own).left, (*again.own).last) = (None, Weak::new());
    (*again.own).note_again(again.early);
    // The data of predefined datatypes begins where they do.
    let buffers = Buffers { send: send.cast(), receive: receive.cast_mut().cast() };
    let outcome =
        Operation::lent(again.operation.as_ref(), |operator| again.cube.run_planned(&again.planned, buffers, operator));
    match outcome {
        Ok(()) => SUCCESS,
        Err(error) => {
            let rank = (*again.own).rank;
            drop(turn);
            failure::raise(comm, kind.name(), rank, &error)
        }
    }
}

/// Forgets all, as a communicator goes, or something else is asked of one.
pub fn forget() {
    remembered().for_each(Known::forget);
    TABLES.iter().flat_map(|table| &table.remembered).for_each(|remembered| remembered.store(0, Relaxed));
}

/// Forgets the calls on a communicator.
pub fn forget_on(comm: usize) {
    remembered().filter(|known| known.comm.load(Relaxed) == comm).for_each(Known::forget);
}

/// Forgets the calls of a verdict, as there is another one.
pub fn forget_of(verdict: *const Stands) {
    remembered().filter(|known| std::ptr::eq(known.stands.load(Relaxed), verdict)).for_each(Known::forget);
}

/// From now on every call is looked at.
pub fn look_at_all() {
    EXPLAINED.store(true, Relaxed);
    forget();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_take_turns_do_not_share_a_place() {
        // SAFETY: a constant of the support library.
        let world = unsafe { crate::native::ffi::RSMPI_COMM_WORLD };
        let of_root = |root: usize| Key { form: root << 5, ..Key::NOTHING };
        for key in [Key::NOTHING, Key { count: 8, ..Key::NOTHING }, of_root(1), of_root(2), of_root(3)] {
            assert_ne!(key.place(world), key.started().place(world));
        }
        assert_ne!(of_root(1).place(world), of_root(2).place(world));
    }

    #[test]
    fn what_is_seen_in_lists_is_part_of_a_key_if_there_is_room() {
        let reading = |entries, seen| Key::NOTHING.reading(entries, seen).map(|key| key.other_count);
        assert_ne!(reading(3, 4), reading(4, 3));
        assert_ne!(reading(3, 4), reading(3, 4 | 1 << 32));
        assert_eq!((reading(1 << 31, 0), reading(1, 1 << 33)), (None, None));
        assert!(reading((1 << 31) - 1, (1 << 33) - 1).is_some());
    }
}
