//! The hypercubes of a communicator.
//!
//! Calls of one hypercube are made by all ranks in one order. MPI asks for that of the initialisation of persistent calls, but not of their
//! starts: a rank may start two of them in another order than the next one does. Neither has a nonblocking call to wait, natively, for a
//! blocking one to come first that another rank makes before it. So blocking calls, nonblocking ones, and those of each persistent request
//! go by hypercubes of their own.

use super::{Communicator, Cube};
use crate::attributes::Duplicated;
use crate::native::{self, ffi};
use ffi::MPI_Comm;
use hypercoll::Hypercube;
use mpi::topology::SimpleCommunicator;
use mpi::traits::FromRaw;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// Those of persistent requests that are used again when these have been freed.
const LANES: usize = 64;

impl Communicator {
    /// A hypercube beside the first one.
    ///
    /// # Safety
    /// As for [`Communicator::make`].
    pub(super) unsafe fn another(&self) -> Option<Rc<Hypercube>> {
        let (cube, _) = made(self.comm, self.rank, [])?;
        // They have been accepted.
        let _ = cube.avoid_links(&self.avoid);
        Some(Rc::new(cube))
    }

    /// The hypercube of a nonblocking call.
    pub fn started(&self) -> Option<Rc<Hypercube>> {
        self.started.clone()
    }

    /// A hypercube for a persistent request: one that no request has any more, on any rank, or a new one.
    ///
    /// # Safety
    /// A live communicator, all of whose ranks do the same.
    pub unsafe fn lane(own: *mut Communicator) -> Option<Rc<Hypercube>> {
        let own = &mut *own;
        let lanes = own.lanes.iter().take(LANES).enumerate();
        let mut all = [lanes.fold(0u64, |all, (at, cube)| all | u64::from(Rc::strong_count(cube) == 1) << at)];
        if !own.lanes.is_empty() && native::agree(&mut all, ffi::RSMPI_UINT64_T, ffi::RSMPI_BAND, own.comm) {
            if let Some(cube) = own.lanes.get(all[0].trailing_zeros() as usize) {
                return Some(Rc::clone(cube));
            }
        }
        let cube = own.another()?;
        own.lanes.push(Rc::clone(&cube));
        Some(cube)
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

/// A hypercube of a communicator's ranks, if all of them could make theirs; and the least of what each rank says.
pub(super) unsafe fn made<const N: usize>(
    comm: MPI_Comm,
    rank: usize,
    said: [c_int; N],
) -> Option<(Hypercube, [c_int; N])> {
    // Not ours to free.
    let borrowed = match native::word(comm) == native::word(ffi::RSMPI_COMM_WORLD) {
        true => ManuallyDrop::new(SimpleCommunicator::world()),
        false => ManuallyDrop::new(SimpleCommunicator::from_raw(comm)),
    };
    let made = {
        let _duplicated = Duplicated::by_us(comm);
        Hypercube::new(&*borrowed)
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
