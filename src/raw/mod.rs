//! The raw entry: calls on untyped buffers, for those that wrap this library in another interface.
//!
//! [`Hypercube::run_raw`](crate::Hypercube::run_raw) and [`start_raw`](crate::Hypercube::start_raw) make them;
//! [`plan_raw`](crate::Hypercube::plan_raw) works one out that is run again and again. A [`Datatype`] says how elements lie in memory, an [`Operator`] how the bytes of elements are combined, a [`Call`] what is to be
//! done; nothing below is generic.
//! The typed calls of a communicator take the same way. Only the buffers are left to the caller's
//! care: all else is checked as in the typed calls.
//!
//! ```
//! use hypercoll::collective::{Call, Collective};
//! use hypercoll::raw::{Buffers, Datatype, Operator};
//! use hypercoll::schedule::Side;
//! use hypercoll::select::Options;
//!
//! let longest = hypercoll::threads::run(3, |cube| {
//!     let (send, mut receive) = ([cube.rank() as u8, 7], [0u8; 2]);
//!     let larger = |_: Side, from: &[u8], into: &mut [u8]| {
//!         from.iter().zip(into).for_each(|(from, into)| *into = (*into).max(*from));
//!     };
//!     let operator = Operator { name: "larger", commutes: true, combine: &larger };
//!     let call = Call::new(Collective::AllReduce, cube.size(), 2);
//!     let buffers = Buffers { send: send.as_ptr(), receive: receive.as_mut_ptr() };
//!     let byte = Datatype::contiguous("byte", 1);
//!     // SAFETY: two bytes each, which live until the call is over.
//!     unsafe { cube.run_raw(call, &Options::default(), buffers, &byte, Some(&operator)) }.unwrap();
//!     receive
//! });
//! assert_eq!(longest, [[2, 7]; 3]);
//! ```

pub(crate) mod elements;
pub(crate) mod located;
#[cfg(feature = "mpi")]
mod partition;
#[cfg(feature = "mpi")]
pub(crate) mod peers;
pub mod request;
pub(crate) mod strided;
#[cfg(test)]
mod tests;
#[cfg(feature = "mpi")]
mod user_operation;
#[cfg(feature = "mpi")]
pub(crate) mod view;

use crate::buffer::{Buffer, BufferMut, Elements, ElementsMut};
use crate::collective::{Blocks, Call, InPlace};
use crate::engine::{Shared, Ticket};
use crate::error::{Error, Result};
use crate::executor::memory::Span;
#[cfg(feature = "mpi")]
use crate::executor::patience::Patience;
use crate::hash::Fnv;
use crate::operation::Reduction;
use crate::plan::Plan;
use crate::schedule::Side;
use crate::select::Choice;
use std::panic::Location;
use std::rc::Rc;

/// A buffer that is borrowed for as long as a call may use it: its address, for when the call is over, and its elements.
pub(crate) fn lent<S: Buffer + ?Sized>(buffer: &S) -> (*const S, Elements<'_, S::Element>) {
    (buffer, buffer.elements())
}

/// The same of one to be written. The elements are borrowed from the address, so that it stays good when they have been written.
pub(crate) fn lent_mut<R: BufferMut + ?Sized>(buffer: &mut R) -> (*mut R, ElementsMut<'_, R::Element>) {
    let address: *mut R = buffer;
    // SAFETY: the one reference to it, which the argument has become.
    (address, unsafe { &mut *address }.elements_mut())
}

/// From now on communicators and their calls may be used by any thread of the process, one thread at a time. Where a thread waits for
/// other ranks it calls `give_way`, which may let other threads have their turns before it returns.
///
/// # Safety
/// No other thread uses this library yet. From now on whatever any thread does with it, to the drop of the last [`Hypercube`](crate::Hypercube), happens
/// under one lock of the caller's; `give_way` alone may leave it for a while.
pub unsafe fn threads_take_turns(give_way: fn()) {
    crate::engine::threads_take_turns(give_way);
}

/// From now on what is said of ranks that wait names the place in the program that `caller` finds, as `solve (solve.c:42)`: where another
/// interface wraps this library, all calls come from that one's source, which says nothing to its users. It is asked on the thread that
/// waits, and only when something is said, so that it may take its time. The first one counts.
#[cfg(feature = "mpi")]
pub fn callers_named_by(caller: fn() -> Option<String>) {
    crate::executor::caller::named_by(caller);
}

/// Moves all calls under way of the thread, or of all threads where they take turns, once: [`Hypercube::progress`](crate::Hypercube::progress)
/// without a communicator.
pub fn progress() -> bool {
    crate::engine::poll_all()
}

/// A number of this host: ranks share one if they have the same.
#[cfg(feature = "mpi")]
pub fn host() -> u64 {
    crate::executor::mpi::host()
}

/// Rank 0's text, on all ranks of a communicator, which have called what is named, and call this together. They wait for each other as
/// `HYPERCOLL_ROLL_CALL` and `HYPERCOLL_TIMEOUT` say, and a rank on which these make no sense as if they were not set: if it left, the others
/// would wait for it. No message of theirs can be taken for another one.
///
/// # Errors
/// [`Error::Mpi`] and [`Error::Timeout`].
#[cfg(feature = "mpi")]
pub fn told_by_rank_0(comm: &impl mpi::traits::Communicator, call: &'static str, text: String) -> Result<String> {
    crate::executor::mpi::by_rank_0(comm.as_raw(), call, Patience::of_environment().unwrap_or_default(), text)
}

/// Starts something nonblocking of MPI's on a communicator, in some memory, and waits until it is done (all ranks call this together, in what
/// is named); the memory again. While ranks wait for each other, as `HYPERCOLL_ROLL_CALL` and `HYPERCOLL_TIMEOUT` say, calls under way are moved,
/// and `meanwhile` is called.
///
/// # Errors
/// [`Error::Mpi`] if `start` returns no success, and [`Error::Timeout`]: then MPI keeps the memory.
///
/// # Safety
/// A live communicator, and `start` starts what uses no other memory.
#[cfg(feature = "mpi")]
pub unsafe fn together<T>(
    comm: mpi::ffi::MPI_Comm,
    call: &'static str,
    memory: T,
    start: impl FnOnce(&mut T, &mut mpi::ffi::MPI_Request) -> std::ffi::c_int,
    meanwhile: &dyn Fn(),
) -> Result<T> {
    let meanwhile = || {
        meanwhile();
        progress();
    };
    let patience = Patience::of_environment().unwrap_or_default();
    crate::executor::mpi::together(comm, call, patience, &meanwhile, memory, start)
}

/// Packs the data of elements that are not contiguous, one after another without gaps, and unpacks it.
pub trait Packing {
    /// The data of `count` elements at an address, into as many times [`Datatype::size`] bytes.
    ///
    /// # Safety
    /// The elements are there.
    unsafe fn pack(&self, from: *const u8, count: usize, into: &mut [u8]);

    /// The opposite; bytes between the data stay as they are.
    ///
    /// # Safety
    /// The elements are there, and nobody else uses them.
    unsafe fn unpack(&self, from: &[u8], into: *mut u8, count: usize);
}

/// How elements lie in memory.
#[derive(Clone, Copy)]
pub struct Datatype<'d> {
    /// Its name in messages; ranks whose datatypes differ in it, or in size, do not agree.
    pub name: &'static str,
    /// Bytes of data in an element.
    pub size: usize,
    /// Bytes from one element to the next.
    pub extent: isize,
    /// Bytes from the address of an element to its first one.
    pub lower_bound: isize,
    /// How data is gathered where there are gaps; `None` if elements are contiguous.
    pub packing: Option<&'d dyn Packing>,
}

impl Datatype<'_> {
    /// Elements without gaps.
    pub const fn contiguous(name: &'static str, size: usize) -> Datatype<'static> {
        Datatype { name, size, extent: size as isize, lower_bound: 0, packing: None }
    }
}

/// Combines the bytes of packed elements into others.
pub type Combine<'o> = dyn Fn(Side, &[u8], &mut [u8]) + 'o;

/// How elements are combined.
#[derive(Clone, Copy)]
pub struct Operator<'o> {
    /// Its name in messages; ranks whose operators differ in it do not agree.
    pub name: &'o str,
    /// Whether operands may be exchanged; if not, contributions are combined in rank order.
    pub commutes: bool,
    /// Combines packed elements: `into = from op into` on the left side, `into = into op from` on the right one. The bytes of both
    /// are as many, and aligned to 16 bytes where elements are of a size that asks for it.
    pub combine: &'o Combine<'o>,
}

impl Reduction<u8> for Operator<'_> {
    fn combine(&self, side: Side, from: &[u8], into: &mut [u8]) {
        (self.combine)(side, from, into);
    }

    fn commutes(&self) -> bool {
        self.commutes
    }

    fn name(&self) -> String {
        self.name.into()
    }

    fn signature(&self) -> u64 {
        Fnv::of(self.name)
    }
}

/// The buffers of a call on this rank; what the call does not use may be null.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// [`Call::send_len`] elements.
    pub send: *const u8,
    /// [`Call::receive_len`] elements.
    pub receive: *mut u8,
}

/// Buffers without gaps that stand for others, and what has to be unpacked when the call is over.
pub(crate) struct Packed<'d> {
    datatype: Datatype<'d>,
    receive: *mut u8,
    count: usize,
    _sent: Vec<u8>,
    received: Vec<u8>,
}

impl Packed<'_> {
    /// # Safety
    /// The elements are there, and nobody else uses them.
    pub(crate) unsafe fn unpack(&self) {
        if let Some(packing) = self.datatype.packing.filter(|_| self.count > 0) {
            packing.unpack(&self.received, self.receive, self.count);
        }
    }
}

/// A raw call that has been worked out, to be run again and again: see [`Hypercube::plan_raw`](crate::Hypercube::plan_raw).
pub struct RawPlan<'d> {
    pub(crate) plan: Rc<Plan>,
    pub(crate) datatype: Datatype<'d>,
    /// Hashes of the names of the datatype and of the operator.
    pub(crate) kind: u64,
    pub(crate) operation: u64,
    /// Where it was worked out.
    pub(crate) at: &'static Location<'static>,
}

impl RawPlan<'_> {
    /// What the call got, and what it is predicted to take.
    pub fn choice(&self) -> &Choice {
        &self.plan.choice
    }

    /// Bytes of the larger one of this rank's buffers.
    pub fn bytes(&self) -> usize {
        let (sent, received) = self.plan.lengths;
        sent.max(received) * self.plan.element
    }
}

/// A raw call that has been started. Dropping it waits.
#[must_use = "dropping it waits"]
pub struct RawRequest<'d> {
    engine: Shared,
    ticket: Option<Ticket>,
    packed: Option<Packed<'d>>,
}

impl<'d> RawRequest<'d> {
    pub(crate) fn of(engine: Shared, ticket: Ticket, packed: Option<Packed<'d>>) -> RawRequest<'d> {
        RawRequest { engine, ticket: Some(ticket), packed }
    }

    /// Moves all calls of the thread; whether this one is over, so that [`RawRequest::wait`] does not wait.
    pub fn look(&mut self) -> bool {
        request::look(&self.engine, self.ticket)
    }

    /// Whether this call is over, as far as it has been moved: after [`progress`]. In the middle of another call of its communicator
    /// that is not known.
    pub fn is_over(&self) -> bool {
        let Some(ticket) = self.ticket else { return true };
        self.engine.try_borrow().is_ok_and(|engine| engine.is_over(ticket))
    }

    /// Waits until the call is over on this rank.
    ///
    /// # Errors
    /// What has gone wrong, as for the typed calls.
    pub fn wait(mut self) -> Result<()> {
        let Some(ticket) = self.ticket else { return Ok(()) };
        {
            let mut engine = self.engine.try_borrow_mut().map_err(|_| Error::Nested)?;
            self.ticket = None;
            engine.wait(ticket)?;
        }
        // SAFETY: promised to whoever started it.
        self.packed.iter().for_each(|packed| unsafe { packed.unpack() });
        Ok(())
    }
}

impl Drop for RawRequest<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            if !request::end(&self.engine, ticket) {
                // In the middle of another call: what stands for buffers is still in use.
                std::mem::forget(self.packed.take());
            }
        }
    }
}

/// The spans of a call's buffers of so many elements, packed if they have gaps.
///
/// # Safety
/// The buffers have those elements.
pub(crate) unsafe fn packed<'d>(
    call: &Call,
    (send, receive): (usize, usize),
    buffers: Buffers,
    datatype: &Datatype<'d>,
) -> ([Span; 2], Option<Packed<'d>>) {
    let dangling = std::ptr::NonNull::<u128>::dangling().as_ptr().cast::<u8>();
    let span = |start: *mut u8, count: usize| match count {
        0 => Span::new(dangling, 0),
        _ => Span::new(start, count * datatype.size),
    };
    let Some(packing) = datatype.packing else {
        let first = |start: *mut u8| start.wrapping_offset(datatype.lower_bound);
        return ([span(first(buffers.send.cast_mut()), send), span(first(buffers.receive), receive)], None);
    };
    let mut sent = vec![0; send * datatype.size];
    let mut received = vec![0; receive * datatype.size];
    if send > 0 {
        packing.pack(buffers.send, send, &mut sent);
    }
    // What is received into may also be what is sent, or stay as it is in part.
    let meaning = call.collective.meaning();
    let apart = call.layout.is_some() || meaning.blocks == Blocks::Neighbors;
    let stays = apart || call.in_place || meaning.in_place == InPlace::Always;
    if receive > 0 && stays {
        packing.pack(buffers.receive, receive, &mut received);
    }
    let spans = [span(sent.as_mut_ptr(), send), span(received.as_mut_ptr(), receive)];
    (spans, Some(Packed { datatype: *datatype, receive: buffers.receive, count: receive, _sent: sent, received }))
}
