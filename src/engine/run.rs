//! One schedule under way on one rank, all of a call or one of its parts: driven by the rule of [`crate::schedule`].
//!
//! It knows an element only as a size and, for reductions and products of matrices, by the function that computes with it.

use super::arguments::Compute;
use super::execution::Means;
use crate::collective::Call;
use crate::error::Result;
use crate::executor::memory::{Memory, Span};
use crate::executor::{Stamp, Token};
use crate::schedule::{Beginning, Kind, Schedule};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// What an operation is that waits for nothing any more.
const STARTED: u32 = u32::MAX - 1;
const DONE: u32 = u32::MAX;

/// What a run has of its call, and of its engine.
pub(super) struct Surroundings<'c, 'm> {
    pub schedule: &'c Schedule,
    pub stamp: Stamp,
    /// The call, if its messages say how many elements go between two ranks ([`Plan::cut_apart`](crate::plan::Plan::cut_apart)).
    pub cut_apart: Option<&'c Call>,
    pub compute: Option<&'c Compute>,
    /// Whether the call is waited for at once.
    pub attended: bool,
    /// What a function of the user's has panicked with: nothing starts after that.
    pub panic: &'c mut Option<Box<dyn Any + Send>>,
    pub means: &'c mut Means<'m>,
}

/// A schedule under way, or the memory of one that is over, to be used again.
pub(super) struct Run {
    /// What its tokens have in common.
    token: Token,
    memory: Memory,
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
}

impl Run {
    /// One that is not used yet, in a place of its engine; the numbers of operations in its tokens have `mark`.
    pub fn unused(place: u32, mark: u32) -> Run {
        Run {
            token: Token { execution: place, operation: mark },
            memory: Memory::none(),
            states: Vec::new(),
            candidates: Vec::new(),
            products: VecDeque::new(),
            head: 0,
            opened: 0,
            waiting: 0,
        }
    }

    /// Starts on these buffers, of elements of so many bytes: all operations that may start do.
    ///
    /// # Errors
    /// What the transport reports; some operations may be under way.
    pub fn start(
        &mut self,
        Beginning { needs, starts }: &Beginning,
        buffers: &[Span; 2],
        element: usize,
        around: &mut Surroundings,
    ) -> Result<()> {
        let starts = &starts[usize::from(around.attended)];
        self.states.clear();
        self.states.extend_from_slice(needs);
        self.candidates.clear();
        self.products.clear();
        (self.head, self.opened, self.waiting) = (0, starts.opened, needs.len());
        self.memory.take(buffers, around.schedule.scratch, element);
        let first = match around.means.transport.receives_first() {
            true => [&starts.receives, &starts.others],
            false => [&starts.others, &starts.receives],
        };
        for &index in first.into_iter().flatten() {
            self.begin(index, around)?;
            self.start_candidates(around)?;
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
    pub fn round(&self, schedule: &Schedule) -> Option<usize> {
        schedule.operations().get(self.head).map(|operation| operation.round)
    }

    /// Whether there is something to compute while messages are under way.
    pub fn has_products(&self) -> bool {
        !self.products.is_empty()
    }

    /// The ranks with which messages are under way.
    pub fn peers<'r>(&'r self, schedule: &'r Schedule) -> impl Iterator<Item = usize> + 'r {
        schedule.operations().iter().zip(&self.states).filter_map(|(operation, &state)| match operation.kind {
            Kind::Send { peer } | Kind::Receive { peer } if state == STARTED => Some(peer),
            _ => None,
        })
    }

    /// A message has been sent or received.
    ///
    /// # Errors
    /// What the transport reports of what starts now.
    pub fn complete_message(&mut self, operation: u32, around: &mut Surroundings) -> Result<()> {
        self.complete(operation, around);
        self.start_candidates(around)
    }

    /// Computes a product.
    ///
    /// # Errors
    /// As [`Run::complete_message`].
    pub fn multiply(&mut self, around: &mut Surroundings) -> Result<()> {
        let Some(index) = self.products.pop_front() else { return Ok(()) };
        let operation = &around.schedule.operations()[index as usize];
        if let ([a, b, c], Kind::Multiply { inner }) = (around.schedule.ranges(operation), operation.kind) {
            if let (Some(Compute::Multiply(multiply)), None) = (around.compute, &around.panic) {
                let act = |a: &[u8], b: &[u8], c: &mut [u8]| multiply(inner, a, b, c);
                let outcome = catch_unwind(AssertUnwindSafe(|| self.memory.with_factors([a, b, c], act)));
                *around.panic = outcome.err();
            }
        }
        self.complete(index, around);
        self.start_candidates(around)
    }

    /// Lets go of the buffers: whatever is left of it counts as done.
    pub fn leave(&mut self) {
        self.memory.leave();
        (self.head, self.waiting) = (self.states.len(), 0);
    }

    /// Starts all candidates, and those that thereby become ones.
    #[inline(always)]
    fn start_candidates(&mut self, around: &mut Surroundings) -> Result<()> {
        while let Some(index) = self.candidates.pop() {
            self.try_start(index, around)?;
        }
        Ok(())
    }

    /// Starts an operation if the rule allows it.
    #[inline(always)]
    fn try_start(&mut self, index: u32, around: &mut Surroundings) -> Result<()> {
        let at = index as usize;
        let before = around.schedule.channel_predecessor(&around.schedule.operations()[at]);
        if self.states[at] == 0
            && at < self.opened
            && before.is_none_or(|before| self.states[before as usize] >= STARTED)
        {
            self.begin(index, around)?;
        }
        Ok(())
    }

    /// Starts an operation that may start.
    fn begin(&mut self, index: u32, around: &mut Surroundings) -> Result<()> {
        if around.panic.is_some() {
            return Ok(());
        }
        let schedule = around.schedule;
        let operation = &schedule.operations()[index as usize];
        self.states[index as usize] = STARTED;
        self.waiting -= 1;
        self.candidates.extend(schedule.channel_successor(operation));
        let ranges = schedule.ranges(operation);
        match operation.kind {
            Kind::Send { peer } | Kind::Receive { peer } => {
                let token = Token { operation: self.token.operation | index, ..self.token };
                let means = &mut *around.means;
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
                let (own, sends) = (schedule.rank, matches!(operation.kind, Kind::Send { .. }));
                let (from, to) = if sends { (own, peer) } else { (peer, own) };
                let stamp = match around.cut_apart {
                    Some(call) => around.stamp.of_elements(call.straight(from, to)),
                    None => around.stamp,
                };
                let is_complete = match sends {
                    true => means.transport.send(token, stamp, peer, spans)?,
                    false => means.transport.receive(token, stamp, peer, spans, around.attended)?,
                };
                if is_complete {
                    self.complete(index, around);
                }
            }
            Kind::Copy => {
                self.memory.with_pair(&ranges[0], &ranges[1], |from, into| into.copy_from_slice(from));
                self.complete(index, around);
            }
            Kind::Combine { side } => {
                if let Some(Compute::Combine(combine)) = around.compute {
                    let act = |from: &[u8], into: &mut [u8]| combine.combine(side, from, into);
                    let both = || self.memory.with_pair(&ranges[0], &ranges[1], act);
                    *around.panic = catch_unwind(AssertUnwindSafe(both)).err();
                }
                self.complete(index, around);
            }
            Kind::Multiply { .. } => self.products.push_back(index),
        }
        Ok(())
    }

    /// Notes that an operation is complete; what waits for it becomes a candidate.
    fn complete(&mut self, index: u32, around: &Surroundings) {
        let schedule = around.schedule;
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
            self.open(around);
        }
    }

    /// Finds out how far operations may start: those that now may are candidates.
    fn open(&mut self, around: &Surroundings) {
        let schedule = around.schedule;
        while self.opened < self.states.len() {
            let at = self.opened;
            let opens = if around.attended { schedule.opens(at) } else { schedule.opens_unattended(at) };
            if opens > self.head {
                break;
            }
            self.candidates.push(at as u32);
            self.opened += 1;
        }
    }
}
