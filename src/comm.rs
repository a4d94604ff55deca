//! The communicator: what users call.

use crate::address::dimension_for;
use crate::algorithm::PortModel;
use crate::buffer::{Buffer, BufferMut};
use crate::collective::{Call, Collective};
use crate::error::{Error, Result};
use crate::executor::{Buffers, Combine, Execution, Transport, Workspace};
use crate::explain::Explanation;
use crate::operation::Reduction;
use crate::schedule::{Schedule, Side};
use crate::select::{choose, Choice, Machine, Options};
use bytemuck::Pod;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Plans kept at hand without hashing.
const MOST_RECENT: usize = 4;
/// Plans kept; when as many have been made, the cache starts afresh.
const MOST_PLANS: usize = 4096;

/// A communicator whose collectives run on the hypercube.
///
/// Made from any rsmpi communicator ([`Hypercube::new`]), or handed to each thread by [`crate::threads::run`]. All ranks
/// call the same collectives in the same order, as with MPI. Every call returns a [`Result`]; an error of the arguments
/// leaves the buffers as they were.
///
/// If a collective fails on the way (for instance because ranks pass different counts), the communicator is broken: later
/// calls return [`Error::Broken`], since messages of the failed one may still be under way.
pub struct Hypercube {
    rank: usize,
    size: usize,
    transport: RefCell<Box<dyn Transport>>,
    work: RefCell<Workspace>,
    plans: RefCell<HashMap<PlanKey, Rc<Plan>>>,
    /// The plans used last, looked at first: comparing a few keys is faster than hashing one.
    recent: RefCell<Vec<(PlanKey, Rc<Plan>)>>,
    machine: Machine,
    last: RefCell<Option<(Rc<Plan>, f64)>>,
    broken: Cell<bool>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct PlanKey {
    call: Call,
    element: usize,
    options: Options,
}

/// A schedule, ready to run, and how it came about.
pub(crate) struct Plan {
    pub call: Call,
    pub element: usize,
    pub choice: Choice,
    pub schedule: Schedule,
}

impl Hypercube {
    #[cfg(feature = "mpi")]
    /// A hypercube of the ranks of `communicator` (all ranks call this together). The communicator is duplicated, so the
    /// messages of both never meet; it returns errors instead of aborting.
    ///
    /// `HYPERCOLL_TIMEOUT` (seconds) ends the job, with a message that names the missing ranks, when a collective makes no
    /// progress for so long. `HYPERCOLL_SYNCHRONOUS_SENDS=1` makes every send wait for its receive, for tests.
    ///
    /// # Errors
    /// [`Error::Mpi`] if MPI cannot duplicate the communicator.
    pub fn new(communicator: &impl ::mpi::traits::Communicator) -> Result<Hypercube> {
        let (transport, cores) = crate::executor::mpi::MpiTransport::duplicate(communicator)?;
        let machine = cores.map_or_else(Machine::network, Machine::shared_memory);
        Ok(Hypercube::over(Box::new(transport), machine))
    }

    pub(crate) fn over(transport: Box<dyn Transport>, machine: Machine) -> Hypercube {
        Hypercube {
            rank: transport.rank(),
            size: transport.size(),
            transport: RefCell::new(transport),
            work: RefCell::default(),
            plans: RefCell::default(),
            recent: RefCell::default(),
            machine,
            last: RefCell::default(),
            broken: Cell::new(false),
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

    /// A rank as the root of collectives, as in rsmpi. That it is a rank is checked by the call.
    pub fn process_at_rank(&self, rank: impl TryInto<usize>) -> Process<'_> {
        Process { cube: self, rank: rank.try_into().unwrap_or(usize::MAX) }
    }

    /// Test mode, on all ranks: every send waits until its receive has started (over MPI; threads ignore it). It shows
    /// that nothing leans on MPI's buffers.
    pub fn synchronous_sends(&self, on: bool) {
        self.transport.borrow_mut().synchronous_sends(on);
    }

    /// Waits until all ranks have called it.
    ///
    /// # Errors
    /// Failures of the transport.
    pub fn barrier(&self) -> Result<()> {
        self.prepare(Collective::Barrier, 0).go(0, 1, &[], &mut [], None)
    }

    /// All-gather: `receive` becomes the blocks `send` of all ranks, by rank.
    ///
    /// All ranks: `send` has m elements, `receive` m times [`Hypercube::size`].
    ///
    /// # Errors
    /// [`Error::Length`]; failures of the transport.
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
    pub fn all_gather_in_place<R: BufferMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.all_gather().run_in_place(blocks)
    }

    /// All-to-all: block j of `send` goes to rank j, block i of `receive` comes from rank i.
    ///
    /// All ranks: both have the same length, m times [`Hypercube::size`].
    ///
    /// # Errors
    /// [`Error::Length`]; failures of the transport.
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
    pub fn permute_into<S, R>(&self, permutation: &[usize], send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.permute(permutation).run(send, receive)
    }

    /// A broadcast with options.
    pub fn broadcast(&self, root: usize) -> Broadcast<'_> {
        Broadcast(self.prepare(Collective::Broadcast, root))
    }

    /// A scatter with options.
    pub fn scatter(&self, root: usize) -> Scatter<'_> {
        Scatter(self.prepare(Collective::Scatter, root))
    }

    /// A gather with options.
    pub fn gather(&self, root: usize) -> Gather<'_> {
        Gather(self.prepare(Collective::Gather, root))
    }

    /// An all-gather with options.
    pub fn all_gather(&self) -> AllGather<'_> {
        AllGather(self.prepare(Collective::AllGather, 0))
    }

    /// An all-to-all with options.
    pub fn all_to_all(&self) -> AllToAll<'_> {
        AllToAll(self.prepare(Collective::AllToAll, 0))
    }

    /// A reduce with options.
    pub fn reduce(&self, root: usize) -> Reduce<'_> {
        Reduce(self.prepare(Collective::Reduce, root))
    }

    /// A reduce-scatter with options.
    pub fn reduce_scatter(&self) -> ReduceScatter<'_> {
        ReduceScatter(self.prepare(Collective::ReduceScatter, 0))
    }

    /// An all-reduce with options.
    pub fn all_reduce(&self) -> AllReduce<'_> {
        AllReduce(self.prepare(Collective::AllReduce, 0))
    }

    /// A permutation with options.
    pub fn permute(&self, permutation: &[usize]) -> Permute<'_> {
        let mut prepared = self.prepare(Collective::Permute, 0);
        prepared.call.permutation = Some(Arc::from(permutation));
        Permute(prepared)
    }

    /// What the last collective on this communicator did, and why; `None` before the first one.
    pub fn last(&self) -> Option<Explanation> {
        self.last.borrow().as_ref().map(|(plan, seconds)| Explanation::of(plan, Some(*seconds)))
    }

    /// [`Hypercube::last`] as text.
    pub fn explain_last(&self) -> String {
        self.last().map_or_else(|| "no collective has run yet".into(), |explanation| explanation.to_string())
    }

    fn prepare(&self, collective: Collective, root: usize) -> Prepared<'_> {
        let call = Call::new(collective, self.size, 0).with_root(root);
        Prepared { cube: self, call, options: Options::default() }
    }

    /// The plan of a call: built once, then found again.
    fn plan(&self, call: Call, element: usize, options: Options) -> Result<Rc<Plan>> {
        let key = PlanKey { call, element, options };
        let mut recent = self.recent.borrow_mut();
        if let Some((_, plan)) = recent.iter().find(|(other, _)| *other == key) {
            return Ok(Rc::clone(plan));
        }
        let mut plans = self.plans.borrow_mut();
        let plan = match plans.get(&key) {
            Some(plan) => Rc::clone(plan),
            None => {
                let choice = choose(&key.call, element, &key.options, &self.machine)?;
                let schedule = choice.algorithm.schedule(&key.call, &choice.parameters, self.rank);
                if plans.len() >= MOST_PLANS {
                    plans.clear();
                }
                let plan = Rc::new(Plan { call: key.call.clone(), element, choice, schedule });
                plans.insert(key.clone(), Rc::clone(&plan));
                plan
            }
        };
        recent.truncate(MOST_RECENT - 1);
        recent.insert(0, (key, Rc::clone(&plan)));
        Ok(plan)
    }

    fn execute(&self, plan: &Rc<Plan>, send: &[u8], receive: &mut [u8], combine: Option<Combine>) -> Result<()> {
        let start = Instant::now();
        let mut work = self.work.borrow_mut();
        let mut scratch = work.take_scratch(plan.schedule.scratch * plan.element);
        let buffers = Buffers { send, receive, scratch: bytemuck::cast_slice_mut(&mut scratch), element: plan.element };
        let mut transport = self.transport.borrow_mut();
        let outcome = Execution::new(&plan.schedule, buffers, combine, transport.as_mut(), &mut work).run();
        work.put_scratch(scratch);
        self.broken.set(outcome.is_err());
        *self.last.borrow_mut() = Some((Rc::clone(plan), start.elapsed().as_secs_f64()));
        if log::log_enabled!(log::Level::Debug) {
            log::debug!("rank {}: {}", self.rank, self.explain_last());
        }
        outcome
    }
}

/// A rank as the root of collectives, as in rsmpi. All ranks make the same call for the same root.
#[derive(Clone, Copy)]
pub struct Process<'c> {
    cube: &'c Hypercube,
    rank: usize,
}

impl Process<'_> {
    /// The rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Broadcast: `buffer` of this process to all ranks. All ranks: buffers of equal length.
    ///
    /// # Errors
    /// [`Error::Root`]; failures of the transport.
    pub fn broadcast_into<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<()> {
        self.cube.broadcast(self.rank).run(buffer)
    }

    /// Scatter, on all ranks but the root: `receive` becomes this rank's block of the root's buffer.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] on the root; failures of the transport.
    pub fn scatter_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<()> {
        self.role("scatter_into", "scatter_into_root", false)?;
        self.cube.scatter(self.rank).run(None::<&[R::Element]>, receive)
    }

    /// Scatter, on the root: block i of `send` to rank i. `send` is [`Hypercube::size`] times as long as `receive`.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] elsewhere; [`Error::Length`]; failures of the transport.
    pub fn scatter_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.role("scatter_into_root", "scatter_into", true)?;
        self.cube.scatter(self.rank).run(Some(send), receive)
    }

    /// Gather, on all ranks but the root: `send` becomes this rank's block in the root's buffer.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] on the root; failures of the transport.
    pub fn gather_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<()> {
        self.role("gather_into", "gather_into_root", false)?;
        self.cube.gather(self.rank).run(send, None::<&mut [S::Element]>)
    }

    /// Gather, on the root: `receive` becomes the blocks of all ranks. It is [`Hypercube::size`] times as long as `send`.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] elsewhere; [`Error::Length`]; failures of the transport.
    pub fn gather_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.role("gather_into_root", "gather_into", true)?;
        self.cube.gather(self.rank).run(send, Some(receive))
    }

    /// Reduce, on all ranks but the root: contributes `send`.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] on the root; [`Error::Operation`]; failures of the transport.
    pub fn reduce_into<S, O>(&self, send: &S, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        O: Reduction<S::Element>,
    {
        self.role("reduce_into", "reduce_into_root", false)?;
        self.cube.reduce(self.rank).run(send, None::<&mut [S::Element]>, operation)
    }

    /// Reduce, on the root: `receive` becomes the element-wise combination of `send` of all ranks; equal lengths.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] elsewhere; [`Error::Length`]; [`Error::Operation`]; failures of the transport.
    pub fn reduce_into_root<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        self.role("reduce_into_root", "reduce_into", true)?;
        self.cube.reduce(self.rank).run(send, Some(receive), operation)
    }

    fn role(&self, call: &'static str, instead: &'static str, on_root: bool) -> Result<()> {
        if self.rank >= self.cube.size {
            return Err(Error::Root { root: self.rank, size: self.cube.size });
        }
        if (self.cube.rank == self.rank) != on_root {
            return Err(Error::Role { call, rank: self.cube.rank, root: self.rank, instead });
        }
        Ok(())
    }
}

/// A call being put together.
#[derive(Clone)]
struct Prepared<'c> {
    cube: &'c Hypercube,
    call: Call,
    options: Options,
}

impl Prepared<'_> {
    /// Plans and executes. `count` as in [`Call::count`]; the lengths of the buffers have been checked.
    fn go(
        mut self,
        count: usize,
        element: usize,
        send: &[u8],
        receive: &mut [u8],
        combine: Option<Combine>,
    ) -> Result<()> {
        if self.cube.broken.get() {
            return Err(Error::Broken);
        }
        if self.call.root >= self.call.size {
            return Err(Error::Root { root: self.call.root, size: self.call.size });
        }
        self.call.count = count;
        let plan = self.cube.plan(self.call, element, self.options)?;
        self.cube.execute(&plan, send, receive, combine)
    }

    /// [`Prepared::go`] for a reduction.
    fn reduce<T: Pod>(
        mut self,
        count: usize,
        send: &[T],
        receive: &mut [T],
        operation: &impl Reduction<T>,
    ) -> Result<()> {
        if !operation.defined() || align_of::<T>() > align_of::<u128>() {
            return Err(Error::Operation { operation: operation.name(), element: std::any::type_name::<T>() });
        }
        self.call.ordered = !operation.commutes();
        let combine = |side: Side, from: &[u8], into: &mut [u8]| {
            operation.combine(side, bytemuck::cast_slice(from), bytemuck::cast_slice_mut(into))
        };
        let receive = bytemuck::cast_slice_mut(receive);
        self.go(count, size_of::<T>(), bytemuck::cast_slice(send), receive, Some(&combine))
    }

    fn is_root(&self) -> bool {
        self.cube.rank == self.call.root
    }
}

fn length(argument: &'static str, got: usize, expected: usize, why: &'static str) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::Length { argument, got, expected: expected.to_string(), why })
}

/// The length of a block, if `len` is made of `size` of them.
fn block(argument: &'static str, len: usize, size: usize) -> Result<usize> {
    if len % size == 0 {
        return Ok(len / size);
    }
    Err(Error::Length { argument, got: len, expected: format!("a multiple of {size}"), why: "one block a rank" })
}

macro_rules! prepared {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        #[must_use = "nothing happens before run"]
        pub struct $name<'c>(Prepared<'c>);

        impl $name<'_> {
            /// Names the algorithm instead of leaving it to the library (all ranks the same one).
            pub fn algorithm(mut self, name: &str) -> Self {
                self.0.options.algorithm = Some(name.to_string());
                self
            }

            /// Sets the packet size in elements, at least 1 (all ranks the same).
            pub fn packet(mut self, elements: usize) -> Self {
                self.0.options.packet = Some(elements);
                self
            }

            /// Sets the port model for which the schedule is made (all ranks the same).
            pub fn ports(mut self, ports: PortModel) -> Self {
                self.0.options.ports = Some(ports);
                self
            }

            /// Uses all dimensions at once (true) or one dimension at a time (false), on all ranks the same.
            pub fn symmetrized(mut self, on: bool) -> Self {
                self.0.options.symmetrized = Some(on);
                self
            }

            /// Sets all options at once.
            pub fn options(mut self, options: &Options) -> Self {
                self.0.options = options.clone();
                self
            }
        }
    )*};
}

prepared! {
    /// A broadcast with options; see [`Hypercube::broadcast`].
    Broadcast,
    /// A scatter with options; see [`Hypercube::scatter`].
    Scatter,
    /// A gather with options; see [`Hypercube::gather`].
    Gather,
    /// An all-gather with options; see [`Hypercube::all_gather`].
    AllGather,
    /// An all-to-all with options; see [`Hypercube::all_to_all`].
    AllToAll,
    /// A reduce with options; see [`Hypercube::reduce`].
    Reduce,
    /// A reduce-scatter with options; see [`Hypercube::reduce_scatter`].
    ReduceScatter,
    /// An all-reduce with options; see [`Hypercube::all_reduce`].
    AllReduce,
    /// A permutation with options; see [`Hypercube::permute`].
    Permute,
}

impl Broadcast<'_> {
    /// Runs it; see [`Process::broadcast_into`].
    ///
    /// # Errors
    /// [`Error::Root`]; options that cannot be honoured; failures of the transport.
    pub fn run<B: BufferMut + ?Sized>(self, buffer: &mut B) -> Result<()> {
        let elements = buffer.elements_mut();
        let count = elements.len();
        self.0.go(count, size_of::<B::Element>(), &[], bytemuck::cast_slice_mut(elements), None)
    }
}

impl Scatter<'_> {
    /// Runs it: `send` on the root only (elsewhere `None`, and ignored), `receive` on all ranks; `send` is
    /// [`Hypercube::size`] times as long.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: Option<&S>, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let receive = receive.elements_mut();
        let send = send.filter(|_| self.0.is_root()).map_or(&[][..], |send| send.elements());
        if self.0.is_root() {
            length("send", send.len(), receive.len() * self.0.call.size, "one block a rank, as long as receive")?;
        }
        let count = receive.len();
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }
}

impl Gather<'_> {
    /// Runs it: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); `receive` is
    /// [`Hypercube::size`] times as long.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: &S, receive: Option<&mut R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let send = send.elements();
        let receive = receive.filter(|_| self.0.is_root()).map_or(&mut [][..], |receive| receive.elements_mut());
        if self.0.is_root() {
            length("receive", receive.len(), send.len() * self.0.call.size, "one block a rank, as long as send")?;
        }
        let count = send.len();
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }
}

impl AllGather<'_> {
    /// Runs it; see [`Hypercube::all_gather_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        length("receive", receive.len(), send.len() * self.0.call.size, "one block a rank, as long as send")?;
        let count = send.len();
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }

    /// Runs it in place; see [`Hypercube::all_gather_in_place`].
    ///
    /// # Errors
    /// [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run_in_place<R: BufferMut + ?Sized>(mut self, blocks: &mut R) -> Result<()> {
        let blocks = blocks.elements_mut();
        let count = block("blocks", blocks.len(), self.0.call.size)?;
        self.0.call.in_place = true;
        self.0.go(count, size_of::<R::Element>(), &[], bytemuck::cast_slice_mut(blocks), None)
    }
}

impl AllToAll<'_> {
    /// Runs it; see [`Hypercube::all_to_all_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        let count = block("send", send.len(), self.0.call.size)?;
        length("receive", receive.len(), send.len(), "as long as send")?;
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }
}

impl Reduce<'_> {
    /// Runs it: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); equal lengths.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; failures of the
    /// transport.
    pub fn run<S, R, O>(self, send: &S, receive: Option<&mut R>, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        let send = send.elements();
        let receive = receive.filter(|_| self.0.is_root()).map_or(&mut [][..], |receive| receive.elements_mut());
        if self.0.is_root() {
            length("receive", receive.len(), send.len(), "as long as send")?;
        }
        self.0.reduce(send.len(), send, receive, &operation)
    }
}

impl ReduceScatter<'_> {
    /// Runs it; see [`Hypercube::reduce_scatter_block_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R, O>(self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        length("send", send.len(), receive.len() * self.0.call.size, "one block a rank, as long as receive")?;
        self.0.reduce(receive.len(), send, receive, &operation)
    }
}

impl AllReduce<'_> {
    /// Runs it; see [`Hypercube::all_reduce_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R, O>(self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        length("receive", receive.len(), send.len(), "as long as send")?;
        self.0.reduce(send.len(), send, receive, &operation)
    }

    /// Runs it in place; see [`Hypercube::all_reduce_in_place`].
    ///
    /// # Errors
    /// [`Error::Operation`]; options that cannot be honoured; failures of the transport.
    pub fn run_in_place<R, O>(mut self, values: &mut R, operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element>,
    {
        let values = values.elements_mut();
        self.0.call.in_place = true;
        self.0.reduce(values.len(), &[], values, &operation)
    }
}

impl Permute<'_> {
    /// Runs it; see [`Hypercube::permute_into`].
    ///
    /// # Errors
    /// [`Error::Permutation`]; [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        is_permutation(self.0.call.permutation.as_deref().unwrap_or_default(), self.0.call.size)?;
        length("receive", receive.len(), send.len(), "as long as send")?;
        let count = send.len();
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }
}

fn is_permutation(permutation: &[usize], size: usize) -> Result<()> {
    if permutation.len() != size {
        return Err(Error::Permutation { why: format!("{} targets for {size} ranks", permutation.len()) });
    }
    let mut sources = vec![None; size];
    for (rank, &target) in permutation.iter().enumerate() {
        match sources.get_mut(target) {
            None => return Err(Error::Permutation { why: format!("rank {rank} sends to {target}, which is no rank") }),
            Some(Some(other)) => {
                return Err(Error::Permutation { why: format!("ranks {other} and {rank} both send to {target}") })
            }
            Some(source) => *source = Some(rank),
        }
    }
    Ok(())
}
