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

mod calls;
mod forms;
mod immediate;
mod in_place;
#[cfg(feature = "mpi")]
mod measure;
#[cfg(feature = "mpi")]
mod mpi_hypercube;
mod persistent;
mod prepared;
mod process;
mod raw;
mod scans;
#[cfg(feature = "mpi")]
mod settings;
#[cfg(test)]
mod tests;
mod varcount;

#[cfg(feature = "mpi")]
pub use crate::raw::peers::{MpiAnyProcess, MpiProcess};
#[cfg(feature = "mpi")]
pub use mpi_hypercube::MpiHypercube;
pub use prepared::{AllGather, AllReduce, AllToAll, Broadcast, Exchange, Gather, Given, NeighborAllToAll, Permute};
pub use prepared::{ExclusiveScan, Reduce, ReduceScatter, Scan, Scatter, Send};
pub use process::Process;

use crate::address::{dimension_for, Hosts};
use crate::collective::Call;
use crate::engine::arguments::Arguments;
#[cfg(feature = "mpi")]
use crate::engine::{end_all, poll_meanwhile};
use crate::engine::{poll_all, share, Engine, Shared};
use crate::error::{Error, Result};
use crate::executor::patience::Patience;
use crate::executor::Transport;
#[cfg(feature = "mpi")]
use crate::executor::{mpi::before_mpi_ends, mpi::For, SINGLE_COPY_FROM};
use crate::explain::Explanation;
use crate::plan::{Last, Plan, Plans};
use crate::schedule::Avoided;
use crate::select::{Choice, Lately, Machine, Options, Overrides};
#[cfg(feature = "mpi")]
use crate::select::{Lacks, Measurement, Settings};
use std::cell::{Cell, RefCell, RefMut};
use std::panic::Location;
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
/// If ranks make different calls, or one of them cannot make its, all of them get an error, and this `Hypercube` is broken: later calls
/// return [`Error::Broken`]. See [When ranks disagree](crate#when-ranks-disagree).
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
    engine: Shared,
    /// [`Engine::ways`], which a function of the user's may ask for while the engine is at work.
    ways: RefCell<String>,
    /// What [`Hypercube::synchronous_sends`] was last called with, if the engine has not been told.
    synchronous: Cell<Option<bool>>,
    plans: RefCell<Plans>,
    /// What was chosen lately, where lengths are others in every call.
    lately: RefCell<Lately>,
    machine: Machine,
    /// What the environment asks of calls, or what is wrong with it.
    overrides: Result<Overrides>,
    /// Persistent calls note themselves there.
    last: Rc<RefCell<Last>>,
    avoid: RefCell<Option<Avoided>>,
    /// Which ranks share a host, where there are several, with several ranks.
    hosts: Option<Hosts>,
    /// The last permutation, which is often the next one.
    permutation: RefCell<Option<Arc<[usize]>>>,
    /// Whether nothing is left to measure of the machine.
    measured: bool,
}

impl Hypercube {
    /// A hypercube of the ranks of `communicator` (all ranks call this together). The communicator is duplicated, so the
    /// messages of both never meet; it returns errors instead of aborting.
    ///
    /// Variables of the [environment](crate#environment) are read here, most of them and the tuning file by rank 0 for all ranks.
    ///
    /// # Errors
    /// [`Error::Communicator`] if it is an intercommunicator, ranks have different versions of this library, or MPI does not serve this
    /// thread; [`Error::Mpi`] if MPI cannot duplicate it; [`Error::Timeout`] if ranks are missing; [`Error::Tuning`] if the tuning file that `HYPERCOLL_TUNING` names
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
        Hypercube::made(communicator, true)
    }

    /// The same for few calls, of which nobody knows whether there will be more: it is made sooner. Where all ranks share one memory nothing is
    /// measured, and calls are chosen by figures that are built in; over links, where a wrong choice takes much longer, less is measured, and
    /// briefly. [`Hypercube::is_measured`] says whether that is so.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    #[cfg(feature = "mpi")]
    pub fn unmeasured(communicator: &impl ::mpi::traits::Communicator) -> Result<Hypercube> {
        Hypercube::made(communicator, false)
    }

    /// Whether [`Hypercube::new`] would know no more of the machine than this hypercube does.
    pub fn is_measured(&self) -> bool {
        self.measured
    }

    #[cfg(feature = "mpi")]
    fn made(communicator: &impl ::mpi::traits::Communicator, now: bool) -> Result<Hypercube> {
        before_mpi_ends(For::Calls, end_all)?;
        let patience = Patience::of_environment();
        let duplicate = || {
            let patience = patience.clone();
            crate::executor::mpi::MpiTransport::duplicate(communicator, patience, &settings::found, &poll_meanwhile)
        };
        let (transport, found) = duplicate()?;
        let patience = patience.clone()?;
        let (hosts, shares_memory) = (found.hosts.clone(), found.cores.is_some());
        let settings = settings::resolved(found, transport.rank(), transport.size())?;
        if transport.rank() == 0 {
            settings::warn(&settings);
        }
        let Settings { machine, overrides, lacks, lacks_at_first, .. } = settings;
        let cube = Hypercube { hosts, ..Hypercube::over(Box::new(transport), machine, Ok(overrides), patience) };
        let several = cube.hosts.as_ref().map_or(cube.size, |hosts| hosts.len()) >= measure::HOSTS;
        let of_these = |lacks: Lacks, least| Lacks {
            times: lacks.times && cube.size >= least,
            near: lacks.near && cube.hosts.is_some(),
            links: lacks.links && several,
        };
        // Two ranks over a link have next to no choice: not worth a wait for calls of which there may be no more.
        let [lacks, lacks_at_first] = [of_these(lacks, 2), of_these(lacks_at_first, 3)];
        let measured = lacks == Lacks::default();
        let found = match now {
            true if !measured => measure::measure(&cube, lacks)?,
            false if lacks_at_first != Lacks::default() => measure::brief(&cube, lacks_at_first, lacks)?,
            _ => return Ok(Hypercube { measured, ..cube }),
        };
        settings::remember(shares_memory, &found);
        // Those calls were none of the program's: on the communicator that it gets, its first call is call 1.
        let Hypercube { hosts, machine, overrides, .. } = cube;
        let (transport, _) = duplicate()?;
        let cube = Hypercube::over(Box::new(transport), machine.with(&found), overrides, patience);
        Ok(Hypercube { hosts, measured: measured || now, ..cube })
    }

    pub(crate) fn over(
        mut transport: Box<dyn Transport>,
        machine: Machine,
        overrides: Result<Overrides>,
        patience: Patience,
    ) -> Hypercube {
        let (rank, size) = (transport.rank(), transport.size());
        if let Some(bytes) = machine.single_copy_from {
            transport.set_single_copy_from(bytes);
        }
        let engine = Engine::over(transport, patience);
        Hypercube {
            rank,
            size,
            ways: RefCell::new(engine.ways()),
            engine: share(engine),
            synchronous: Cell::default(),
            plans: RefCell::default(),
            lately: RefCell::default(),
            machine,
            overrides,
            last: Rc::default(),
            avoid: RefCell::default(),
            hosts: None,
            permutation: RefCell::default(),
            measured: true,
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

    /// Which ranks share a host; `None` if all are on one host, or each is on its own. It is the [`Call::hosts`] of this communicator's calls.
    pub fn hosts(&self) -> Option<&Hosts> {
        self.hosts.as_ref()
    }

    /// Seconds that it takes about to measure what [`Hypercube::new`] would know besides, if this hypercube is not measured.
    #[cfg(feature = "mpi")]
    pub fn seconds_of_measuring(&self) -> f64 {
        measure::seconds_of_all(self)
    }

    /// What the choice of algorithms takes the machine to be.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Measures in milliseconds what messages between these ranks take while all are at work, as is done where no tuning file tells (all
    /// ranks call this together, and find the same). The choice of algorithms goes on with [`Hypercube::machine`]. Where ranks that could
    /// have a core of one memory each share one at the moment, their times are not known.
    ///
    /// # Errors
    /// Those of a call.
    #[cfg(feature = "mpi")]
    pub fn measured(&self) -> Result<Measurement> {
        if self.size == 1 {
            return Ok(Measurement::default());
        }
        let measured = measure::measure(self, Lacks { times: true, near: self.hosts.is_some(), links: false });
        self.copy_as(&self.machine)?;
        measured
    }

    /// From the next message on, ranks of one host copy long messages once or twice as it takes less time on that machine (see
    /// [`Machine::single_copy_from`]). A rank that does not call this, or names another machine, sends as before.
    ///
    /// # Errors
    /// [`Error::Nested`] in the middle of one of its calls.
    #[cfg(feature = "mpi")]
    pub fn copy_as(&self, machine: &Machine) -> Result<()> {
        let mut engine = self.engine()?;
        engine.set_single_copy_from(machine.single_copy_from.unwrap_or(SINGLE_COPY_FROM));
        *self.ways.borrow_mut() = engine.ways();
        Ok(())
    }

    /// Whether a collective has failed, here or, as far as this rank has been told, on another one: no other call is possible then.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    ///
    /// hypercoll::threads::run(2, |cube| {
    ///     assert!(!cube.is_broken());
    ///     let mut data = vec![0u8; 4 + cube.rank()]; // 4 or 5 values?
    ///     cube.all_reduce_in_place(&mut data[..], SystemOperation::sum()).unwrap_err();
    ///     assert!(cube.is_broken());
    /// });
    /// ```
    pub fn is_broken(&self) -> bool {
        self.engine().is_ok_and(|engine| engine.is_broken())
    }

    /// How messages of this rank travel, in words: through memory that ranks of one host share, through MPI, or both.
    pub fn transport(&self) -> String {
        self.ways.borrow().clone()
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
    /// reported by [`Hypercube::last`] as always. Persistent calls that have been made go the ways that they were made for: make them anew.
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

    /// Moves all calls under way of the thread, on any communicator, once; whether some are under way after that. For loops that wait for
    /// something else, which another rank may only do when these calls have gone on. All waits for calls do the same.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let barrier = cube.immediate_barrier().unwrap();
    ///     while cube.progress() {
    ///         std::thread::yield_now();
    ///     }
    ///     barrier.wait().unwrap(); // at once
    /// });
    /// ```
    pub fn progress(&self) -> bool {
        poll_all()
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
        self.last.borrow().0.as_ref().map(|(plan, seconds)| Explanation::of(plan, *seconds, &self.machine))
    }

    /// [`Hypercube::last`] as text.
    pub fn explain_last(&self) -> String {
        self.last().map_or_else(|| "no collective has run yet".into(), |explanation| explanation.to_string())
    }

    /// The engine, for a moment.
    ///
    /// # Errors
    /// [`Error::Nested`] in the middle of one of its calls.
    pub(crate) fn engine(&self) -> Result<RefMut<'_, Engine>> {
        let mut engine = self.engine.try_borrow_mut().map_err(|_| Error::Nested)?;
        if let Some(on) = self.synchronous.take() {
            engine.synchronous_sends(on);
        }
        Ok(engine)
    }

    /// Notes that a call was refused, so that the others can see why it does not come; the reason again.
    pub(crate) fn refuse(&self, call: &str, why: Error, at: &'static Location<'static>) -> Error {
        if let Ok(mut engine) = self.engine() {
            engine.refuse(call, &why, at);
        }
        why
    }

    /// The plan of a call: checked and built once, then found again.
    fn plan(
        &self,
        call: &Call,
        element: usize,
        options: Option<&Options>,
        chosen: Option<&Choice>,
    ) -> Result<Rc<Plan>> {
        self.plans.borrow_mut().find(call, element, options, || {
            call.check()?;
            let options = &options.cloned().unwrap_or_default();
            let overrides = self.overrides.as_ref().map_err(Clone::clone)?;
            let choice = match chosen {
                Some(choice) => choice.clone(),
                None => {
                    let choose = || overrides.choose(call, element, options, &self.machine);
                    self.lately.borrow_mut().choose(call, element, options, &self.machine, choose)?
                }
            };
            let shared = self.machine.shared.is_some();
            let schedule = |call: &Call, Choice { algorithm, parameters, .. }: &Choice| {
                algorithm.fitted(call, parameters, self.rank, !shared)
            };
            Ok(Plan::new(call, element, options, choice, (self.rank, shared), schedule))
        })
    }

    /// Notes what has run, and for how long.
    fn note(&self, plan: Rc<Plan>, seconds: Option<f64>) {
        self.last.borrow_mut().note(&plan, seconds);
        if log::log_enabled!(log::Level::Debug) {
            log::debug!("rank {}: {}", self.rank, self.explain_last());
        }
    }

    /// Runs a planned call.
    #[inline]
    fn execute(&self, mut engine: RefMut<Engine>, plan: Rc<Plan>, arguments: &mut Arguments) -> Result<()> {
        let start = (plan.choice.predicted >= TIMED_FROM).then(Instant::now);
        let ticket = engine.start(&plan, arguments, true);
        engine.see_to_others(ticket);
        let outcome = engine.wait(ticket);
        drop(engine);
        self.note(plan, start.map(|start| start.elapsed().as_secs_f64()));
        outcome?; // an error is long, and Ok need not be moved as if it were one
        Ok(())
    }
}
