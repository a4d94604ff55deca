//! Executors: what carries schedules out.
//!
//! An execution drives the schedule of one rank by the rule of [`crate::schedule`], over a transport that moves messages: real
//! MPI (`mpi`, with the feature of that name) or threads of one process ([`threads`]). It knows an element only as a size
//! and, for reductions and products of matrices, by the function that computes with it. The [`simulator`] needs neither: it
//! lives in virtual time.
//!
//! ```
//! use hypercoll::algorithm::{registry, verify, Parameters, PortModel};
//! use hypercoll::collective::{Call, Collective};
//! use hypercoll::executor::{simulator, threads};
//!
//! // On threads: every rank has the data.
//! let received = threads::run(8, |cube| {
//!     let mut data = [u64::from(cube.rank() == 0); 100];
//!     cube.broadcast(0).algorithm("sbt").run(&mut data).unwrap();
//!     data.iter().sum::<u64>()
//! });
//! assert_eq!(received, [100; 8]);
//!
//! // In virtual time: three messages one after the other, each of 10 + 100 units of time.
//! let sbt = registry::find(Collective::Broadcast, "sbt")?;
//! let parameters = Parameters::new(PortModel::OnePort);
//! let schedules = verify::schedules(sbt, &Call::new(Collective::Broadcast, 8, 100), &parameters);
//! let machine = simulator::Machine::new(10.0, 1.0, PortModel::OnePort);
//! assert_eq!(simulator::simulate(&schedules, &machine).unwrap().time, 330.0);
//! # hypercoll::Result::Ok(())
//! ```

#[cfg(feature = "mpi")]
pub mod mpi;
pub mod simulator;
pub mod threads;

use crate::collective::Buffer;
use crate::error::{Error, Result};
use crate::schedule::{BufferRange, Kind, Schedule, Side};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// The buffers of one call, as bytes.
pub(crate) struct Buffers<'b> {
    pub send: &'b [u8],
    pub receive: &'b mut [u8],
    pub scratch: &'b mut [u8],
    /// Bytes of an element.
    pub element: usize,
}

impl Buffers<'_> {
    /// Bytes of some elements.
    pub fn bytes(&self, ranges: &[BufferRange]) -> usize {
        ranges.iter().map(|r| r.len).sum::<usize>() * self.element
    }

    pub fn part(&self, range: &BufferRange) -> &[u8] {
        let bytes = range.offset * self.element..(range.offset + range.len) * self.element;
        match range.buffer {
            Buffer::Send => &self.send[bytes],
            Buffer::Receive => &self.receive[bytes],
            Buffer::Scratch => &self.scratch[bytes],
        }
    }

    /// A range to write to; empty for the send buffer, which schedules never write.
    pub fn part_mut(&mut self, range: &BufferRange) -> &mut [u8] {
        let bytes = range.offset * self.element..(range.offset + range.len) * self.element;
        match range.buffer {
            Buffer::Send => &mut [],
            Buffer::Receive => &mut self.receive[bytes],
            Buffer::Scratch => &mut self.scratch[bytes],
        }
    }

    /// The ranges one after another.
    pub fn gather(&self, ranges: &[BufferRange], packed: &mut Vec<u8>) {
        packed.clear();
        ranges.iter().for_each(|range| packed.extend_from_slice(self.part(range)));
    }

    /// The opposite of [`Buffers::gather`].
    pub fn scatter(&mut self, mut packed: &[u8], ranges: &[BufferRange]) {
        for range in ranges {
            let part = self.part_mut(range);
            let (head, tail) = packed.split_at(part.len().min(packed.len()));
            part[..head.len()].copy_from_slice(head);
            packed = tail;
        }
    }

    /// Three ranges, the first two elsewhere than in the receive buffer and the last, to be written, in it, as the checker
    /// demands.
    fn factors(&mut self, a: &BufferRange, b: &BufferRange, c: &BufferRange) -> (&[u8], &[u8], &mut [u8]) {
        let size = self.element;
        let bytes = |r: &BufferRange| r.offset * size..(r.offset + r.len) * size;
        let factor = |r: &BufferRange| match r.buffer {
            Buffer::Send => &self.send[bytes(r)],
            Buffer::Receive | Buffer::Scratch => &self.scratch[bytes(r)],
        };
        (factor(a), factor(b), &mut self.receive[bytes(c)])
    }

    /// Two disjoint ranges, the second to be written.
    fn pair(&mut self, from: &BufferRange, into: &BufferRange) -> (&[u8], &mut [u8]) {
        let size = self.element;
        let bytes = |r: &BufferRange| r.offset * size..(r.offset + r.len) * size;
        let (source, target) = (bytes(from), bytes(into));
        match (from.buffer, into.buffer) {
            (Buffer::Send, Buffer::Receive) => (&self.send[source], &mut self.receive[target]),
            (Buffer::Send, _) => (&self.send[source], &mut self.scratch[target]),
            (Buffer::Receive, Buffer::Scratch) => (&self.receive[source], &mut self.scratch[target]),
            (Buffer::Scratch, Buffer::Receive) => (&self.scratch[source], &mut self.receive[target]),
            (Buffer::Receive, _) => split(self.receive, source, target),
            (Buffer::Scratch, _) => split(self.scratch, source, target),
        }
    }
}

/// Two disjoint ranges of one buffer.
fn split(buffer: &mut [u8], from: std::ops::Range<usize>, into: std::ops::Range<usize>) -> (&[u8], &mut [u8]) {
    if from.start < into.start {
        let (low, high) = buffer.split_at_mut(into.start);
        (&low[from], &mut high[..into.len()])
    } else {
        let (low, high) = buffer.split_at_mut(from.start);
        (&high[..from.len()], &mut low[into])
    }
}

/// What an execution waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing: there is something to compute in the meantime.
    Nothing,
    /// Any request: something else may start then.
    Any,
    /// All requests: nothing else is left to start. The transport may report them one by one all the same.
    All,
}

/// A finished request: its operation and, for a receive, the bytes that came.
pub(crate) struct Completion {
    pub operation: u32,
    pub received: Option<usize>,
}

/// Moves messages between ranks; those between two ranks match in the order in which they are started.
///
/// A range that is handed over for a receive must not be touched, one for a send not written, before the operation is
/// reported complete: [`Execution`] sees to it.
pub(crate) trait Transport {
    fn rank(&self) -> usize;
    fn size(&self) -> usize;

    /// Starts to send the ranges as one message; with `failed` an empty message in its place.
    fn send(
        &mut self,
        operation: u32,
        peer: usize,
        ranges: &[BufferRange],
        buffers: &Buffers,
        failed: bool,
    ) -> Result<()>;

    /// Starts to receive one message into the ranges.
    fn receive(&mut self, operation: u32, peer: usize, ranges: &[BufferRange], buffers: &mut Buffers) -> Result<()>;

    /// Waits until something has completed, if it is to wait, and reports what has. If it fails and reports nothing, nothing is
    /// under way any more; if it fails and reports something, whatever else is under way goes on.
    fn progress(&mut self, wait: Wait, buffers: &mut Buffers, done: &mut Vec<Completion>) -> Result<()>;

    /// How messages of this rank travel, in words.
    fn ways(&self) -> String;

    /// Test mode: sends complete only when their receive has started.
    fn synchronous_sends(&mut self, on: bool);
}

/// Combines the bytes of elements into others.
type Combine<'c> = dyn Fn(Side, &[u8], &mut [u8]) + 'c;

/// Adds to the last matrix the product of the first two, given the columns of the first; all as the bytes of elements.
type Multiply<'c> = dyn Fn(usize, &[u8], &[u8], &mut [u8]) + 'c;

/// What a call computes.
#[derive(Clone, Copy)]
pub(crate) enum Compute<'c> {
    /// A reduction.
    Combine(&'c Combine<'c>),
    /// Products of matrices.
    Multiply(&'c Multiply<'c>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Started,
    Done,
}

/// Memory that executions use again and again, so that a repeated call allocates nothing.
#[derive(Default)]
pub(crate) struct Workspace {
    states: Vec<State>,
    needs: Vec<u32>,
    candidates: Vec<u32>,
    /// Products that may be computed, in the order of starting.
    products: VecDeque<u32>,
    done: Vec<Completion>,
    /// In units of 16 bytes, so that elements of any ordinary type are aligned.
    scratch: Vec<u128>,
}

impl Workspace {
    /// Takes scratch memory of at least `bytes` bytes out; give it back with [`Workspace::put_scratch`].
    pub fn take_scratch(&mut self, bytes: usize) -> Vec<u128> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let units = bytes.div_ceil(size_of::<u128>());
        if scratch.len() < units {
            scratch.resize(units, 0);
        }
        scratch
    }

    pub fn put_scratch(&mut self, scratch: Vec<u128>) {
        self.scratch = scratch;
    }
}

/// One collective under way on one rank. It makes progress when polled.
pub(crate) struct Execution<'e> {
    schedule: &'e Schedule,
    buffers: Buffers<'e>,
    compute: Option<Compute<'e>>,
    transport: &'e mut dyn Transport,
    work: &'e mut Workspace,
    /// The first operation that is not complete.
    head: usize,
    /// The first operation that is too far ahead of it.
    opened: usize,
    outstanding: usize,
    /// Operations that have not started.
    waiting: usize,
    /// Why the rest is run with empty messages and without computing; the first reason.
    failure: Option<Error>,
    /// What a function of the user's has panicked with.
    panic: Option<Box<dyn Any + Send>>,
}

impl<'e> Execution<'e> {
    pub fn new(
        schedule: &'e Schedule,
        buffers: Buffers<'e>,
        compute: Option<Compute<'e>>,
        transport: &'e mut dyn Transport,
        work: &'e mut Workspace,
    ) -> Execution<'e> {
        let operations = schedule.operations();
        work.states.clear();
        work.states.resize(operations.len(), State::Waiting);
        work.needs.clear();
        work.needs.extend(operations.iter().map(|o| schedule.dependencies(o).len() as u32));
        work.candidates.clear();
        work.products.clear();
        work.done.clear();
        Execution {
            schedule,
            buffers,
            compute,
            transport,
            work,
            head: 0,
            opened: 0,
            outstanding: 0,
            waiting: operations.len(),
            failure: None,
            panic: None,
        }
    }

    /// Starts, and runs to the end.
    ///
    /// # Errors
    /// What the transport reports, at once if nothing is under way any more; and messages that failed or are of the wrong length:
    /// the rank then still sends and receives all that its schedule says, but sends empty messages, so that the ranks
    /// that wait for them learn of it.
    ///
    /// # Panics
    /// If a function of the user's has panicked, after the rest was run in that way.
    pub fn run(mut self) -> Result<()> {
        let outcome = self.drive();
        // Before any error: that of the transport may come of it.
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        outcome.and(self.failure.take().map_or(Ok(()), Err))
    }

    /// Starts all operations and waits until they are complete.
    fn drive(&mut self) -> Result<()> {
        self.open();
        // Receives first: a message that finds its receive posted needs no copy into MPI's buffers.
        for receives in [true, false] {
            for index in 0..self.opened {
                if receives == matches!(self.schedule.operations()[index].kind, Kind::Receive { .. }) {
                    self.try_start(index as u32)?;
                    self.start_candidates()?;
                }
            }
        }
        while self.head < self.work.states.len() {
            self.poll()?;
        }
        Ok(())
    }

    /// Takes in what has completed and starts what may start. Messages come first: while a product is being computed, they
    /// are under way.
    fn poll(&mut self) -> Result<()> {
        let wait = match (self.work.products.is_empty(), self.waiting) {
            (false, _) => Wait::Nothing,
            (true, 0) => Wait::All,
            (true, _) => Wait::Any,
        };
        let mut done = std::mem::take(&mut self.work.done);
        let outcome = self.transport.progress(wait, &mut self.buffers, &mut done);
        // Before anything can fail: whoever drops this waits for what is left.
        self.outstanding -= done.len();
        if let Err(error) = outcome {
            if done.is_empty() {
                self.outstanding = 0;
                return Err(error);
            }
            self.failure.get_or_insert(error);
        }
        for completion in done.drain(..) {
            self.inspect(&completion);
            self.complete(completion.operation);
            self.start_candidates()?;
        }
        self.work.done = done;
        if let Some(index) = self.work.products.pop_front() {
            self.multiply(index);
            self.start_candidates()?;
        }
        Ok(())
    }

    fn multiply(&mut self, index: u32) {
        let operation = &self.schedule.operations()[index as usize];
        let ([a, b, c], Kind::Multiply { inner }) = (self.schedule.ranges(operation), operation.kind) else { return };
        let (a, b, c) = self.buffers.factors(a, b, c);
        if let (Some(Compute::Multiply(multiply)), None) = (self.compute, &self.failure) {
            let outcome = catch_unwind(AssertUnwindSafe(|| multiply(inner, a, b, c)));
            self.computed(outcome);
        }
        self.complete(index);
    }

    /// Notes a panic: the others must not wait for what this rank will not send.
    fn computed(&mut self, outcome: std::thread::Result<()>) {
        if let Err(panic) = outcome {
            self.panic = Some(panic);
            self.failure = Some(Error::Broken);
        }
    }

    /// Notes a message of the wrong length.
    fn inspect(&mut self, completion: &Completion) {
        let operation = &self.schedule.operations()[completion.operation as usize];
        let (Some(got), Kind::Receive { peer }) = (completion.received, operation.kind) else { return };
        let expected = self.buffers.bytes(self.schedule.ranges(operation));
        if got != expected && self.failure.is_none() {
            let rest_failed = got == 0;
            self.failure = Some(if rest_failed {
                Error::PeerFailed { peer }
            } else {
                Error::CountsDiffer { peer, got, expected }
            });
        }
    }

    /// Starts all candidates, and those that thereby become ones.
    fn start_candidates(&mut self) -> Result<()> {
        while let Some(index) = self.work.candidates.pop() {
            self.try_start(index)?;
        }
        Ok(())
    }

    /// Starts an operation if the rule allows it.
    fn try_start(&mut self, index: u32) -> Result<()> {
        let at = index as usize;
        let operation = &self.schedule.operations()[at];
        let before = self.schedule.channel_predecessor(operation);
        if self.work.states[at] != State::Waiting
            || self.work.needs[at] > 0
            || at >= self.opened
            || before.is_some_and(|before| self.work.states[before as usize] == State::Waiting)
        {
            return Ok(());
        }
        self.work.states[at] = State::Started;
        self.waiting -= 1;
        self.work.candidates.extend(self.schedule.channel_successor(operation));
        let ranges = self.schedule.ranges(operation);
        match operation.kind {
            Kind::Send { peer } => {
                self.transport.send(index, peer, ranges, &self.buffers, self.failure.is_some())?;
                self.outstanding += 1;
            }
            Kind::Receive { peer } => {
                self.transport.receive(index, peer, ranges, &mut self.buffers)?;
                self.outstanding += 1;
            }
            Kind::Copy => {
                let (from, into) = self.buffers.pair(&ranges[0], &ranges[1]);
                into.copy_from_slice(from);
                self.complete(index);
            }
            Kind::Combine { side } => {
                let (from, into) = self.buffers.pair(&ranges[0], &ranges[1]);
                if let (Some(Compute::Combine(combine)), None) = (self.compute, &self.failure) {
                    let outcome = catch_unwind(AssertUnwindSafe(|| combine(side, from, into)));
                    self.computed(outcome);
                }
                self.complete(index);
            }
            Kind::Multiply { .. } => self.work.products.push_back(index),
        }
        Ok(())
    }

    /// Finds out how far operations may start.
    fn open(&mut self) {
        while self.opened < self.work.states.len() && self.schedule.opens(self.opened) <= self.head {
            self.opened += 1;
        }
    }

    /// Notes that an operation is complete; what waits for it becomes a candidate.
    fn complete(&mut self, index: u32) {
        self.work.states[index as usize] = State::Done;
        for &next in self.schedule.successors(&self.schedule.operations()[index as usize]) {
            self.work.needs[next as usize] -= 1;
            if self.work.needs[next as usize] == 0 {
                self.work.candidates.push(next);
            }
        }
        let len = self.work.states.len();
        while self.head < len && self.work.states[self.head] == State::Done {
            self.head += 1;
        }
        let opened = self.opened;
        self.open();
        self.work.candidates.extend(opened as u32..self.opened as u32);
    }
}

impl Drop for Execution<'_> {
    /// Requests under way use the buffers: they end before the buffers go back to their owner.
    fn drop(&mut self) {
        let mut done = Vec::new();
        while self.outstanding > 0 {
            let outcome = self.transport.progress(Wait::All, &mut self.buffers, &mut done);
            self.outstanding -= done.len();
            // Nothing is under way then that still uses the buffers.
            if outcome.is_err() && done.is_empty() {
                return;
            }
            done.clear();
        }
    }
}

#[cfg(test)]
mod tests;
