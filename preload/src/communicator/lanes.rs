//! The hypercubes of a communicator.
//!
//! Calls of one hypercube are made by all ranks in one order. MPI asks for that of the initialisation of persistent calls, but not of their
//! starts: a rank may start two of them in another order than the next one does. Neither has a nonblocking call to wait, natively, for a
//! blocking one to come first that another rank makes before it. So blocking calls, nonblocking ones, and those of each persistent request
//! go by hypercubes of their own.

use super::{Communicator, Cube, MANY_CALLS, SELDOM, WORTH};
use crate::attributes::Duplicated;
use crate::left::Left;
use crate::native::{self, ffi};
use crate::quick;
use crate::requests;
use crate::trial::Trial;
use ffi::MPI_Comm;
use hypercoll::collective::{Call, Collective};
use hypercoll::raw::{Buffers, Datatype, Operator};
use hypercoll::select::Options;
use hypercoll::{Error, Hypercube};
use mpi::topology::SimpleCommunicator;
use mpi::traits::FromRaw;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// Hypercubes of persistent requests that a communicator has at most: each takes a communicator of MPI's and memory that ranks share.
const LANES: usize = 256;

const BITS: usize = u64::BITS as usize;

impl Communicator {
    /// A hypercube beside the first one, which is made in that call.
    ///
    /// # Errors
    /// As [`native::agree`]'s. If it cannot be made, there is none.
    ///
    /// # Safety
    /// As for [`Communicator::make`].
    pub(super) unsafe fn another(&self, call: &'static str) -> Result<Option<Rc<Hypercube>>, Error> {
        let Ok((cube, [])) = made(call, self.comm, self.measures, [])? else { return Ok(None) };
        // They have been accepted.
        let _ = cube.avoid_links(&self.avoid);
        Ok(Some(Rc::new(cube)))
    }

    /// Whether the machine should be measured by now: then hypercubes that know little of it are replaced. Those of requests go with these.
    /// What has been tried out was tried out with other choices.
    ///
    /// # Errors
    /// As [`native::agree`]'s.
    ///
    /// # Safety
    /// As for [`Communicator::make`].
    pub(super) unsafe fn look(&mut self, call: &'static str) -> Result<(), Error> {
        let Cube::Ours(known) = &self.cube else { return Ok(()) };
        self.counter.looks(0);
        let shares_memory = known.machine().shared.is_some();
        let seconds = known.seconds_of_measuring();
        let is_used = self.counter.calls() >= MANY_CALLS && self.since.elapsed().as_secs_f64() >= SELDOM * seconds;
        let worth = self.predicted >= WORTH * seconds || shares_memory && is_used;
        // What is wrong between ranks the program's own call will tell.
        if !self.any_says(known, worth).unwrap_or(false) {
            return Ok(());
        }
        self.measures = true;
        let Some(cube) = self.in_place_of(known, call)? else { return Ok(()) };
        let started = match &self.started {
            Some(known) => self.in_place_of(known, call)?,
            None => None,
        };
        // What is remembered is of what goes now, and goes first: ranks may have remembered different calls, and let go of hypercubes in one order.
        quick::forget_on(native::word(self.comm));
        self.cube = Cube::Ours(cube);
        self.started = started.or_else(|| self.started.take());
        self.lanes.clear();
        self.faster = [None; 4];
        self.trials.values_mut().for_each(Trial::begin_again);
        Ok(())
    }

    /// Whether any rank says so. They ask by a call like the program's, of which those hear that have made another one, or make none.
    unsafe fn any_says(&self, cube: &Hypercube, so: bool) -> Result<bool, Error> {
        let (mine, mut any) = ([u8::from(so)], [0]);
        let or = |_, from: &[u8], into: &mut [u8]| into.iter_mut().zip(from).for_each(|(into, from)| *into |= from);
        let operator = Operator { name: "whether to measure", commutes: true, combine: &or };
        let buffers = Buffers { send: mine.as_ptr(), receive: any.as_mut_ptr() };
        let call = Call::new(Collective::AllReduce, self.size, 1);
        let byte = Datatype::contiguous("byte", 1);
        let request = cube.start_raw(call, &Options::default(), buffers, &byte, Some(&operator))?;
        while !request.is_over() {
            hypercoll::raw::progress();
            requests::give_way();
            std::thread::yield_now();
        }
        request.wait()?;
        Ok(any[0] == 1)
    }

    unsafe fn in_place_of(&self, known: &Hypercube, call: &'static str) -> Result<Option<Rc<Hypercube>>, Error> {
        let cube = self.another(call)?;
        if let Some(cube) = &cube {
            // Neither of them is in the middle of a call.
            let _ = cube.count_on(known);
        }
        Ok(cube)
    }

    /// The hypercube of a nonblocking call.
    pub fn started(&self) -> Option<Rc<Hypercube>> {
        self.started.clone()
    }

    /// A hypercube for a persistent request: one that no request has any more, on any rank, or a new one. Every rank says whether the request
    /// `is_ours`, so that none waits for one whose arguments are MPI's to refuse: it must be on all.
    ///
    /// # Errors
    /// Why there is none.
    ///
    /// # Safety
    /// A live communicator, all of whose ranks do the same.
    pub unsafe fn lane(own: *mut Communicator, call: &'static str, is_ours: bool) -> Result<Rc<Hypercube>, Left> {
        let own = &mut *own;
        // A bit for each, after a word for the request.
        let mut all = vec![0u64; 1 + own.lanes.len().div_ceil(BITS)];
        all[0] = u64::from(is_ours);
        for (at, cube) in own.lanes.iter().enumerate() {
            let is_free = Rc::strong_count(cube) == 1 && !cube.is_broken();
            all[1 + at / BITS] |= u64::from(is_free) << (at % BITS);
        }
        let agreed = native::agree(call, all, ffi::RSMPI_UINT64_T, ffi::RSMPI_BAND, own.comm);
        let all = own.met(agreed)?.ok_or(Left::ToMpi("ranks that cannot agree"))?;
        if all[0] == 0 {
            return Err(Left::ToMpi("arguments that are MPI's to refuse on some rank"));
        }
        let free = all[1..].iter().enumerate().find(|(_, word)| **word != 0);
        if let Some((word, bits)) = free {
            return Ok(Rc::clone(&own.lanes[BITS * word + bits.trailing_zeros() as usize]));
        }
        // On all ranks alike, as they have made all of them together.
        if own.lanes.len() == LANES {
            return Err(Left::ToMpi("as many persistent requests as are served at a time"));
        }
        let another = own.another(call);
        let cube = own.met(another)?.ok_or(Left::ToMpi("no hypercube can be made"))?;
        own.lanes.push(Rc::clone(&cube));
        Ok(cube)
    }

    /// All that there are.
    pub fn cubes(&self) -> impl Iterator<Item = &Hypercube> {
        let first = match &self.cube {
            Cube::Ours(cube) => Some(cube),
            _ => None,
        };
        first.into_iter().chain(&self.started).chain(&self.lanes).map(Rc::as_ref)
    }
}

type Made<const N: usize> = Result<(Hypercube, [c_int; N]), Option<Error>>;

/// A hypercube of a communicator's ranks, if all of them could make theirs, and the least of what each rank says; if not, why this one could
/// not. Whether it `measures` what is not known of the machine is the same on all, which meet in that call.
///
/// # Errors
/// As [`native::agree`]'s.
pub(super) unsafe fn made<const N: usize>(
    call: &'static str,
    comm: MPI_Comm,
    measures: bool,
    said: [c_int; N],
) -> Result<Made<N>, Error> {
    // Not ours to free.
    let borrowed = match native::word(comm) == native::word(ffi::RSMPI_COMM_WORLD) {
        true => ManuallyDrop::new(SimpleCommunicator::world()),
        false => ManuallyDrop::new(SimpleCommunicator::from_raw(comm)),
    };
    let made = {
        let _duplicated = Duplicated::by_us(comm);
        match measures {
            true => Hypercube::new(&*borrowed),
            false => Hypercube::unmeasured(&*borrowed),
        }
    };
    if let Err(error @ Error::Timeout { .. }) = made {
        // Nor would those come now that have not come in that time.
        return Err(error);
    }
    let all: Vec<c_int> = [c_int::from(made.is_ok())].into_iter().chain(said).collect();
    Ok(match (made, native::agree(call, all, ffi::RSMPI_INT32_T, ffi::RSMPI_MIN, comm)?) {
        (Ok(cube), Some(all)) if all[0] == 1 => Ok((cube, std::array::from_fn(|at| all[1 + at]))),
        (made, _) => Err(made.err()),
    })
}
