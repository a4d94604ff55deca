//! The collectives of MPI as calls of the library: what a buffer, a count, a datatype and an operation of MPI's are there.
//!
//! One function a collective, for its blocking, nonblocking and persistent form. Each takes the native function as well, for calls that
//! are not ours: which ones that are, all ranks of a communicator decide alike.

mod lists;
mod moving;
mod reducing;
mod serving;

pub use crate::left::Left;
use lists::Listed;
pub use lists::{is_short, List};
pub use moving::{
    allgather, allgatherv, alltoall, alltoallv, alltoallw, barrier, bcast, gather, gatherv, scatter, scatterv,
};
pub use reducing::{allreduce, exscan, reduce, reduce_scatter, reduce_scatter_block, scan};
pub use serving::pass;

use crate::communicator::{Communicator, Cube};
use crate::datatype::{Back, Data, Layout, Lent};
use crate::kind::{Form, Kind};
use crate::left::MPI_HAS_ENDED;
use crate::native::{self, ffi};
use crate::operation::Operation;
use crate::quick::{self, Again, Key};
use crate::requests::{self, Pin, Pinned, Start, Transfer};
use crate::session;
use crate::stands::Stands;
use crate::trial::{Class, Next, Who};
use crate::turn;
use ffi::{MPI_Datatype, MPI_Op, MPI_Request};
use hypercoll::collective::{Call, Collective};
use hypercoll::raw::{Buffers, Datatype};
use hypercoll::Error;
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use std::time::Instant;

/// What is moved as it is.
const BYTE: Datatype = Datatype::contiguous("byte", 1);

/// Bytes of the larger buffer of the longest calls of ours that are made again without a look.
const LONGEST_KNOWN: usize = 256 << 10;

/// The native function with the arguments of a call.
pub struct Native<'n> {
    pub kind: Kind,
    pub how: How,
    pub call: &'n dyn Fn() -> c_int,
}

/// How a call is made.
#[derive(Clone, Copy)]
pub enum How {
    /// It is over when the function returns.
    Waits,
    /// It is started, and the request put here.
    Starts(*mut MPI_Request),
    /// The same of one that is to be started later, again and again.
    Prepares(*mut MPI_Request),
}

impl How {
    pub fn form(self) -> Form {
        match self {
            How::Waits => Form::Blocking,
            How::Starts(_) => Form::Nonblocking,
            How::Prepares(_) => Form::Persistent,
        }
    }
}

/// MPI finds what is wrong with arguments, and says so.
const WRONG: Left = Left::ToMpi("arguments that make no sense");
const UNDEFINED: Left = Left::ToMpi("an operation that the standard does not define for the datatype");

/// A call that is ours.
pub struct Ours {
    own: *mut Communicator,
    kind: Kind,
    key: Option<Key>,
    rank: usize,
    size: usize,
    /// Bytes that the call is about.
    pub bytes: usize,
    class: Class,
    /// What a call has that is only started.
    pub start: Option<Box<Start>>,
    /// When it began, if it is timed to see who is faster.
    timed: Option<Instant>,
    /// For how many calls it is known that they are ours, if it is.
    stands: Option<*const Stands>,
    /// What it uses that the program may free before it is over.
    pub pins: Pinned,
}

impl Ours {
    /// A call that is waited for, by this rank of so many.
    fn waited_for(own: *mut Communicator, kind: Kind, key: Option<Key>, rank: usize, size: usize) -> Ours {
        let pins = Pinned::default();
        let class = Class::default();
        Ours { own, kind, key, rank, size, bytes: 0, class, start: None, timed: None, stands: None, pins }
    }

    /// The same of one that is started.
    pub fn started(
        own: *mut Communicator,
        kind: Kind,
        key: Option<Key>,
        rank: usize,
        size: usize,
        start: Start,
    ) -> Ours {
        Ours { start: Some(Box::new(start)), ..Ours::waited_for(own, kind, key, rank, size) }
    }

    /// So many entries of its lists are read, and something seen in them: see [`Key::reading`].
    fn reads(&mut self, entries: usize, seen: usize) {
        self.key = self.key.and_then(|key| key.reading(entries, seen));
    }

    fn root(&self, root: i64) -> Result<usize, Left> {
        usize::try_from(root).ok().filter(|&root| root < self.size).ok_or(WRONG)
    }

    /// Sees to it that a datatype or an operation is there until the call is over, where the program goes on before it is: this thread, or another.
    fn keep(&mut self, pin: impl FnOnce() -> Option<Pin>) {
        let goes_on = match &self.start {
            // What a persistent call uses is kept since that was made.
            Some(start) => !start.is_chosen(),
            None => session::several_threads(),
        };
        if goes_on {
            self.pins.add(pin(), &turn::take());
        }
    }

    /// An operation on elements of a datatype.
    fn operation(&mut self, op: MPI_Op, datatype: MPI_Datatype, layout: Layout) -> Result<Operation, Left> {
        let operation = Operation::of(op, datatype, layout).ok_or(UNDEFINED)?;
        self.keep(|| Pin::of_operation(op));
        Ok(operation)
    }

    fn data(&mut self, at: *const c_void, count: i64, datatype: MPI_Datatype) -> Result<Data, Left> {
        let count = usize::try_from(count).map_err(|_| WRONG)?;
        let layout = Layout::of(datatype).ok_or(WRONG)?;
        count.checked_mul(layout.size.max(1)).filter(|&bytes| bytes <= isize::MAX as usize).ok_or(WRONG)?;
        if is_nowhere(at, count, &layout) {
            return Err(WRONG);
        }
        self.keep(|| Pin::of_type(datatype));
        Ok(Data { at: at.cast_mut().cast(), count, datatype, layout })
    }

    /// The same elements of another buffer, of the same datatype.
    fn like(&self, data: Data, at: *const c_void) -> Result<Data, Left> {
        if is_nowhere(at, data.count, &data.layout) {
            return Err(WRONG);
        }
        Ok(Data { at: at.cast_mut().cast(), ..data })
    }

    /// One block of `count` elements a rank, one after another.
    fn all(&mut self, at: *const c_void, count: i64, datatype: MPI_Datatype) -> Result<Data, Left> {
        let all = count.checked_mul(self.size as i64).ok_or(WRONG)?;
        self.data(at, all, datatype)
    }

    /// Block `index` of some that lie one after another.
    fn block(&self, all: &Data, index: usize) -> Data {
        let count = all.count / self.size;
        Data { at: all.at.wrapping_offset((index * count) as isize * all.layout.extent), count, ..*all }
    }

    /// # Safety
    /// The lists have as many entries as there are ranks.
    unsafe fn listed<'l>(
        &mut self,
        at: *const c_void,
        counts: &'l List,
        displacements: &'l List,
        datatype: MPI_Datatype,
    ) -> Result<Listed<'l>, Left> {
        let layout = Layout::of(datatype).ok_or(WRONG)?;
        self.keep(|| Pin::of_type(datatype));
        Listed::of(self.size, (at, datatype, layout), counts, displacements)
    }

    /// Notes what the call is about, and whether it is ours. `exact`: its result is the same whoever makes it. Its arguments make sense: one
    /// that MPI refuses a rank may make alone, and whatever depends on the number of calls would come about on that rank only.
    ///
    /// Of a nonblocking or persistent one nobody knows how long it takes, as the program does something else meanwhile. So it is made by
    /// MPI where blocking ones of its kind and size are; of which size those were must be known.
    fn choose(&mut self, call: &Call, element: usize, exact: bool) -> Result<(), Left> {
        // (Blocks of one length are another function's, which may be made in another way.)
        let measured = call.layout.is_none() && self.kind != Kind::ReduceScatter;
        self.chosen(Class::of(call.count * element), measured, call, element, exact)
    }

    /// The same of a call that moves bytes and is going to have a layout, which takes longer to make than to leave the call to MPI.
    fn choose_of(&mut self, class: Class, call: &Call) -> Result<(), Left> {
        self.chosen(class, false, call, 1, true)
    }

    /// `measured`: whether such calls are among those of which it may have been measured what they take natively.
    fn chosen(&mut self, class: Class, measured: bool, call: &Call, element: usize, exact: bool) -> Result<(), Left> {
        (self.bytes, self.class) = (call.count * element, class);
        let form = match &self.start {
            Some(start) if start.is_chosen() => return Ok(()),
            Some(start) => Some(Form::Nonblocking).filter(|_| start.counts()),
            None => Some(Form::Blocking),
        };
        let is_sum = !exact && form.is_some();
        if let Some(form) = form {
            let bytes = (class != Class::Any).then_some(self.bytes);
            // SAFETY: there while the call is: the program frees no communicator in the middle of one of its calls.
            unsafe { (*self.own).note_worth(bytes, is_sum) };
            // SAFETY: live, and all ranks make the call.
            let counted = unsafe { Communicator::count(self.own, self.kind.name(), form, &turn::take()) };
            // SAFETY: as above.
            let own = unsafe { &*self.own };
            if counted.is_err() && form == Form::Nonblocking && own.is_left_alone(is_sum) {
                self.remember(own.always(), None);
            }
            counted?;
        }
        // SAFETY: as above.
        let own = unsafe { &mut *self.own };
        if is_sum && own.leaves_sums() {
            return Err(Left::ToMpi("one of few sums over links"));
        }
        if measured && own.native_is_faster(call, element) {
            self.remember(own.always(), None);
            return Err(Left::ToMpi("measured faster"));
        }
        if let Some(start) = &mut self.start {
            let is_found = class != Class::Any && own.may_be_native(exact);
            if let Some(stands) = own.found_native(self.kind, class).filter(|_| is_found) {
                self.remember(stands, None);
                return Err(Left::ToMpi("found faster"));
            }
            return start.chosen(own.asked(call, element));
        }
        if !own.may_be_native(exact) {
            self.stands = Some(own.always());
            return Ok(());
        }
        let comm = own.comm;
        // SAFETY: live, as above; all ranks have called this, of the same class.
        let next = unsafe { own.trial(self.kind, self.class).next(self.kind.name(), self.class, comm) };
        let next = own.met(next)?;
        self.timed = matches!(next, Next::Timed(_)).then(Instant::now);
        match next {
            Next::Timed(Who::Ours) => Ok(()),
            Next::Timed(Who::Native) => Err(Left::ToMpi("tried out")),
            Next::By(who) => {
                let trial = own.trial(self.kind, self.class);
                let stands: Option<*const Stands> = trial.is_over().then(|| &raw const *trial.stands());
                match (who, stands) {
                    (Who::Ours, stands) => {
                        self.stands = stands;
                        Ok(())
                    }
                    (Who::Native, Some(stands)) => {
                        self.remember(stands, None);
                        Err(Left::ToMpi("found faster"))
                    }
                    (Who::Native, None) => Err(Left::ToMpi("tried out")),
                }
            }
        }
    }

    /// Who makes calls like this one, from now on, if that is to stay so.
    fn remember(&self, stands: *const Stands, again: Option<Again>) {
        // SAFETY: there while the call is, as in `choose`.
        let comm = unsafe { (*self.own).comm };
        quick::remember(self.kind, comm, self.key, stands, again);
    }

    /// What this rank sends to itself is as long as what it receives from itself. If not, one of its buffers is shorter than the call takes
    /// it for.
    fn suits_itself(&self, call: &Call, sent: usize, received: usize) -> Result<(), Left> {
        if sent == received {
            return Ok(());
        }
        let expected = received.to_string();
        let why =
            Error::Length { argument: "send", got: sent, expected, why: "bytes that this rank receives from itself" };
        if let Some(start) = &self.start {
            return Err(start.refuse(call, why).into());
        }
        // SAFETY: there while the call is, as in `choose`.
        match unsafe { &(*self.own).cube } {
            Cube::Ours(cube) => Err(cube.refuse_raw(call, why).into()),
            _ => Err(why.into()),
        }
    }

    /// Memory that is sent and received into at once, which some MPIs refuse: they say so.
    fn apart(&self, sent: *const c_void, received: *const c_void) -> Result<(), Left> {
        if sent == received && session::facts().refuses_aliases {
            return Err(WRONG);
        }
        Ok(())
    }

    /// The same of a reduction to a rank and to all, of which Open MPI refuses at least so many elements, whatever else it takes.
    fn apart_if_reduced(&self, sent: *const c_void, received: *const c_void, least: bool) -> Result<(), Left> {
        if least && sent == received && session::facts().refuses_reduced_aliases {
            return Err(WRONG);
        }
        self.apart(sent, received)
    }

    fn call(&self, collective: Collective, count: usize) -> Call {
        Call::new(collective, self.size, count)
    }

    /// Makes a call of bytes that are moved, or starts it.
    ///
    /// # Safety
    /// As for [`hypercoll::Hypercube::start_raw`].
    unsafe fn make(&mut self, call: Call, sent: Lent, received: Lent, back: impl Into<Back>) -> Result<(), Left> {
        self.make_by(call, sent, received, back.into(), &BYTE, None)
    }

    /// The same of elements that are combined.
    ///
    /// # Safety
    /// As for [`hypercoll::Hypercube::start_raw`].
    unsafe fn make_by(
        &mut self,
        call: Call,
        sent: Lent,
        received: Lent,
        back: Back,
        element: &Datatype<'static>,
        op: Option<Operation>,
    ) -> Result<(), Left> {
        if let Some(start) = &mut self.start {
            return start.begin(call, sent, received, back, element, op);
        }
        let Cube::Ours(cube) = &(*self.own).cube else { return Err(Left::ToMpi(MPI_HAS_ENDED)) };
        let options = (*self.own).asked(&call, element.size);
        let exact = || op.as_ref().is_none_or(|op| op.is_exact(self.size));
        let early = (!cube.is_measured()).then(|| (call.clone(), exact()));
        if session::several_threads() && requests::any() {
            // Another thread may wait for a call on this communicator, and cannot see that it is over while this one waits in the library.
            if let Some((early, exact)) = early {
                let planned =
                    Operation::lent(op.as_ref(), |operator| cube.plan_raw(call.clone(), &options, element, operator))?;
                (*self.own).note_early(early, element.size, exact, planned.choice());
            }
            let transfer = Transfer::begin(cube, call, &options, (sent, received, back), element, op)?;
            return Ok(transfer.wait()?);
        }
        let buffers = Buffers { send: sent.start, receive: received.start };
        let is_plain = call.layout.is_none();
        let planned = Operation::lent(op.as_ref(), |operator| {
            let planned = cube.plan_raw(call, &options, element, operator)?;
            cube.run_planned(&planned, buffers, operator)?;
            Ok::<_, Error>(planned)
        })?;
        let early = early.map(|(call, exact)| (*self.own).note_early(call, element.size, exact, planned.choice()));
        back.returned(&received);
        // With the program's own buffers, such a call can be made again without a look at what it is. (To that a long one owes nothing, and its plan
        // may be long, too.)
        let is_known = is_plain && planned.bytes() <= LONGEST_KNOWN && sent.is_direct() && received.is_direct();
        if let Some(stands) = self.stands.filter(|_| is_known && self.key.is_some()) {
            let (own, cube, early) = (self.own, Rc::clone(cube), early.unwrap_or(0.0));
            let again = Again { own, cube, planned, operation: op, early };
            self.remember(stands, Some(again));
        }
        Ok(())
    }
}

#[inline]
pub fn is_in_place(at: *const c_void) -> bool {
    at == native::in_place()
}

/// Whether there can be no elements at an address: what is in place where nothing may be, and null. (`MPI_BOTTOM` is null with some MPIs;
/// elements that are there have datatypes of the program's, whose data MPICH does not take to be there if it begins where the element does.)
fn is_nowhere(at: *const c_void, count: usize, layout: &Layout) -> bool {
    let relative = layout.name.is_some() || cfg!(not(open_mpi)) && layout.first == 0 && layout.size > 0;
    is_in_place(at) || at.is_null() && count > 0 && relative
}

/// The same of a block with a displacement, which may be an address: MPICH alone refuses null then, where the displacement is none.
fn block_is_nowhere(at: *const c_void, displacement: isize, count: usize, layout: &Layout) -> bool {
    is_in_place(at) || cfg!(not(open_mpi)) && displacement == 0 && is_nowhere(at, count, layout)
}
