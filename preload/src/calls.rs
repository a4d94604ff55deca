//! The collectives of MPI as calls of the library: what a buffer, a count, a datatype and an operation of MPI's are there.
//!
//! One function a collective. Each takes the native function as well, for calls that are not ours: which ones that are, all ranks of a
//! communicator decide alike.

mod moving;
mod reducing;

pub use moving::{
    allgather, allgatherv, alltoall, alltoallv, alltoallw, barrier, bcast, gather, gatherv, scatter, scatterv,
};
pub use reducing::{allreduce, exscan, reduce, reduce_scatter, reduce_scatter_block, scan};

use crate::communicator::{Communicator, Cube};
use crate::datatype::{Blocks, Data, Layout};
use crate::failure;
use crate::kind::Kind;
use crate::native::{self, ffi};
use crate::quick::{self, Key};
use crate::report::By;
use crate::session;
use crate::trial::{Next, Who};
use crate::turn;
use ffi::{MPI_Comm, MPI_Count, MPI_Datatype};
use hypercoll::collective::{Call, Collective};
use hypercoll::raw::{Buffers, Datatype, Operator};
use hypercoll::select::Options;
use std::ffi::{c_int, c_void};
use std::time::Instant;

/// What is moved as it is.
const BYTE: Datatype = Datatype::contiguous("byte", 1);

/// The native function with the arguments of a call.
pub struct Native<'n> {
    pub kind: Kind,
    pub call: &'n dyn Fn() -> c_int,
}

/// A list of counts or displacements, one a rank.
#[derive(Clone, Copy)]
pub enum List {
    Ints(*const c_int),
    Counts(*const MPI_Count),
    Addresses(*const isize),
}

impl List {
    /// # Safety
    /// The list has it.
    unsafe fn get(self, at: usize) -> i64 {
        match self {
            List::Ints(list) => (*list.add(at)).into(),
            List::Counts(list) => *list.add(at),
            List::Addresses(list) => *list.add(at) as i64,
        }
    }

    fn is_null(self) -> bool {
        match self {
            List::Ints(list) => list.is_null(),
            List::Counts(list) => list.is_null(),
            List::Addresses(list) => list.is_null(),
        }
    }
}

/// Why a call is not over.
enum Left {
    /// MPI is to make it, and why.
    ToMpi(&'static str),
    Failed(hypercoll::Error),
}

impl From<hypercoll::Error> for Left {
    fn from(error: hypercoll::Error) -> Left {
        Left::Failed(error)
    }
}

/// MPI finds what is wrong with arguments, and says so.
const WRONG: Left = Left::ToMpi("arguments that make no sense");
const UNDEFINED: Left = Left::ToMpi("an operation that the standard does not define for the datatype");

/// A call that is ours.
struct Ours {
    own: *mut Communicator,
    kind: Kind,
    key: Option<Key>,
    rank: usize,
    size: usize,
    /// Bytes that the call is about.
    bytes: usize,
    /// When it began, if it is timed to see who is faster.
    timed: Option<Instant>,
}

/// Has a call made by us, or by MPI.
///
/// Whatever MPI makes soon takes few instructions here: short broadcasts of native MPI take less than a tenth of a microsecond.
#[inline(always)]
unsafe fn serve(
    native: &Native,
    comm: MPI_Comm,
    key: Option<Key>,
    ours: impl FnOnce(&mut Ours) -> Result<(), Left>,
) -> c_int {
    match quick::is_native(native.kind, comm, key) {
        true => (native.call)(),
        false => looked_at(native, comm, key, ours),
    }
}

/// The same for calls of which it is to be seen who makes them.
#[inline(never)]
unsafe fn looked_at(
    native: &Native,
    comm: MPI_Comm,
    key: Option<Key>,
    ours: impl FnOnce(&mut Ours) -> Result<(), Left>,
) -> c_int {
    if !session::is_active() {
        return (native.call)();
    }
    let turn = turn::take();
    let Some(own) = session::tables(&turn).communicators.find(comm) else {
        drop(turn);
        return (native.call)();
    };
    let reports = session::facts().asked.report.is_some();
    let start = reports.then(Instant::now);
    let (kind, rank, size) = (native.kind, (*own).rank, (*own).size);
    let mut call = Ours { own, kind, key, rank, size, bytes: 0, timed: None };
    let outcome = match Communicator::ready(own, native.kind, &turn) {
        Ok(()) => ours(&mut call),
        Err(why) => Err(Left::ToMpi(why)),
    };
    let (bytes, timed) = (call.bytes, call.timed);
    (*own).left = match outcome {
        Err(Left::ToMpi(why)) => Some(why),
        _ => None,
    };
    match outcome {
        Ok(()) => {
            if let (Some(start), Cube::Ours(cube)) = (start, &(*own).cube) {
                let seconds = start.elapsed().as_secs_f64();
                let by = By::Ours(cube.last_algorithm().unwrap_or("nothing to do"));
                session::tables(&turn).note(native.kind, bytes, by, seconds);
            }
            if let Some(start) = timed {
                (*own).trial(kind, bytes).note(Who::Ours, start.elapsed().as_secs_f64());
            }
            native::SUCCESS
        }
        Err(Left::ToMpi(why)) => {
            drop(turn);
            let Some(start) = (reports || timed.is_some()).then(Instant::now) else { return (native.call)() };
            let code = (native.call)();
            let seconds = start.elapsed().as_secs_f64();
            if session::is_active() {
                let turn = turn::take();
                session::tables(&turn).note(native.kind, bytes, By::Mpi(why), seconds);
                if timed.is_some() {
                    // It is there still: no communicator is freed in the middle of a call on it.
                    (*own).trial(kind, bytes).note(Who::Native, seconds);
                }
            }
            code
        }
        Err(Left::Failed(error)) => {
            let rank = call.rank;
            drop(turn);
            failure::raise(comm, native.kind.name(), rank, &error)
        }
    }
}

/// Has a call made by MPI, and counts it.
pub unsafe fn pass(native: &Native, why: &'static str) -> c_int {
    if !session::is_active() || session::facts().asked.report.is_none() {
        return (native.call)();
    }
    let start = Instant::now();
    let code = (native.call)();
    session::tables(&turn::take()).note(native.kind, 0, By::Mpi(why), start.elapsed().as_secs_f64());
    code
}

impl Ours {
    fn root(&self, root: i64) -> Result<usize, Left> {
        usize::try_from(root).ok().filter(|&root| root < self.size).ok_or(WRONG)
    }

    fn data(&self, at: *const c_void, count: i64, datatype: MPI_Datatype) -> Result<Data, Left> {
        let count = usize::try_from(count).map_err(|_| WRONG)?;
        let layout = Layout::of(datatype).ok_or(WRONG)?;
        count.checked_mul(layout.size.max(1)).filter(|&bytes| bytes <= isize::MAX as usize).ok_or(WRONG)?;
        Ok(Data { at: at.cast_mut().cast(), count, datatype, layout })
    }

    /// One block of `count` elements a rank, one after another.
    fn all(&self, at: *const c_void, count: i64, datatype: MPI_Datatype) -> Result<Data, Left> {
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
    unsafe fn blocks(
        &self,
        at: *const c_void,
        counts: List,
        displacements: List,
        datatype: MPI_Datatype,
    ) -> Result<Blocks, Left> {
        if counts.is_null() || displacements.is_null() {
            return Err(WRONG);
        }
        let layout = Layout::of(datatype).ok_or(WRONG)?;
        let blocks = (0..self.size).map(|rank| {
            let count = usize::try_from(counts.get(rank)).map_err(|_| WRONG)?;
            let at = at.cast_mut().cast::<u8>().wrapping_offset(displacements.get(rank) as isize * layout.extent);
            Ok(Data { at, count, datatype, layout })
        });
        Ok(Blocks(blocks.collect::<Result<_, Left>>()?))
    }

    /// Notes what the call is about, and whether it is ours. `exact`: its result is the same whoever makes it.
    fn choose(&mut self, call: &Call, element: usize, exact: bool) -> Result<(), Left> {
        self.bytes = call.count * element;
        // SAFETY: there while the call is: the program frees no communicator in the middle of one of its calls.
        let own = unsafe { &mut *self.own };
        if own.native_is_faster(call, element) {
            return Err(Left::ToMpi("measured faster"));
        }
        // Of blocks of different lengths ranks know different ones.
        if call.layout.is_some() || !own.may_be_native(exact) {
            return Ok(());
        }
        let comm = own.comm;
        // SAFETY: live, as above; all ranks have called this with as many bytes.
        let next = unsafe { own.trial(self.kind, self.bytes).next(self.bytes, comm) };
        self.timed = matches!(next, Next::Timed(_)).then(Instant::now);
        match next {
            Next::By(Who::Ours) | Next::Timed(Who::Ours) => Ok(()),
            Next::Timed(Who::Native) => Err(Left::ToMpi("tried out")),
            Next::By(Who::Native) => {
                let trial = own.trial(self.kind, self.bytes);
                if trial.is_over() {
                    quick::remember(self.kind, comm, self.key, trial.stands());
                    return Err(Left::ToMpi("found faster"));
                }
                Err(Left::ToMpi("tried out"))
            }
        }
    }

    fn call(&self, collective: Collective, count: usize) -> Call {
        Call::new(collective, self.size, count)
    }

    /// # Safety
    /// As for [`hypercoll::Hypercube::run_raw`].
    unsafe fn run(
        &self,
        call: Call,
        send: *const u8,
        receive: *mut u8,
        datatype: &Datatype,
        operator: Option<&Operator>,
    ) -> Result<(), Left> {
        let Cube::Ours(cube) = &(*self.own).cube else { return Err(Left::ToMpi("MPI has ended")) };
        let options = match (*self.own).options.is_empty() && !(*self.own).reproducible {
            true => Options::default(),
            false => (*self.own).asked(&call, datatype.size),
        };
        let (options, buffers) = (&options, Buffers { send, receive });
        Ok(cube.run_raw(call, options, buffers, datatype, operator)?)
    }
}

pub fn is_in_place(at: *const c_void) -> bool {
    at == native::in_place()
}
