//! The hypercubes of a communicator.
//!
//! Calls of one hypercube are made by all ranks in one order. MPI asks for that of the initialisation of persistent calls, but not of their
//! starts: a rank may start two of them in another order than the next one does. Neither has a nonblocking call to wait, natively, for a
//! blocking one to come first that another rank makes before it. So blocking calls, nonblocking ones, and those of each persistent request
//! go by hypercubes of their own.

use super::{Communicator, Cube, MANY_CALLS, WORTH};
use crate::attributes::Duplicated;
use crate::native::{self, ffi};
use ffi::MPI_Comm;
use hypercoll::Hypercube;
use mpi::topology::SimpleCommunicator;
use mpi::traits::FromRaw;
use std::collections::HashMap;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::rc::Rc;

const BITS: usize = u64::BITS as usize;

impl Communicator {
    /// A hypercube beside the first one.
    ///
    /// # Safety
    /// As for [`Communicator::make`].
    pub(super) unsafe fn another(&self) -> Option<Rc<Hypercube>> {
        let (cube, _) = made(self.comm, self.rank, self.measures, [])?;
        // They have been accepted.
        let _ = cube.avoid_links(&self.avoid);
        Some(Rc::new(cube))
    }

    /// Whether the machine should be measured by now: then hypercubes that know little of it are replaced. Those of nonblocking calls under
    /// way go with the calls. What has been tried out was tried out with other choices.
    ///
    /// # Safety
    /// As for [`Communicator::make`].
    pub(super) unsafe fn look(&mut self) {
        // A broken one stays broken.
        if self.cubes().any(Hypercube::is_broken) {
            return;
        }
        self.next_look *= 2;
        let worth = self.predicted >= WORTH || self.calls >= MANY_CALLS;
        if self.all_say(!worth) {
            return;
        }
        self.measures = true;
        let Cube::Ours(known) = &self.cube else { return };
        let Some(cube) = self.in_place_of(known) else { return };
        self.cube = Cube::Ours(cube);
        if let Some(known) = &self.started {
            self.started = self.in_place_of(known);
        }
        (self.faster, self.trials) = ([None; 4], HashMap::new());
    }

    unsafe fn in_place_of(&self, known: &Hypercube) -> Option<Rc<Hypercube>> {
        let cube = self.another()?;
        // Neither of them is in the middle of a call.
        let _ = cube.count_on(known);
        Some(cube)
    }

    /// The hypercube of a nonblocking call.
    pub fn started(&self) -> Option<Rc<Hypercube>> {
        self.started.clone()
    }

    /// A hypercube for a persistent request: one that no request has any more, on any rank, or a new one. Every rank says whether the request
    /// `is_ours`, so that none waits for one whose arguments are MPI's to refuse: it must be on all.
    ///
    /// # Safety
    /// A live communicator, all of whose ranks do the same.
    pub unsafe fn lane(own: *mut Communicator, is_ours: bool) -> Result<Rc<Hypercube>, &'static str> {
        let own = &mut *own;
        // A bit for each, after a word for the request.
        let mut all = vec![0u64; 1 + own.lanes.len().div_ceil(BITS)];
        all[0] = u64::from(is_ours);
        for (at, cube) in own.lanes.iter().enumerate() {
            let is_free = Rc::strong_count(cube) == 1 && !cube.is_broken();
            all[1 + at / BITS] |= u64::from(is_free) << (at % BITS);
        }
        if !native::agree(&mut all, ffi::RSMPI_UINT64_T, ffi::RSMPI_BAND, own.comm) {
            return Err("ranks that cannot agree");
        }
        if all[0] == 0 {
            return Err("arguments that are MPI's to refuse on some rank");
        }
        let free = all[1..].iter().enumerate().find(|(_, word)| **word != 0);
        if let Some((word, bits)) = free {
            return Ok(Rc::clone(&own.lanes[BITS * word + bits.trailing_zeros() as usize]));
        }
        let cube = own.another().ok_or("no hypercube can be made")?;
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

/// A hypercube of a communicator's ranks, if all of them could make theirs; and the least of what each rank says. Whether it `measures` what
/// is not known of the machine is the same on all.
pub(super) unsafe fn made<const N: usize>(
    comm: MPI_Comm,
    rank: usize,
    measures: bool,
    said: [c_int; N],
) -> Option<(Hypercube, [c_int; N])> {
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
    let mut all: Vec<c_int> = [c_int::from(made.is_ok())].into_iter().chain(said).collect();
    if native::agree(&mut all, ffi::RSMPI_INT32_T, ffi::RSMPI_MIN, comm) && all[0] == 1 {
        return Some((made.ok()?, std::array::from_fn(|at| all[1 + at])));
    }
    match made {
        Err(why) if rank == 0 => eprintln!("hypercoll: collectives of a communicator are left to MPI: {why}"),
        _ => (),
    }
    None
}
