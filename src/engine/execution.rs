//! One collective under way on one rank: it drives the schedule of a plan by the rule of [`crate::schedule`].
//!
//! It knows an element only as a size and, for reductions and products of matrices, by the function that computes with it.

use super::arguments::{Arguments, Compute};
use super::staging::Staging;
use crate::error::{Error, Result};
use crate::executor::memory::{Memory, Span};
use crate::executor::{Stamp, Token, Transport};
use crate::plan::Plan;
use crate::schedule::{Beginning, Kind, Schedule};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;

/// What an operation is that waits for nothing any more.
const STARTED: u32 = u32::MAX - 1;
const DONE: u32 = u32::MAX;

/// What an execution uses of its engine.
pub(super) struct Means<'m> {
    pub transport: &'m mut dyn Transport,
    /// Memory for the spans of a message.
    pub spans: &'m mut Vec<Span>,
}

/// A collective under way, or the memory of one that is over, to be used again.
pub(super) struct Execution {
    place: u32,
    pub plan: Option<Rc<Plan>>,
    pub stamp: Stamp,
    memory: Memory,
    compute: Option<Compute>,
    /// What stands for the buffers, if something does.
    staging: Option<Rc<Staging>>,
    /// Whether what was received is valid.
    valid: fn(&[u8]) -> bool,
    /// For each operation, how many it still waits for; or [`STARTED`], or [`DONE`].
    states: Vec<u32>,
    candidates: Vec<u32>,
    /// Products that may be computed, in the order of starting.
    products: VecDeque<u32>,
    /// The first operation that is not complete.
    head: usize,
    /// The first operation that is too far ahead of it.
    opened: usize,
    /// Operations that have not started.
    waiting: usize,
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
            place,
            plan: None,
            stamp: Stamp { number: 0, signature: 0 },
            memory: Memory::none(),
            compute: None,
            staging: None,
            valid: |_| true,
            states: Vec::new(),
            candidates: Vec::new(),
            products: VecDeque::new(),
            head: 0,
            opened: 0,
            waiting: 0,
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
        let Beginning { needs, starts } = &plan.beginning;
        let starts = &starts[usize::from(attended)];
        self.states.clear();
        self.states.extend_from_slice(needs);
        self.candidates.clear();
        self.products.clear();
        (self.head, self.opened, self.waiting) = (0, starts.opened, needs.len());
        self.memory.take(&arguments.buffers, plan.schedule.scratch, plan.element);
        self.stamp = stamp;
        self.compute = arguments.compute.clone();
        self.staging = arguments.staging.clone();
        self.valid = arguments.valid;
        self.staging.iter().for_each(|staging| staging.fill());
        self.plan = Some(Rc::clone(plan));
        self.attended = attended;
        let first = match means.transport.receives_first() {
            true => [&starts.receives, &starts.others],
            false => [&starts.others, &starts.receives],
        };
        for &index in first.into_iter().flatten() {
            self.begin(&plan.schedule, index, means)?;
            self.start_candidates(&plan.schedule, means)?;
        }
        Ok(())
    }

    pub fn is_complete(&self) -> bool {
        self.head == self.states.len()
    }

    /// Whether nothing is left to start.
    pub fn is_all_started(&self) -> bool {
        self.waiting == 0
    }

    /// The round of the first operation that is not complete.
    pub fn round(&self) -> Option<usize> {
        let plan = self.plan.as_ref()?;
        plan.schedule.operations().get(self.head).map(|operation| operation.round)
    }

    /// Whether there is something to compute while messages are under way.
    pub fn has_products(&self) -> bool {
        !self.products.is_empty()
    }

    /// The ranks with which messages are under way.
    pub fn peers(&self) -> impl Iterator<Item = usize> + '_ {
        let operations = self.plan.iter().flat_map(|plan| plan.schedule.operations());
        operations.zip(&self.states).filter_map(|(operation, &state)| match operation.kind {
            Kind::Send { peer } | Kind::Receive { peer } if state == STARTED => Some(peer),
            _ => None,
        })
    }

    /// A message has been sent or received.
    ///
    /// # Errors
    /// What the transport reports of what starts now.
    pub fn complete_message(&mut self, operation: u32, means: &mut Means) -> Result<()> {
        let Some(plan) = self.plan.clone() else { return Ok(()) };
        self.complete(&plan.schedule, operation);
        self.start_candidates(&plan.schedule, means)
    }

    /// Computes a product.
    ///
    /// # Errors
    /// As [`Execution::complete_message`].
    pub fn multiply(&mut self, means: &mut Means) -> Result<()> {
        let (Some(plan), Some(index)) = (self.plan.clone(), self.products.pop_front()) else { return Ok(()) };
        let operation = &plan.schedule.operations()[index as usize];
        if let ([a, b, c], Kind::Multiply { inner }) = (plan.schedule.ranges(operation), operation.kind) {
            if let (Some(Compute::Multiply(multiply)), None) = (&self.compute, &self.panic) {
                let act = |a: &[u8], b: &[u8], c: &mut [u8]| multiply(inner, a, b, c);
                let outcome = catch_unwind(AssertUnwindSafe(|| self.memory.with_factors([a, b, c], act)));
                self.panic = outcome.err();
            }
        }
        self.complete(&plan.schedule, index);
        self.start_candidates(&plan.schedule, means)
    }

    /// Lets go of the buffers: nobody uses them any more.
    pub fn leave(&mut self) {
        // Whatever has become of the call, its caller looks at the buffer next.
        if !(self.valid)(self.memory.received()) {
            self.memory.clear_received();
            self.failure.get_or_insert(Error::Element);
        }
        let staging = self.staging.take().filter(|_| self.is_complete());
        if let Some(staging) = staging.filter(|_| self.failure.is_none() && self.panic.is_none()) {
            staging.empty();
        }
        self.memory.leave();
        self.plan = None;
        self.compute = None;
        // Whatever is left of it counts as done.
        self.head = self.states.len();
    }

    /// Starts all candidates, and those that thereby become ones.
    fn start_candidates(&mut self, schedule: &Schedule, means: &mut Means) -> Result<()> {
        while let Some(index) = self.candidates.pop() {
            self.try_start(schedule, index, means)?;
        }
        Ok(())
    }

    /// Starts an operation if the rule allows it.
    fn try_start(&mut self, schedule: &Schedule, index: u32, means: &mut Means) -> Result<()> {
        let at = index as usize;
        let before = schedule.channel_predecessor(&schedule.operations()[at]);
        if self.states[at] == 0
            && at < self.opened
            && before.is_none_or(|before| self.states[before as usize] >= STARTED)
        {
            self.begin(schedule, index, means)?;
        }
        Ok(())
    }

    /// Starts an operation that may start.
    fn begin(&mut self, schedule: &Schedule, index: u32, means: &mut Means) -> Result<()> {
        if self.panic.is_some() {
            return Ok(());
        }
        let operation = &schedule.operations()[index as usize];
        self.states[index as usize] = STARTED;
        self.waiting -= 1;
        self.candidates.extend(schedule.channel_successor(operation));
        let ranges = schedule.ranges(operation);
        let token = Token { execution: self.place, operation: index };
        match operation.kind {
            Kind::Send { peer } | Kind::Receive { peer } => {
                // Most messages are of one.
                let one: [Span; 1];
                let spans = match ranges {
                    [range] => {
                        one = [self.memory.span(range)];
                        &one[..]
                    }
                    _ => {
                        means.spans.clear();
                        means.spans.extend(ranges.iter().map(|range| self.memory.span(range)));
                        &means.spans[..]
                    }
                };
                let is_complete = match operation.kind {
                    Kind::Send { .. } => means.transport.send(token, self.stamp, peer, spans)?,
                    _ => means.transport.receive(token, self.stamp, peer, spans)?,
                };
                if is_complete {
                    self.complete(schedule, index);
                }
            }
            Kind::Copy => {
                self.memory.with_pair(&ranges[0], &ranges[1], |from, into| into.copy_from_slice(from));
                self.complete(schedule, index);
            }
            Kind::Combine { side } => {
                if let Some(Compute::Combine(combine)) = &self.compute {
                    let act = |from: &[u8], into: &mut [u8]| combine.combine(side, from, into);
                    let both = || self.memory.with_pair(&ranges[0], &ranges[1], act);
                    self.panic = catch_unwind(AssertUnwindSafe(both)).err();
                }
                self.complete(schedule, index);
            }
            Kind::Multiply { .. } => self.products.push_back(index),
        }
        Ok(())
    }

    /// Finds out how far operations may start: those that now may are candidates.
    fn open(&mut self, schedule: &Schedule) {
        while self.opened < self.states.len() {
            let at = self.opened;
            let opens = if self.attended { schedule.opens(at) } else { schedule.opens_unattended(at) };
            if opens > self.head {
                break;
            }
            self.candidates.push(at as u32);
            self.opened += 1;
        }
    }

    /// Notes that an operation is complete; what waits for it becomes a candidate.
    fn complete(&mut self, schedule: &Schedule, index: u32) {
        self.states[index as usize] = DONE;
        for &next in schedule.successors(&schedule.operations()[index as usize]) {
            self.states[next as usize] -= 1;
            if self.states[next as usize] == 0 {
                self.candidates.push(next);
            }
        }
        if self.head == index as usize {
            let done = self.states[self.head..].iter().position(|&state| state != DONE);
            self.head = done.map_or(self.states.len(), |done| self.head + done);
            self.open(schedule);
        }
    }
}
