//! Collective calls with options, being put together: what is asked of a call, and how it is planned and started.

use super::Hypercube;
use crate::algorithm::{Latency, Order, PortModel};
use crate::collective::{Call, Collective};
use crate::engine::arguments::Arguments;
use crate::engine::{Engine, Ticket};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::raw::request::{Persistent, Request, Scope};
use crate::select::{Choice, Options};
use crate::topology::sbnt::Variant;
use std::panic::Location;
use std::rc::Rc;

/// A call being put together.
#[derive(Clone)]
pub(super) struct Prepared<'c> {
    pub(super) cube: &'c Hypercube,
    pub(super) call: Call,
    /// Lengths to be compared with those that the call says, if they have not been: elements of both buffers.
    pub(super) lengths: Option<[usize; 2]>,
    /// What is asked of it, if anything is. Most calls are asked for nothing, and are moved about with less.
    asked: Option<Box<Asked>>,
}

/// What is asked of a call beside its arguments.
#[derive(Clone, Default)]
pub(super) struct Asked {
    pub(super) options: Options,
    /// What else ranks must agree on, in words.
    pub(super) besides: Option<Rc<str>>,
    /// What has been chosen for it, if something has, and is what the options say.
    pub(super) chosen: Option<Choice>,
}

impl<'c> Prepared<'c> {
    /// A call of which nothing is asked.
    #[inline]
    pub(super) fn of(cube: &'c Hypercube, call: Call) -> Prepared<'c> {
        Prepared { cube, call, lengths: None, asked: None }
    }

    /// What is asked of it, to be asked for more.
    pub(super) fn asked(&mut self) -> &mut Asked {
        self.asked.get_or_insert_default()
    }

    /// The options, if they say anything.
    pub(super) fn options(&self) -> Option<&Options> {
        self.asked.as_ref().map(|asked| &asked.options).filter(|options| !options.is_empty())
    }

    pub(super) fn is_root(&self) -> bool {
        self.cube.rank == self.call.root
    }

    /// Whether anything ends on this rank, so that its receive buffer counts.
    pub(super) fn receives(&self) -> bool {
        self.call.collective != Collective::ExclusiveScan || self.cube.rank > 0
    }

    /// Runs the call to its end. If the arguments make no sense, the others are told.
    #[inline]
    pub fn run(&mut self, at: &'static Location<'static>, mut arguments: Result<Arguments>) -> Result<()> {
        let cube = self.cube;
        let mut engine = cube.engine()?;
        let plan = self.planned(&mut engine, at, &mut arguments)?;
        match &mut arguments {
            Ok(arguments) => cube.execute(engine, plan, arguments),
            Err(error) => Err(error.clone()),
        }
    }

    /// Starts the call. Whoever holds the ticket sees to it that the call is over before its buffers go.
    pub fn start(&mut self, at: &'static Location<'static>, mut arguments: Result<Arguments>) -> Result<Ticket> {
        let cube = self.cube;
        let mut engine = cube.engine()?;
        let plan = self.planned(&mut engine, at, &mut arguments)?;
        let ticket = engine.start(&plan, &mut arguments?, false);
        cube.note(plan, None);
        Ok(ticket)
    }

    /// The request of the call, started.
    pub fn request<'a, D: ?Sized, S: Scope<'a>>(
        &mut self,
        at: &'static Location<'static>,
        scope: S,
        arguments: Result<Arguments<'a>>,
        data: *const D,
    ) -> Result<Request<'a, D, S>> {
        let ticket = self.start(at, arguments)?;
        Ok(Request::of(Rc::clone(&self.cube.engine), ticket, scope, data))
    }

    /// The call, planned, to be started later.
    pub fn persistent<'a, S: ?Sized, R: ?Sized, Sc: Scope<'a>>(
        &mut self,
        at: &'static Location<'static>,
        scope: Sc,
        mut arguments: Result<Arguments<'a>>,
        buffers: (*mut S, *mut R),
    ) -> Result<Persistent<'a, S, R, Sc>> {
        let Hypercube { engine, last, .. } = self.cube;
        let plan = self.planned(&mut *self.cube.engine()?, at, &mut arguments)?;
        Ok(Persistent::of(Rc::clone(engine), Rc::clone(last), plan, arguments?, scope, buffers))
    }

    #[inline]
    fn planned(
        &mut self,
        engine: &mut Engine,
        at: &'static Location<'static>,
        arguments: &mut Result<Arguments>,
    ) -> Result<Rc<Plan>> {
        if let Ok(made) = arguments {
            self.call.count = made.count;
            if let Some(asked) = &self.asked {
                made.besides.clone_from(&asked.besides);
            }
            if let Err(error) = self.fits() {
                *arguments = Err(error);
            }
        }
        let element = arguments.as_ref().map(|made| made.element);
        let chosen = self.asked.as_ref().and_then(|asked| asked.chosen.as_ref());
        let plan = self.cube.planned(engine, at, &self.call, element, self.options(), chosen)?;
        match self.lengths.map(|lengths| compared(lengths, plan.lengths)) {
            Some(Err(error)) => Err(self.cube.refused(engine, at, &self.call, error)),
            _ => Ok(plan),
        }
    }

    /// Compares the lengths where the call may be longer than what is passed: it must not even be planned, as a plan takes memory by its
    /// length. (Others are compared with those of a plan, which has been made before as a rule.)
    fn fits(&self) -> Result<()> {
        let Prepared { cube, call, lengths, .. } = self;
        match lengths {
            Some(lengths) if call.layout.is_some() || call.count > lengths[0].max(lengths[1]) => {
                call.check()?;
                compared(*lengths, (call.send_len(cube.rank), call.receive_len(cube.rank)))
            }
            _ => Ok(()),
        }
    }

    /// Notes that what is sent is a copy of the buffer that receives. No message differs for it, but ranks have to agree on it.
    pub(super) fn copied_in_place(&mut self) {
        let besides = &mut self.asked().besides;
        let others = besides.take().map_or(String::new(), |words| format!("{words}, "));
        *besides = Some(format!("{others}in place").into());
    }
}

/// Compares lengths with those that a rank is to pass: both of what is sent, and of what is received.
fn compared([send, receive]: [usize; 2], (contributes, gets): (usize, usize)) -> Result<()> {
    length("send", send, contributes, "what this rank contributes")?;
    length("receive", receive, gets, "what this rank gets")
}

impl Hypercube {
    /// The plan of a call of elements of so many bytes. If there is none, or if its arguments are wrong, the others are told.
    #[inline]
    pub(super) fn planned(
        &self,
        engine: &mut Engine,
        at: &'static Location<'static>,
        call: &Call,
        element: std::result::Result<usize, &Error>,
        options: Option<&Options>,
        chosen: Option<&Choice>,
    ) -> Result<Rc<Plan>> {
        if let Err(broken) = engine.intact() {
            // What went ahead of the call may have failed, and has said why.
            let ahead = element.err().filter(|error| {
                matches!(
                    error,
                    Error::Mismatch { .. } | Error::RankFailed { .. } | Error::Timeout { .. } | Error::Mpi { .. }
                )
            });
            return Err(ahead.cloned().unwrap_or(broken));
        }
        let plan = element.map_err(Error::clone).and_then(|element| self.plan(call, element, options, chosen));
        plan.map_err(|error| self.refused(engine, at, call, error))
    }

    /// Tells the others that a call was refused; the reason again.
    #[cold]
    fn refused(&self, engine: &mut Engine, at: &'static Location<'static>, call: &Call, error: Error) -> Error {
        engine.refuse(call.collective.name(), &error, at);
        error
    }
}

pub(super) fn length(argument: &'static str, got: usize, expected: usize, why: &'static str) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::Length { argument, got, expected: expected.to_string(), why })
}

/// The length of a block, if `len` is made of `size` of them.
pub(super) fn block(argument: &'static str, len: usize, size: usize) -> Result<usize> {
    one_of(argument, len, (size, "one block a rank"))
}

/// The same of so many blocks, and why as many. Of none, nothing is made.
pub(super) fn one_of(argument: &'static str, len: usize, (blocks, why): (usize, &'static str)) -> Result<usize> {
    if len.is_multiple_of(blocks) {
        return Ok(len.checked_div(blocks).unwrap_or(0));
    }
    Err(Error::Length { argument, got: len, expected: format!("a multiple of {blocks}"), why })
}

macro_rules! prepared {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        #[must_use = "nothing happens before run"]
        pub struct $name<'c>(pub(super) Prepared<'c>);

        impl $name<'_> {
            /// Names the algorithm instead of leaving it to the library (all ranks the same one).
            pub fn algorithm(mut self, name: &str) -> Self {
                self.0.asked().options.algorithm = Some(name.to_string());
                self
            }

            /// Sets the packet size in elements, at least 1, or [`Options::WHOLE`](crate::select::Options::WHOLE) (all ranks the same).
            pub fn packet(mut self, elements: usize) -> Self {
                self.0.asked().options.packet = Some(elements);
                self
            }

            /// Sets the port model for which the schedule is made (all ranks the same).
            pub fn ports(mut self, ports: PortModel) -> Self {
                self.0.asked().options.ports = Some(ports);
                self
            }

            /// Sets the order of the blocks, where the algorithm has several (all ranks the same).
            pub fn order(mut self, order: Order) -> Self {
                self.0.asked().options.order = Some(order);
                self
            }

            /// Sets the spanning balanced n-tree, where the algorithm uses one (all ranks the same).
            pub fn variant(mut self, variant: Variant) -> Self {
                self.0.asked().options.variant = Some(variant);
                self
            }

            /// Sets for how much latency a tree is made, where the algorithm counts it (all ranks the same).
            pub fn latency(mut self, latency: Latency) -> Self {
                self.0.asked().options.latency = Some(latency);
                self
            }

            /// Uses all dimensions at once (true) or one dimension at a time (false), on all ranks the same.
            pub fn symmetrized(mut self, on: bool) -> Self {
                self.0.asked().options.symmetrized = Some(on);
                self
            }

            /// Sets all options at once.
            pub fn options(mut self, options: &Options) -> Self {
                if !options.is_empty() || self.0.asked.is_some() {
                    self.0.asked().options = options.clone();
                }
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
    /// A neighbourhood all-to-all with options; see [`Hypercube::neighbor_all_to_all`].
    NeighborAllToAll,
    /// A reduce with options; see [`Hypercube::reduce`].
    Reduce,
    /// A reduce-scatter with options; see [`Hypercube::reduce_scatter`].
    ReduceScatter,
    /// An all-reduce with options; see [`Hypercube::all_reduce`].
    AllReduce,
    /// A scan with options; see [`Hypercube::scan`].
    Scan,
    /// An exclusive scan with options; see [`Hypercube::exclusive_scan`].
    ExclusiveScan,
    /// A permutation with options; see [`Hypercube::permute`].
    Permute,
    /// A send with options; see [`Hypercube::send`].
    Send,
    /// An exchange of two ranks with options; see [`Hypercube::exchange`].
    Exchange,
    /// A call given as data, with options; see [`Hypercube::collective`].
    Given,
}

macro_rules! besides {
    ($($name:ident)*) => {$(
        impl $name<'_> {
            /// Notes what ranks must agree on and no argument says, in words.
            pub(crate) fn besides(mut self, words: &str) -> Self {
                self.0.asked().besides = Some(words.into());
                self
            }
        }
    )*};
}

besides!(Reduce ReduceScatter AllReduce Given);
