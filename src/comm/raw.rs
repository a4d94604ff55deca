//! Calls on untyped buffers: the raw entry as methods of a communicator. See [`crate::raw`].

use super::Hypercube;
use crate::collective::Call;
use crate::engine::arguments::Arguments;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::hash::Fnv;
use crate::operation::Reduction;
use crate::raw::{packed, Buffers, Datatype, Operator, Packed, RawPlan, RawRequest};
use crate::select::{Choice, Machine, Options};
use std::panic::Location;
use std::rc::Rc;

/// The arguments of a call that has been worked out, and what stands for buffers that have gaps.
///
/// # Safety
/// As for [`Hypercube::start_raw`].
#[inline]
unsafe fn arguments<'b, 'd>(
    planned: &RawPlan<'d>,
    buffers: Buffers,
    operator: Option<&'b Operator>,
) -> (Arguments<'b>, Option<Packed<'d>>) {
    let RawPlan { plan, datatype, .. } = planned;
    let (spans, packed) = packed(&plan.call, plan.lengths, buffers, datatype);
    (Arguments::untyped(planned, operator, spans), packed)
}

impl Hypercube {
    /// The name of the algorithm of the last collective on this communicator: [`Hypercube::last`] without all else.
    pub fn last_algorithm(&self) -> Option<&'static str> {
        self.last.borrow().0.as_ref().map(|(plan, _)| plan.choice.algorithm.name)
    }

    /// What a call would get on another machine: as [`crate::select::choose`], with what the environment asks for.
    ///
    /// # Errors
    /// As [`crate::select::choose`]; if the environment asked for something, as [`Error::Environment`] that names the variables.
    pub fn choice_on(&self, machine: &Machine, call: &Call, element: usize, options: &Options) -> Result<Choice> {
        self.overrides.as_ref().map_err(Clone::clone)?.choose(call, element, options, machine)
    }

    /// Numbers calls on from those of another hypercube of the same ranks that this one is used in the place of, as errors name
    /// calls by their numbers. All ranks do this, before the first call.
    ///
    /// # Errors
    /// [`Error::Nested`] in the middle of a call of one of them.
    #[cfg(feature = "mpi")]
    pub fn count_on(&self, other: &Hypercube) -> Result<()> {
        let other = other.engine()?;
        self.engine()?.count_on(&other);
        Ok(())
    }

    /// Starts a call. `operator` is for collectives that reduce, and for them alone.
    ///
    /// # Safety
    /// The buffers have as many elements as the call says, the receive buffer for writing, until the request is over; so have the
    /// operator and what it borrows, and the packing. The request is waited for, or dropped.
    ///
    /// # Errors
    /// As the typed calls'; [`Error::Operation`] if an operator is missing or there is nothing to reduce.
    #[track_caller]
    pub unsafe fn start_raw<'d>(
        &self,
        mut call: Call,
        options: &Options,
        buffers: Buffers,
        datatype: &Datatype<'d>,
        operator: Option<&Operator>,
    ) -> Result<RawRequest<'d>> {
        let at = Location::caller();
        let mut engine = self.engine()?;
        let planned = self.settled(&mut engine, at, &mut call, options, datatype, operator)?;
        let (mut arguments, packed) = arguments(&planned, buffers, operator);
        let ticket = engine.start(&planned.plan, &mut arguments, false);
        self.note(planned.plan, None);
        Ok(RawRequest::of(Rc::clone(&self.engine), ticket, packed))
    }

    /// Runs a call to its end.
    ///
    /// # Safety
    /// As for [`Hypercube::start_raw`], until this returns.
    ///
    /// # Errors
    /// As for [`Hypercube::start_raw`].
    #[track_caller]
    pub unsafe fn run_raw(
        &self,
        call: Call,
        options: &Options,
        buffers: Buffers,
        datatype: &Datatype,
        operator: Option<&Operator>,
    ) -> Result<()> {
        let planned = self.plan_raw(call, options, datatype, operator)?;
        self.run_planned(&planned, buffers, operator)
    }

    /// Works out a call that is to be run by [`Hypercube::run_planned`], once or again and again. Nothing is sent, but if it is refused,
    /// the other ranks are told: all ranks do this alike, in the place of the first run.
    ///
    /// # Errors
    /// As for [`Hypercube::start_raw`].
    #[track_caller]
    pub fn plan_raw<'d>(
        &self,
        mut call: Call,
        options: &Options,
        datatype: &Datatype<'d>,
        operator: Option<&Operator>,
    ) -> Result<RawPlan<'d>> {
        let at = Location::caller();
        let mut engine = self.engine()?;
        self.settled(&mut engine, at, &mut call, options, datatype, operator)
    }

    /// Runs a call to its end that has been worked out. It is made as it was worked out then, whatever has been asked of the communicator
    /// since, and is a call like all others to those ranks that have not.
    ///
    /// # Safety
    /// As for [`Hypercube::start_raw`], until this returns. The plan is of this communicator, and the operator is that of the plan.
    ///
    /// # Errors
    /// What goes wrong between ranks.
    pub unsafe fn run_planned(&self, planned: &RawPlan, buffers: Buffers, operator: Option<&Operator>) -> Result<()> {
        let mut engine = self.engine()?;
        engine.intact()?;
        let (mut arguments, packed) = arguments(planned, buffers, operator);
        self.execute(engine, Rc::clone(&planned.plan), &mut arguments)?;
        packed.iter().for_each(|packed| packed.unpack());
        Ok(())
    }

    /// Tells the other ranks that this one cannot make a call, for a reason that the caller has found, so that they need not wait; the
    /// reason again.
    #[track_caller]
    pub fn refuse_raw(&self, call: &Call, why: Error) -> Error {
        self.refuse(call.collective.name(), why, Location::caller())
    }

    /// What a call is going to do. How long its buffers are, the plan knows: that is not worked out twice.
    #[inline]
    fn settled<'d>(
        &self,
        engine: &mut Engine,
        at: &'static Location<'static>,
        call: &mut Call,
        options: &Options,
        datatype: &Datatype<'d>,
        operator: Option<&Operator>,
    ) -> Result<RawPlan<'d>> {
        call.ordered = operator.is_some_and(|operator| !operator.commutes);
        self.placed(call);
        let wrong = if call.size != self.size() {
            let (got, expected) = (call.size, self.size().to_string());
            Some(Error::Length { argument: "size", got, expected, why: "the ranks of the communicator" })
        } else if operator.is_some() != call.collective.reduces() || call.collective.multiplies() {
            let operation = operator.map_or("none".into(), |operator| operator.name.into());
            Some(Error::Operation { operation, element: datatype.name })
        } else {
            None
        };
        let options = Some(options).filter(|options| !options.is_empty());
        let plan = self.planned(engine, at, call, wrong.as_ref().map_or(Ok(datatype.size), Err), options, None)?;
        let [kind, operation] = [Fnv::of(datatype.name), operator.map_or(0, Reduction::signature)];
        Ok(RawPlan { plan, datatype: *datatype, kind, operation, at })
    }
}
