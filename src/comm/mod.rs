//! The communicator, [`Hypercube`], and its collectives: what a program calls.
//!
//! A collective has two forms. The short one has rsmpi's name and arguments, and leaves the algorithm to the library:
//! [`Hypercube::all_reduce_into`], [`Process::broadcast_into`]. The long one takes options before it runs:
//! [`Hypercube::all_reduce`], [`Hypercube::broadcast`].
//!
//! ```
//! use hypercoll::{threads, SystemOperation};
//!
//! threads::run(4, |cube| {
//!     // The mean of 8 values, two on each rank.
//!     let values = [cube.rank() as f64, 10.0];
//!     let mut sum = values.iter().sum::<f64>();
//!     cube.all_reduce_in_place(&mut sum, SystemOperation::sum()).unwrap();
//!     assert_eq!(sum / 8.0, 5.75);
//!
//!     // The same with an algorithm of your choice.
//!     let mut sum = values.iter().sum::<f64>();
//!     cube.all_reduce().algorithm("sbt").run_in_place(&mut sum, SystemOperation::sum()).unwrap();
//!     assert_eq!(sum / 8.0, 5.75);
//!     assert_eq!(cube.last().unwrap().algorithm, "sbt");
//! });
//! ```

mod plans;
mod process;
mod request;
#[cfg(test)]
mod tests;

pub(crate) use plans::Plan;
pub use process::Process;
pub use request::{AllGather, AllReduce, AllToAll, Broadcast, Exchange, Gather, Given, Permute};
pub use request::{Reduce, ReduceScatter, Scatter, Send};

use crate::address::dimension_for;
use crate::buffer::{Buffer, BufferMut};
use crate::collective::{Call, Collective};
use crate::error::{Error, Result};
use crate::executor::{Buffers, Compute, Execution, Transport, Workspace};
use crate::explain::Explanation;
use crate::operation::Reduction;
use crate::schedule::Avoided;
#[cfg(feature = "mpi")]
use crate::select::{tuning, Settings, Sources};
use crate::select::{Machine, Options, Overrides};
use plans::Plans;
use request::Prepared;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Calls predicted to take so many seconds at least are timed: two looks at the clock take some 50 ns, which shorter ones would feel.
const TIMED_FROM: f64 = 10e-6;

/// A communicator whose collectives run on the hypercube.
///
/// Made from any rsmpi communicator (`Hypercube::new`), or handed to each thread by [`crate::threads::run`]. All ranks
/// call the same collectives in the same order, as with MPI. Every call returns a [`Result`]; an error of the arguments
/// leaves the buffers as they were.
///
/// That the calls of all ranks fit together is for the program to see. Where they do not, most differences are
/// [not noticed](crate#what-is-not-noticed): calls may return wrong data, or wait for ever. Over MPI a rank says after ten
/// seconds without progress for whom it waits (`log`, level warn), and `HYPERCOLL_TIMEOUT` ends the job.
///
/// If a collective fails on the way on this rank (for instance because a message of another length came), this `Hypercube` is
/// broken: later calls on it return [`Error::Broken`], since messages of the failed one may still be under way. Other ranks need
/// not know of it.
///
/// # Examples
/// ```
/// use hypercoll::{threads, Hypercube, SystemOperation};
///
/// /// The largest of all values: over MPI in the program, here on threads.
/// fn largest(cube: &Hypercube, values: &[f64]) -> hypercoll::Result<f64> {
///     let mut largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
///     cube.all_reduce_in_place(&mut largest, SystemOperation::max())?;
///     Ok(largest)
/// }
///
/// let found = threads::run(3, |cube| largest(cube, &[cube.rank() as f64, -1.0]).unwrap());
/// assert_eq!(found, [2.0; 3]);
/// ```
pub struct Hypercube {
    rank: usize,
    size: usize,
    transport: RefCell<Box<dyn Transport>>,
    /// [`Transport::ways`], which a function of the user's may ask for while the transport is at work.
    ways: String,
    /// What [`Hypercube::synchronous_sends`] was last called with, if the transport has not been told.
    synchronous: Cell<Option<bool>>,
    work: RefCell<Workspace>,
    plans: RefCell<Plans>,
    machine: Machine,
    /// What the environment asks of calls, or what is wrong with it.
    overrides: Result<Overrides>,
    last: RefCell<Option<(Rc<Plan>, Option<f64>)>>,
    broken: Cell<bool>,
    avoid: RefCell<Option<Avoided>>,
    /// The last permutation, which is often the next one.
    permutation: RefCell<Option<Arc<[usize]>>>,
}

impl Hypercube {
    /// A hypercube of the ranks of `communicator` (all ranks call this together). The communicator is duplicated, so the
    /// messages of both never meet; it returns errors instead of aborting.
    ///
    /// Variables of the [environment](crate#environment) are read here, most of them and the tuning file by rank 0 for all ranks.
    ///
    /// # Errors
    /// [`Error::Mpi`] if MPI cannot duplicate the communicator; [`Error::Tuning`] if the tuning file that `HYPERCOLL_TUNING` names
    /// cannot be read or makes no sense; [`Error::Environment`] if a variable asks for what does not exist. The last two are
    /// the same on all ranks.
    ///
    /// # Examples
    /// ```no_run
    /// let universe = mpi::initialize().unwrap();
    /// let cube = hypercoll::Hypercube::new(&universe.world())?;
    /// println!("rank {} of {}", cube.rank(), cube.size());
    /// # hypercoll::Result::Ok(())
    /// ```
    #[cfg(feature = "mpi")]
    pub fn new(communicator: &impl ::mpi::traits::Communicator) -> Result<Hypercube> {
        let (transport, cores) = crate::executor::mpi::MpiTransport::duplicate(communicator)?;
        let found = if transport.rank() == 0 { sources(cores.is_some()) } else { String::new() };
        let text = transport.broadcast_from_rank_0(found)?;
        let sources = Sources::parse(&text).ok_or_else(|| Error::Environment {
            variable: "HYPERCOLL_".into(),
            why: "rank 0's settings cannot be read".into(),
        })?;
        let Settings { machine, overrides, refused } = sources.resolve(cores)?;
        if let Some(refused) = refused.filter(|_| transport.rank() == 0) {
            log::warn!("{refused}; the built-in parameters are used");
        }
        Ok(Hypercube::over(Box::new(transport), machine, Ok(overrides)))
    }

    pub(crate) fn over(transport: Box<dyn Transport>, machine: Machine, overrides: Result<Overrides>) -> Hypercube {
        Hypercube {
            rank: transport.rank(),
            size: transport.size(),
            ways: transport.ways(),
            transport: RefCell::new(transport),
            synchronous: Cell::default(),
            work: RefCell::default(),
            plans: RefCell::default(),
            machine,
            overrides,
            last: RefCell::default(),
            broken: Cell::new(false),
            avoid: RefCell::default(),
            permutation: RefCell::default(),
        }
    }

    /// The rank of the caller.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks; any number from 1 on.
    pub fn size(&self) -> usize {
        self.size
    }

    /// n, the dimension of the cube: ceil(log2 size).
    pub fn dimension(&self) -> u32 {
        dimension_for(self.size)
    }

    /// What the choice of algorithms takes the machine to be.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// How messages of this rank travel, in words: through memory that ranks of one host share, through MPI, or both.
    pub fn transport(&self) -> String {
        self.ways.clone()
    }

    /// A rank as the root of collectives, as in rsmpi. That it is a rank is checked by the call.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut data = if cube.rank() == 1 { [1, 2, 3] } else { [0; 3] };
    ///     cube.process_at_rank(1).broadcast_into(&mut data).unwrap();
    ///     assert_eq!(data, [1, 2, 3]);
    /// });
    /// ```
    pub fn process_at_rank(&self, rank: impl TryInto<usize>) -> Process<'_> {
        Process { cube: self, rank: rank.try_into().unwrap_or(usize::MAX) }
    }

    /// Test mode, on all ranks, from the next collective on: every send waits until its receive has started (over MPI; threads
    /// ignore it). It shows that nothing leans on MPI's buffers.
    pub fn synchronous_sends(&self, on: bool) {
        self.synchronous.set(Some(on));
    }

    /// From now on no collective sends anything over these links, for instance because they are faulty: pairs of ranks that are
    /// neighbours on the cube, in any order. All ranks call this with the same links; an empty list ends it.
    ///
    /// A broadcast by `msbt` drops the (at most two) trees that use a link and spreads its data over the others, a scatter by
    /// `sbnt` takes another of its trees. What is left to send over such a link goes round it, in three hops. What ran is
    /// reported by [`Hypercube::last`] as always.
    ///
    /// Ho & Johnsson 1988, sections 4 and 7.
    ///
    /// # Errors
    /// [`Error::Link`] if two ranks are not neighbours, or no other links join them; the cube then stays as it was.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(8, |cube| {
    ///     cube.avoid_links(&[(0, 1)]).unwrap();
    ///     let mut data = [(cube.rank() == 0) as u8; 64];
    ///     cube.broadcast(0).algorithm("sbt").run(&mut data).unwrap();
    ///     assert_eq!(data, [1; 64]); // rank 1 got it by another way
    ///     assert_eq!(cube.last().unwrap().avoided, [(0, 1)]);
    /// });
    /// ```
    pub fn avoid_links(&self, links: &[(usize, usize)]) -> Result<()> {
        let avoid = Avoided::new(self.size, links)?;
        *self.avoid.borrow_mut() = (!links.is_empty()).then_some(avoid);
        Ok(())
    }

    /// The links that collectives send nothing over, each as (lower rank, higher rank).
    pub fn avoided_links(&self) -> Vec<(usize, usize)> {
        self.avoid.borrow().iter().flat_map(Avoided::links).collect()
    }

    /// Waits until all ranks have called it.
    ///
    /// # Errors
    /// Failures of the transport.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    /// let entered = AtomicUsize::new(0);
    /// hypercoll::threads::run(3, |cube| {
    ///     entered.fetch_add(1, SeqCst);
    ///     cube.barrier().unwrap();
    ///     assert_eq!(entered.load(SeqCst), 3);
    /// });
    /// ```
    pub fn barrier(&self) -> Result<()> {
        self.prepare(Collective::Barrier, 0).go(0, 1, &[], &mut [], None)
    }

    /// All-gather: `receive` becomes the blocks `send` of all ranks, by rank.
    ///
    /// All ranks: `send` has m elements, `receive` m times [`Hypercube::size`].
    ///
    /// # Errors
    /// [`Error::Length`]; failures of the transport.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut all = [0; 6];
    ///     cube.all_gather_into(&[cube.rank(), 7], &mut all).unwrap();
    ///     assert_eq!(all, [0, 7, 1, 7, 2, 7]);
    /// });
    /// ```
    pub fn all_gather_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.all_gather().run(send, receive)
    }

    /// All-gather in place: block r of `blocks` is the block of rank r; the others are filled in.
    ///
    /// # Errors
    /// [`Error::Length`] if the length is no multiple of the number of ranks; failures of the transport.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut all = ['-' as u8; 3];
    ///     all[cube.rank()] = b"abc"[cube.rank()];
    ///     cube.all_gather_in_place(&mut all).unwrap();
    ///     assert_eq!(&all, b"abc");
    /// });
    /// ```
    pub fn all_gather_in_place<R: BufferMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.all_gather().run_in_place(blocks)
    }

    /// All-to-all: block j of `send` goes to rank j, block i of `receive` comes from rank i.
    ///
    /// All ranks: both have the same length, m times [`Hypercube::size`].
    ///
    /// # Errors
    /// [`Error::Length`]; failures of the transport.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(2, |cube| {
    ///     let send = [["0 to 0", "0 to 1"], ["1 to 0", "1 to 1"]][cube.rank()].map(|text| text.as_bytes());
    ///     let mut receive = [0; 12];
    ///     cube.all_to_all_into(&send.concat(), &mut receive).unwrap();
    ///     String::from_utf8(receive.to_vec()).unwrap()
    /// });
    /// assert_eq!(received, ["0 to 01 to 0", "0 to 11 to 1"]);
    /// ```
    pub fn all_to_all_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.all_to_all().run(send, receive)
    }

    /// All-reduce: `receive` becomes the element-wise combination of `send` of all ranks.
    ///
    /// All ranks: both have the same length.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Operation`] if it is not defined for the type; failures of the transport.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mine = [1.0, cube.rank() as f64];
    ///     let mut sums = [0.0; 2];
    ///     cube.all_reduce_into(&mine, &mut sums, SystemOperation::sum()).unwrap();
    ///     assert_eq!(sums, [4.0, 6.0]);
    /// });
    /// ```
    pub fn all_reduce_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        self.all_reduce().run(send, receive, operation)
    }

    /// All-reduce in place: `values` is contribution and result.
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut least = 10 - cube.rank();
    ///     cube.all_reduce_in_place(&mut least, SystemOperation::min()).unwrap();
    ///     assert_eq!(least, 7);
    /// });
    /// ```
    pub fn all_reduce_in_place<R, O>(&self, values: &mut R, operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element>,
    {
        self.all_reduce().run_in_place(values, operation)
    }

    /// Reduce-scatter: `receive` becomes this rank's block of the element-wise combination of `send` of all ranks (the
    /// papers' histogram).
    ///
    /// All ranks: `receive` has m elements, `send` m times [`Hypercube::size`].
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// let sums = hypercoll::threads::run(2, |cube| {
    ///     let send = [[1, 2, 3, 4], [10, 20, 30, 40]][cube.rank()];
    ///     let mut block = [0; 2];
    ///     cube.reduce_scatter_block_into(&send, &mut block, SystemOperation::sum()).unwrap();
    ///     block
    /// });
    /// assert_eq!(sums, [[11, 22], [33, 44]]);
    /// ```
    pub fn reduce_scatter_block_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        self.reduce_scatter().run(send, receive, operation)
    }

    /// Permutation: `send` goes to rank `permutation[rank]`, `receive` comes from the rank whose target this one is.
    ///
    /// All ranks pass the same permutation and equal lengths.
    ///
    /// # Errors
    /// [`Error::Permutation`]; [`Error::Length`]; failures of the transport.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(4, |cube| {
    ///     // Round in a circle: from every rank to the next one.
    ///     let mut receive = 0usize;
    ///     cube.permute_into(&[1, 2, 3, 0], &cube.rank(), &mut receive).unwrap();
    ///     receive
    /// });
    /// assert_eq!(received, [3, 0, 1, 2]);
    /// ```
    pub fn permute_into<S, R>(&self, permutation: &[usize], send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.permute(permutation).run(send, receive)
    }

    /// Sends from rank `from` to rank `to`, over all the links that an algorithm finds between them: all ranks make the call,
    /// and may pass data on.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut received = [0; 3];
    ///     let send = (cube.rank() == 2).then_some(&[4, 5, 6][..]);
    ///     let receive = (cube.rank() == 1).then_some(&mut received[..]);
    ///     cube.send(2, 1).run(3, send, receive).unwrap(); // all ranks, also 0 and 3
    ///     assert_eq!(received, if cube.rank() == 1 { [4, 5, 6] } else { [0; 3] });
    /// });
    /// ```
    pub fn send(&self, from: usize, to: usize) -> Send<'_> {
        let mut prepared = self.prepare(Collective::Send, from);
        prepared.call.peer = to;
        Send(prepared)
    }

    /// Exchanges the vectors of two ranks; all ranks make the call, and may pass data on.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(4, |cube| {
    ///     let (mine, mut other) = ([10 * cube.rank()], [0]);
    ///     let takes_part = [1, 3].contains(&cube.rank());
    ///     let (send, receive) = (takes_part.then_some(&mine[..]), takes_part.then_some(&mut other[..]));
    ///     cube.exchange(1, 3).run(1, send, receive).unwrap(); // all ranks
    ///     other[0]
    /// });
    /// assert_eq!(received, [0, 30, 0, 10]);
    /// ```
    pub fn exchange(&self, one: usize, other: usize) -> Exchange<'_> {
        let mut prepared = self.prepare(Collective::Exchange, one);
        prepared.call.peer = other;
        Exchange(prepared)
    }

    /// Any call that combines nothing, given as data.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::collective::{Call, Collective, Layout};
    /// let received = hypercoll::threads::run(3, |cube| {
    ///     // Vectors of 1, 2 and 3 elements, each to the next rank.
    ///     let mut call = Call::new(Collective::Permute, 3, 0).with_layout(Layout::of_vectors([1, 2, 3]));
    ///     call.permutation = Some([1, 2, 0].into());
    ///     let send = vec![cube.rank(); call.send_len(cube.rank())];
    ///     let mut receive = vec![9; call.receive_len(cube.rank())];
    ///     cube.collective(call).run(&send, &mut receive).unwrap();
    ///     receive
    /// });
    /// assert_eq!(received, [vec![2, 2, 2], vec![0], vec![1, 1]]);
    /// ```
    pub fn collective(&self, mut call: Call) -> Given<'_> {
        call.avoid = call.avoid.or_else(|| self.avoid.borrow().clone());
        Given(Prepared { cube: self, call, options: Options::default() })
    }

    /// A broadcast with options.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(8, |cube| {
    ///     let mut data = vec![cube.rank(); 1000];
    ///     cube.broadcast(5).algorithm("hamiltonian_path").packet(100).run(&mut data).unwrap();
    ///     assert_eq!(data, [5; 1000]);
    /// });
    /// ```
    pub fn broadcast(&self, root: usize) -> Broadcast<'_> {
        Broadcast(self.prepare(Collective::Broadcast, root))
    }

    /// A scatter with options.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let all = [1.5, 2.5, 3.5]; // used on the root alone
    ///     let mut mine = 0.0;
    ///     cube.scatter(0).run(Some(&all), &mut mine).unwrap();
    ///     assert_eq!(mine, 1.5 + cube.rank() as f64);
    /// });
    /// ```
    pub fn scatter(&self, root: usize) -> Scatter<'_> {
        Scatter(self.prepare(Collective::Scatter, root))
    }

    /// A gather with options.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut all = [0; 3];
    ///     cube.gather(2).run(&(cube.rank() + 1), Some(&mut all)).unwrap(); // changed on the root alone
    ///     assert_eq!(all, if cube.rank() == 2 { [1, 2, 3] } else { [0; 3] });
    /// });
    /// ```
    pub fn gather(&self, root: usize) -> Gather<'_> {
        Gather(self.prepare(Collective::Gather, root))
    }

    /// An all-gather with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::algorithm::PortModel;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut all = [0; 4];
    ///     let call = cube.all_gather().algorithm("multinode_broadcast").ports(PortModel::AllPorts);
    ///     call.run(&cube.rank(), &mut all).unwrap();
    ///     assert_eq!(all, [0, 1, 2, 3]);
    /// });
    /// ```
    pub fn all_gather(&self) -> AllGather<'_> {
        AllGather(self.prepare(Collective::AllGather, 0))
    }

    /// An all-to-all with options.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut receive = [9; 4];
    ///     cube.all_to_all().algorithm("pairwise_xor").run(&[cube.rank(); 4], &mut receive).unwrap();
    ///     assert_eq!(receive, [0, 1, 2, 3]);
    /// });
    /// ```
    pub fn all_to_all(&self) -> AllToAll<'_> {
        AllToAll(self.prepare(Collective::AllToAll, 0))
    }

    /// A reduce with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut product = 0usize;
    ///     let call = cube.reduce(1).algorithm("sbt");
    ///     call.run(&(cube.rank() + 1), Some(&mut product), SystemOperation::product()).unwrap();
    ///     assert_eq!(product, if cube.rank() == 1 { 24 } else { 0 });
    /// });
    /// ```
    pub fn reduce(&self, root: usize) -> Reduce<'_> {
        Reduce(self.prepare(Collective::Reduce, root))
    }

    /// A reduce-scatter with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut most = 0;
    ///     let send = [0, 1, 2, 3].map(|block| block * cube.rank());
    ///     cube.reduce_scatter().algorithm("histogram").run(&send, &mut most, SystemOperation::max()).unwrap();
    ///     assert_eq!(most, 3 * cube.rank());
    /// });
    /// ```
    pub fn reduce_scatter(&self) -> ReduceScatter<'_> {
        ReduceScatter(self.prepare(Collective::ReduceScatter, 0))
    }

    /// An all-reduce with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut bits = 1u8 << cube.rank();
    ///     let call = cube.all_reduce().algorithm("recursive_doubling");
    ///     call.run_in_place(&mut bits, SystemOperation::bitwise_or()).unwrap();
    ///     assert_eq!(bits, 0b1111);
    /// });
    /// ```
    pub fn all_reduce(&self) -> AllReduce<'_> {
        AllReduce(self.prepare(Collective::AllReduce, 0))
    }

    /// A permutation with options.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(4, |cube| {
    ///     let mut receive = 0usize;
    ///     cube.permute(&[3, 2, 1, 0]).algorithm("inversion").run(&cube.rank(), &mut receive).unwrap();
    ///     receive
    /// });
    /// assert_eq!(received, [3, 2, 1, 0]);
    /// ```
    pub fn permute(&self, permutation: &[usize]) -> Permute<'_> {
        let mut prepared = self.prepare(Collective::Permute, 0);
        let mut last = self.permutation.borrow_mut();
        if last.as_deref() != Some(permutation) {
            *last = Some(Arc::from(permutation));
        }
        prepared.call.permutation = last.clone();
        Permute(prepared)
    }

    /// What the last collective on this communicator did, and why; `None` before the first one.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(4, |cube| {
    ///     assert!(cube.last().is_none());
    ///     cube.broadcast(0).algorithm("sbt").run(&mut [0u16; 50]).unwrap();
    ///     let sent = cube.last().unwrap().bytes;
    ///     assert_eq!(sent, [200, 100, 0, 0][cube.rank()]); // 0 to 1 and 2, 1 to 3
    /// });
    /// ```
    pub fn last(&self) -> Option<Explanation> {
        self.last.borrow().as_ref().map(|(plan, seconds)| Explanation::of(plan, *seconds, &self.machine))
    }

    /// [`Hypercube::last`] as text.
    pub fn explain_last(&self) -> String {
        self.last().map_or_else(|| "no collective has run yet".into(), |explanation| explanation.to_string())
    }

    fn prepare(&self, collective: Collective, root: usize) -> Prepared<'_> {
        let call = Call { avoid: self.avoid.borrow().clone(), ..Call::bare(collective, self.size, 0).with_root(root) };
        Prepared { cube: self, call, options: Options::default() }
    }

    /// Whether calls are still possible.
    fn intact(&self) -> Result<()> {
        if self.broken.get() {
            return Err(Error::Broken);
        }
        Ok(())
    }

    /// The plan of a call: checked and built once, then found again.
    fn plan(&self, call: &Call, element: usize, options: &Options) -> Result<Rc<Plan>> {
        self.plans.borrow_mut().find(call, element, options, || {
            call.check()?;
            let overrides = self.overrides.as_ref().map_err(Clone::clone)?;
            let choice = overrides.choose(call, element, options, &self.machine)?;
            let schedule = choice.algorithm.schedule(call, &choice.parameters, self.rank);
            // Between two ranks data goes along paths of unequal lengths, on which a rank is ahead by as much.
            let queues = self.machine.shared.is_none() && !call.collective.has_peer();
            let schedule = if queues { schedule.over_links() } else { schedule };
            let lengths = (call.send_len(self.rank), call.receive_len(self.rank));
            Ok(Plan { call: call.clone(), element, choice, schedule, lengths })
        })
    }

    fn execute(&self, plan: &Rc<Plan>, send: &[u8], receive: &mut [u8], compute: Option<Compute>) -> Result<()> {
        let start = (plan.choice.predicted >= TIMED_FROM).then(Instant::now);
        let mut work = self.work.borrow_mut();
        let mut scratch = work.take_scratch(plan.schedule.scratch * plan.element);
        let buffers = Buffers { send, receive, scratch: bytemuck::cast_slice_mut(&mut scratch), element: plan.element };
        let mut transport = self.transport.borrow_mut();
        if let Some(on) = self.synchronous.take() {
            transport.synchronous_sends(on);
        }
        // Also if a combining function panics.
        self.broken.set(true);
        let outcome = Execution::new(&plan.schedule, buffers, compute, transport.as_mut(), &mut work).run();
        work.put_scratch(scratch);
        self.broken.set(outcome.is_err());
        *self.last.borrow_mut() = Some((Rc::clone(plan), start.map(|start| start.elapsed().as_secs_f64())));
        if log::log_enabled!(log::Level::Debug) {
            log::debug!("rank {}: {}", self.rank, self.explain_last());
        }
        outcome
    }
}

/// What rank 0 finds in its environment, as text.
#[cfg(feature = "mpi")]
fn sources(shares_memory: bool) -> String {
    let host = ::mpi::environment::processor_name().unwrap_or_default();
    let library = ::mpi::environment::library_version().unwrap_or_default();
    let mpi = Some(tuning::mpi_name(&library));
    let here = tuning::Here { host: tuning::host_name(&host).to_string(), mpi, shares_memory };
    Sources::read(here, None).text()
}
