//! One collective under way on one rank: the parts of its plan, one after the other.
//!
//! A part starts when nothing of the one before is left to start, while its last messages are still under way: so two of them are
//! at most. On every channel the messages of a part go before those of the next, as all ranks take the same parts in the same order.

use super::arguments::{Arguments, Compute};
use super::run::{Run, Surroundings};
use super::staging::Staging;
use crate::error::{Error, Result};
use crate::executor::memory::Span;
use crate::executor::{Stamp, Transport};
use crate::plan::Plan;
use std::any::Any;
use std::rc::Rc;

/// The mark, in the numbers of operations that tokens have, of every second part.
const SECOND: u32 = 1 << 31;

/// What an execution uses of its engine.
pub(super) struct Means<'m> {
    pub transport: &'m mut dyn Transport,
    /// Memory for the spans of a message.
    pub spans: &'m mut Vec<Span>,
}

/// A collective under way, or the memory of one that is over, to be used again.
pub(super) struct Execution {
    pub plan: Option<Rc<Plan>>,
    pub stamp: Stamp,
    /// The parts take turns in them.
    runs: [Run; 2],
    /// Parts that have started.
    started: usize,
    buffers: [Span; 2],
    compute: Option<Compute>,
    /// What stands for the buffers, if something does.
    staging: Option<Rc<Staging>>,
    /// Whether what was received is valid.
    valid: fn(&[u8]) -> bool,
    /// Whether the call is waited for at once.
    attended: bool,
    /// What a function of the user's has panicked with.
    pub panic: Option<Box<dyn Any + Send>>,
    /// Why it has failed.
    pub failure: Option<Error>,
}

impl Execution {
    /// One that is not used yet, in a place of its engine.
    pub fn unused(place: u32) -> Execution {
        Execution {
            plan: None,
            stamp: Stamp { number: 0, signature: 0 },
            runs: [Run::unused(place, 0), Run::unused(place, SECOND)],
            started: 0,
            buffers: [Span::NONE; 2],
            compute: None,
            staging: None,
            valid: |_| true,
            attended: true,
            panic: None,
            failure: None,
        }
    }

    /// Starts a call, which is `attended` if it is waited for at once: all operations that may start do.
    ///
    /// # Errors
    /// What the transport reports; some operations may be under way.
    pub fn start(
        &mut self,
        plan: &Rc<Plan>,
        stamp: Stamp,
        arguments: &Arguments,
        attended: bool,
        means: &mut Means,
    ) -> Result<()> {
        self.stamp = stamp;
        self.buffers = arguments.buffers;
        self.compute = arguments.compute.clone();
        self.staging = arguments.staging.clone();
        self.valid = arguments.valid;
        self.staging.iter().for_each(|staging| staging.fill());
        self.plan = Some(Rc::clone(plan));
        self.attended = attended;
        self.started = 0;
        self.go_on(plan, means)
    }

    /// Starts the next parts, if it is time.
    fn go_on(&mut self, plan: &Plan, means: &mut Means) -> Result<()> {
        while self.started < plan.parts.number
            && self.runs[(self.started + 1) % 2].is_all_started()
            && self.runs[self.started % 2].is_complete()
        {
            let nth = self.started;
            self.started += 1;
            let buffers = self.buffers.map(|buffer| plan.parts.span(buffer, nth, plan.element));
            let beginning = &plan.parts.part(nth).beginning;
            self.in_part(plan, nth, means, |run, around| run.start(beginning, &buffers, plan.element, around))?;
        }
        Ok(())
    }

    /// Lets the run of a part act.
    #[inline(always)]
    fn in_part(
        &mut self,
        plan: &Plan,
        nth: usize,
        means: &mut Means,
        act: impl FnOnce(&mut Run, &mut Surroundings) -> Result<()>,
    ) -> Result<()> {
        let mut around = Surroundings {
            schedule: &plan.parts.part(nth).schedule,
            stamp: self.stamp,
            cut_apart: plan.cut_apart(),
            compute: self.compute.as_ref(),
            attended: self.attended,
            panic: &mut self.panic,
            means,
        };
        act(&mut self.runs[nth % 2], &mut around)
    }

    /// Whether no part is left to start.
    fn is_last(&self) -> bool {
        self.plan.as_ref().is_none_or(|plan| self.started == plan.parts.number)
    }

    pub fn is_complete(&self) -> bool {
        self.is_last() && self.runs.iter().all(Run::is_complete)
    }

    /// Whether nothing is left to start.
    pub fn is_all_started(&self) -> bool {
        self.is_last() && self.runs.iter().all(Run::is_all_started)
    }

    /// The runs under way or over of this call, each with the number of its part.
    fn parts(&self) -> impl Iterator<Item = (&Run, usize)> {
        (self.started.saturating_sub(2)..self.started).map(|nth| (&self.runs[nth % 2], nth))
    }

    /// Whether its plan has one part only.
    pub fn has_one_part(&self) -> bool {
        self.plan.as_ref().is_none_or(|plan| plan.parts.number == 1)
    }

    /// The part and the round in it of the first operation that is not complete.
    pub fn round(&self) -> Option<(usize, usize)> {
        let plan = self.plan.as_ref()?;
        self.parts().find_map(|(run, nth)| Some((nth, run.round(&plan.parts.part(nth).schedule)?)))
    }

    /// Whether there is something to compute while messages are under way.
    pub fn has_products(&self) -> bool {
        self.runs.iter().any(Run::has_products)
    }

    /// The ranks with which messages are under way.
    pub fn peers(&self) -> impl Iterator<Item = usize> + '_ {
        let under_way =
            self.plan.iter().flat_map(|plan| self.parts().map(move |(run, nth)| (run, plan.parts.part(nth))));
        under_way.flat_map(|(run, part)| run.peers(&part.schedule))
    }

    /// A message has been sent or received.
    ///
    /// # Errors
    /// What the transport reports of what starts now.
    #[inline(always)]
    pub fn complete_message(&mut self, operation: u32, means: &mut Means) -> Result<()> {
        let turn = usize::from(operation & SECOND != 0);
        self.move_on(turn, means, |run, around| run.complete_message(operation & !SECOND, around))
    }

    /// Computes a product.
    ///
    /// # Errors
    /// As [`Execution::complete_message`].
    pub fn multiply(&mut self, means: &mut Means) -> Result<()> {
        let turn = usize::from(!self.runs[0].has_products());
        self.move_on(turn, means, Run::multiply)
    }

    /// Lets the part whose turn it is go on, and then others start.
    #[inline(always)]
    fn move_on(
        &mut self,
        turn: usize,
        means: &mut Means,
        act: impl FnOnce(&mut Run, &mut Surroundings) -> Result<()>,
    ) -> Result<()> {
        let Some(plan) = self.plan.clone() else { return Ok(()) };
        // The last that has started, or the one before it.
        let nth = self.started - 1 - usize::from((self.started - 1) % 2 != turn);
        self.in_part(&plan, nth, means, act)?;
        self.go_on(&plan, means)
    }

    /// Lets go of the buffers: nobody uses them any more.
    pub fn leave(&mut self) {
        let is_complete = self.is_complete();
        // Whatever has become of the call, its caller looks at the buffer next.
        let [_, received] = &mut self.buffers;
        if !(self.valid)(received.bytes()) {
            received.put_zeros();
            self.failure.get_or_insert(Error::Element);
        }
        let staging = self.staging.take().filter(|_| is_complete);
        if let Some(staging) = staging.filter(|_| self.failure.is_none() && self.panic.is_none()) {
            staging.empty();
        }
        self.buffers = [Span::NONE; 2];
        self.plan = None;
        self.compute = None;
        // Whatever is left of it counts as done.
        self.runs.iter_mut().for_each(Run::leave);
    }
}
