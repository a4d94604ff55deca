//! An rsmpi communicator whose collectives are this library's: what a program that uses rsmpi is moved over to.

use super::Hypercube;
use crate::error::Result;
use crate::raw::peers::{MpiAnyProcess, MpiProcess};
use mpi::topology::{CartesianCommunicator, Color, CommunicatorRelation, InterCommunicator, Key};
use mpi::topology::{SimpleCommunicator, UserGroup};
use mpi::traits::{Buffer, Communicator, CommunicatorCollectives, Datatype, Group};
use mpi::{Count, Rank, Tag};
use std::fmt;
use std::ops::Deref;

/// An rsmpi communicator whose collectives are this library's.
///
/// It has the methods of rsmpi's communicators, of their types: [`rank`](MpiHypercube::rank) and sizes are `i32`, messages from rank to
/// rank are rsmpi's. Its collectives are those of [`Hypercube`], which it is too (by `Deref`): with the names and arguments of rsmpi's, of
/// which they return a [`Result`]. So a program moves over by the line that makes the communicator:
///
/// ```no_run
/// use mpi::traits::*;
///
/// let universe = mpi::initialize().unwrap();
/// let world = hypercoll::MpiHypercube::new(universe.world()).unwrap(); // was: let world = universe.world();
///
/// let mut all = vec![0; world.size() as usize];
/// world.all_gather_into(&world.rank(), &mut all).unwrap(); // this library's
/// if world.rank() > 0 {
///     world.process_at_rank(0).send(&all[0]); // rsmpi's
/// }
/// ```
///
/// Ranks that wait for a message of rsmpi in its blocking methods, or for others to make a communicator, move the collectives under way meanwhile, as in MPI. The requests of its
/// `immediate_...` methods, and the functions of `mpi::point_to_point` such as `send_receive`, wait in MPI alone: where another rank waits for a
/// nonblocking collective before it sends, test them in turns with [`Hypercube::progress`]. Functions that take any `impl Communicator`
/// of rsmpi take [`communicator`](MpiHypercube::communicator), and run MPI's collectives on it. Functions that take a [`Hypercube`] take a
/// reference to it.
pub struct MpiHypercube<C: Communicator = SimpleCommunicator> {
    // The first to go.
    cube: Hypercube,
    communicator: C,
}

impl<C: Communicator> MpiHypercube<C> {
    /// Of an rsmpi communicator (all its ranks call this together), which it keeps for messages from rank to rank. The collectives
    /// have a duplicate of it; see [`Hypercube::new`].
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn new(communicator: C) -> Result<MpiHypercube<C>> {
        Ok(MpiHypercube { cube: Hypercube::new(&communicator)?, communicator })
    }

    /// The communicator of rsmpi.
    pub fn communicator(&self) -> &C {
        &self.communicator
    }

    /// The hypercube.
    pub fn cube(&self) -> &Hypercube {
        &self.cube
    }

    /// The rank of the caller.
    pub fn rank(&self) -> Rank {
        self.communicator.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> Rank {
        self.communicator.size()
    }

    /// The number of ranks that messages can go to: the same.
    pub fn target_size(&self) -> Rank {
        self.communicator.target_size()
    }

    /// A rank, as the root of collectives and the other end of messages.
    ///
    /// # Panics
    /// If there is no such rank, as rsmpi.
    pub fn process_at_rank(&self, rank: Rank) -> MpiProcess<'_> {
        MpiProcess::new(self.cube.process_at_rank(rank), self.communicator.process_at_rank(rank))
    }

    /// The caller's own rank.
    pub fn this_process(&self) -> MpiProcess<'_> {
        self.process_at_rank(self.rank())
    }

    /// Any rank, as the source of messages.
    pub fn any_process(&self) -> MpiAnyProcess<'_> {
        MpiAnyProcess::new(&self.cube, self.communicator.any_process())
    }

    /// The communicator of rsmpi, when all ranks are there, for something that they do together. Where MPI makes a communicator it waits for
    /// all of them, some of which may only come when collectives under way have been moved by others: it would know nothing of these.
    fn met(&self) -> &C {
        let mut barrier = self.communicator.immediate_barrier();
        while let Err(unfinished) = barrier.test() {
            barrier = unfinished;
            self.cube.progress();
            std::thread::yield_now();
        }
        &self.communicator
    }

    /// Another of the same ranks. All of them call it.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn duplicate(&self) -> Result<MpiHypercube> {
        MpiHypercube::new(self.met().duplicate())
    }

    /// One for each color, of the ranks that pass it; `None` where it is [`Color::undefined`]. All ranks call it.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn split_by_color(&self, color: Color) -> Result<Option<MpiHypercube>> {
        of(self.met().split_by_color(color))
    }

    /// The same with ranks in the order of their keys.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn split_by_color_with_key(&self, color: Color, key: Key) -> Result<Option<MpiHypercube>> {
        of(self.met().split_by_color_with_key(color, key))
    }

    /// One for each set of ranks that share memory, with ranks in the order of their keys. All ranks call it.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn split_shared(&self, key: Key) -> Result<MpiHypercube> {
        MpiHypercube::new(self.met().split_shared(key))
    }

    /// One of the ranks of a group; `None` on the others. All ranks call it.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn split_by_subgroup_collective(&self, group: &dyn Group) -> Result<Option<MpiHypercube>> {
        of(self.met().split_by_subgroup_collective(group))
    }

    /// The same; only the ranks of the group need call it, and while they wait for each other in MPI, they move no collectives under way.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn split_by_subgroup(&self, group: &dyn Group) -> Result<Option<MpiHypercube>> {
        of(self.communicator.split_by_subgroup(group))
    }

    /// The same with a tag, by which calls on several threads are told apart.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn split_by_subgroup_with_tag(&self, group: &dyn Group, tag: Tag) -> Result<Option<MpiHypercube>> {
        of(self.communicator.split_by_subgroup_with_tag(group, tag))
    }

    /// One whose ranks are the points of a grid; `None` on ranks beyond it. All ranks call it.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn create_cartesian_communicator(
        &self,
        dims: &[Count],
        periods: &[bool],
        reorder: bool,
    ) -> Result<Option<MpiHypercube<CartesianCommunicator>>> {
        let made = self.met().create_cartesian_communicator(dims, periods, reorder);
        made.map(MpiHypercube::new).transpose()
    }

    /// The place of the caller in a grid that MPI would make.
    pub fn cartesian_map(&self, dims: &[Count], periods: &[bool]) -> Option<Rank> {
        self.communicator.cartesian_map(dims, periods)
    }

    /// How the ranks compare with those of another.
    pub fn compare<D: Communicator>(&self, other: &MpiHypercube<D>) -> CommunicatorRelation {
        self.communicator.compare(other.communicator())
    }

    /// The ranks, as a group of rsmpi's.
    pub fn group(&self) -> UserGroup {
        self.communicator.group()
    }

    /// Whether it is an intercommunicator: never.
    pub fn test_inter(&self) -> bool {
        self.communicator.test_inter()
    }

    /// The intercommunicator to those that have spawned these ranks.
    pub fn parent(&self) -> Option<InterCommunicator> {
        self.communicator.parent()
    }

    /// Gives the communicator a name.
    pub fn set_name(&self, name: &str) {
        self.communicator.set_name(name);
    }

    /// The name of the communicator.
    pub fn get_name(&self) -> String {
        self.communicator.get_name()
    }

    /// Ends the job.
    pub fn abort(&self, errorcode: i32) -> ! {
        self.communicator.abort(errorcode)
    }

    /// Bytes that packed elements of a datatype need.
    pub fn pack_size<Dt: Datatype>(&self, incount: Count, datatype: &Dt) -> Count {
        self.communicator.pack_size(incount, datatype)
    }

    /// The elements of a buffer, packed.
    pub fn pack<B: Buffer + ?Sized>(&self, inbuf: &B) -> Vec<u8> {
        self.communicator.pack(inbuf)
    }

    /// Packs the elements of a buffer from a place on; the place behind them.
    pub fn pack_into<B: Buffer + ?Sized>(&self, inbuf: &B, outbuf: &mut [u8], position: Count) -> Count {
        self.communicator.pack_into(inbuf, outbuf, position)
    }
}

/// The same of what a split has given.
fn of(communicator: Option<SimpleCommunicator>) -> Result<Option<MpiHypercube>> {
    communicator.map(MpiHypercube::new).transpose()
}

impl<C: Communicator> Deref for MpiHypercube<C> {
    type Target = Hypercube;

    fn deref(&self) -> &Hypercube {
        &self.cube
    }
}

impl<C: Communicator> fmt::Debug for MpiHypercube<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MpiHypercube(rank {} of {})", self.rank(), self.size())
    }
}
