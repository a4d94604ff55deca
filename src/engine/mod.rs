//! The engine of a communicator: it owns the calls under way, and moves all of them whenever it is polled.
//!
//! Calls are started in the same order by all ranks, and end in any. A blocking call is start and wait. When something is wrong, on
//! this rank or on another, all calls under way fail together, and the communicator is broken on all ranks.

mod agreement;
pub(crate) mod arguments;
mod execution;
mod finding;
mod note;
mod record;
mod registry;
mod roll_call;
mod run;
mod staging;
mod watch;

pub(crate) use record::kind;
#[cfg(feature = "mpi")]
pub(crate) use registry::poll_meanwhile;
pub(crate) use registry::{end_all, poll_all, poll_others, share, threads_take_turns, Shared};

use crate::error::{Error, Result};
use crate::executor::memory::Span;
use crate::executor::patience::Patience;
use crate::executor::{Token, Transport, Trouble};
use crate::plan::Plan;
use agreement::Agreement;
use arguments::Arguments;
use execution::{Execution, Means};
use finding::{understood, AGREED};
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;
use watch::Waiting;

/// Looks without progress between two at the clock, and at what ranks tell each other beside their messages. On a busy machine
/// one look can take milliseconds.
pub(crate) const LOOKS: u32 = 64;
/// How long MPI may use buffers of calls that have failed, where no limit is set: before all ranks have let go of them, no error can
/// be returned.
const CEASING: Duration = Duration::from_secs(60);

/// A call under way or over, whose outcome has not been taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ticket {
    place: u32,
    number: u64,
}

/// The engine of one rank's communicator.
pub(crate) struct Engine {
    transport: Box<dyn Transport>,
    agreement: Agreement,
    patience: Patience,
    executions: Vec<Execution>,
    /// Places of executions that are under way, and of those that nobody holds a ticket of.
    active: Vec<u32>,
    unused: Vec<u32>,
    done: Vec<Token>,
    spans: Vec<Span>,
    waiting: Waiting,
    /// Blocking calls that were over as soon as they had started.
    over_at_once: u32,
}

impl Engine {
    pub fn over(transport: Box<dyn Transport>, patience: Patience) -> Engine {
        Engine {
            agreement: Agreement::of(&*transport),
            transport,
            patience,
            executions: Vec::new(),
            active: Vec::new(),
            unused: Vec::new(),
            done: Vec::new(),
            spans: Vec::new(),
            waiting: Waiting::default(),
            over_at_once: 0,
        }
    }

    pub fn ways(&self) -> String {
        self.transport.ways()
    }

    pub fn synchronous_sends(&mut self, on: bool) {
        self.transport.synchronous_sends(on);
    }

    #[cfg(feature = "mpi")]
    pub fn set_single_copy_from(&mut self, bytes: usize) -> Option<usize> {
        self.transport.set_single_copy_from(bytes)
    }

    /// Whether something has gone wrong, here or, as far as this rank has been told, on another one.
    pub fn is_broken(&self) -> bool {
        self.agreement.failure.is_some() || self.agreement.is_broken()
    }

    /// Whether calls are still possible.
    ///
    /// # Errors
    /// What has gone wrong, here or on another rank; [`Error::Broken`] if this rank has been told before.
    #[inline]
    pub fn intact(&mut self) -> Result<()> {
        if !self.is_broken() {
            return Ok(());
        }
        self.broken()
    }

    #[cold]
    fn broken(&mut self) -> Result<()> {
        if let Some(failure) = &self.agreement.failure {
            return Err(Error::Broken { why: failure.to_string() });
        }
        match self.agreement.adopt() {
            Some(error) => {
                self.fail(error.clone());
                Err(error)
            }
            None => Ok(()),
        }
    }

    /// Numbers calls on from those of an engine of the same ranks that this one is used in the place of.
    #[cfg(feature = "mpi")]
    pub fn count_on(&mut self, other: &Engine) {
        self.agreement.records.count_on(other.agreement.records.begun());
    }

    /// A call was refused: it has a number like all others, and they can see why it does not come.
    pub fn refuse(&mut self, collective: &str, why: &Error, at: &'static Location<'static>) {
        if self.agreement.failure.is_none() {
            let oldest = self.oldest();
            self.agreement.records.refuse(collective, &why.to_string(), at, oldest);
        }
    }

    /// Starts a call, which is `attended` if it is waited for at once, if this engine is intact; what the transport then reports becomes its outcome.
    #[inline]
    pub fn start(&mut self, plan: &Rc<Plan>, arguments: &mut Arguments, attended: bool) -> Ticket {
        if self.active.is_empty() {
            self.moved();
        }
        if arguments.multiplies() {
            arguments.clear(); // products are added to it
        }
        let stamp = self.agreement.records.begin(plan, arguments);
        self.transport.forget_before(self.oldest().unwrap_or(stamp.number));
        let place = self.unused.pop().unwrap_or_else(|| {
            self.executions.push(Execution::unused(self.executions.len() as u32));
            self.executions.len() as u32 - 1
        });
        // Before anything starts, so that it ends with the engine whatever happens.
        self.active.push(place);
        let mut means = Means { transport: &mut *self.transport, spans: &mut self.spans };
        let execution = &mut self.executions[place as usize];
        let started = execution.start(plan, stamp, arguments, attended, &mut means);
        let ticket = Ticket { place, number: stamp.number };
        match started {
            Ok(()) => self.settle(place),
            Err(error) => self.fail_here(error),
        }
        ticket
    }

    /// Moves on what can move; whether anything has.
    pub fn poll(&mut self) -> bool {
        self.look(1)
    }

    /// The same for a thread that does not wait, and may compute until it does so again; [`Engine::looked`] then.
    pub fn look_in_passing(&mut self) {
        self.transport.look_begins();
        // MPI says at the second look what it has received at the first.
        if !self.poll() && !self.poll() {
            self.idle(LOOKS);
        }
    }

    /// Such a look is over, at the calls of other engines too.
    pub fn looked(&mut self) {
        self.transport.look_ends();
    }

    /// The same with so many looks at most, until something has moved.
    fn look(&mut self, looks: u32) -> bool {
        // Nothing else can start before all that is under way is complete.
        let all = match self.active[..] {
            [place] => self.waiting.judged.is_none() && self.executions[place as usize].is_all_started(),
            _ => false,
        };
        let mut done = std::mem::take(&mut self.done);
        let (mut moved, mut trouble) = (false, None);
        let (times, at_once) = if self.transport.looks_at_once() { (1, looks) } else { (looks, 1) };
        for time in 1..=times {
            match self.transport.advance(all, at_once, &mut done) {
                Ok(any) => moved = any,
                Err(other) => trouble = Some(other),
            }
            moved |= !done.is_empty();
            if moved || trouble.is_some() || time < times && self.transport.pause() {
                break;
            }
        }
        for token in done.drain(..) {
            let mut means = Means { transport: &mut *self.transport, spans: &mut self.spans };
            let completed = self.executions[token.execution as usize].complete_message(token.operation, &mut means);
            match completed {
                Ok(()) => self.settle(token.execution),
                Err(error) => self.fail_here(error),
            }
            if self.agreement.failure.is_some() {
                break;
            }
        }
        done.clear();
        self.done = done;
        match trouble.map(|trouble| *trouble) {
            Some(_) if self.agreement.failure.is_some() => (),
            Some(Trouble::Failed(error)) => self.fail_here(error),
            Some(Trouble::Stray { number, peer }) => {
                let finding = self.agreement.mismatch(number, &mut *self.transport);
                if finding == AGREED {
                    self.find_stray(number, peer);
                } else {
                    self.find(&finding);
                }
            }
            Some(Trouble::Length { stamp, peer, expected, found }) => self.find_lengths(stamp, peer, expected, found),
            None => (),
        }
        // Messages come first: while a product is being computed, they are under way.
        if let Some(&place) = self.active.iter().find(|&&place| self.executions[place as usize].has_products()) {
            moved = true;
            let mut means = Means { transport: &mut *self.transport, spans: &mut self.spans };
            match self.executions[place as usize].multiply(&mut means) {
                Ok(()) => self.settle(place),
                Err(error) => self.fail_here(error),
            }
        }
        if moved {
            self.moved();
        }
        moved
    }

    /// Whether a call is over, whatever its outcome.
    pub fn is_over(&self, ticket: Ticket) -> bool {
        let execution = &self.executions[ticket.place as usize];
        debug_assert_eq!(execution.stamp.number, ticket.number);
        execution.is_complete()
    }

    /// After so many looks that found nothing: acts if that goes on for long. Where looks are rare, one counts as [`LOOKS`].
    pub fn idle(&mut self, looks: u32) {
        let before = self.waiting.looks / LOOKS;
        self.waiting.looks = self.waiting.looks.checked_add(looks).unwrap_or(looks);
        if self.agreement.is_broken() {
            if let Some(error) = self.agreement.adopt() {
                return self.fail(error);
            }
        }
        if self.waiting.looks / LOOKS != before {
            self.watch();
        }
    }

    /// After a look that found nothing, for a thread that waits: lets others run, and acts if that goes on for long.
    fn rest(&mut self) {
        let slept = self.transport.pause();
        self.idle(if slept { LOOKS } else { 1 });
    }

    /// Waits until a call is over, and moves all others meanwhile; its outcome.
    ///
    /// # Errors
    /// What has gone wrong.
    ///
    /// # Panics
    /// With what a function of the user's has panicked with.
    pub fn wait(&mut self, ticket: Ticket) -> Result<()> {
        while !self.is_over(ticket) {
            let products = self.active.iter().any(|&place| self.executions[place as usize].has_products());
            let looks = if products { 1 } else { LOOKS };
            if !self.look(looks) {
                poll_others();
                let slept = self.transport.pause();
                self.idle(if slept { LOOKS } else { looks });
            }
        }
        self.take(ticket)
    }

    /// After the start of a blocking call: others go on as well where each is over as soon as it has started, and nobody ever waits.
    #[inline]
    pub fn see_to_others(&mut self, ticket: Ticket) {
        if self.is_over(ticket) {
            self.over_at_once = self.over_at_once.wrapping_add(1);
            if self.over_at_once.is_multiple_of(LOOKS) {
                if self.is_busy() {
                    self.poll();
                }
                poll_others();
            }
        }
    }

    /// The outcome of a call that is over.
    ///
    /// # Errors
    /// What has gone wrong.
    ///
    /// # Panics
    /// With what a function of the user's has panicked with.
    pub fn take(&mut self, ticket: Ticket) -> Result<()> {
        let execution = &mut self.executions[ticket.place as usize];
        self.unused.push(ticket.place);
        if let Some(panic) = execution.panic.take() {
            execution.failure = None;
            std::panic::resume_unwind(panic);
        }
        match execution.failure.is_some() {
            false => Ok(()),
            true => execution.failure.take().map_or(Ok(()), Err),
        }
    }

    /// Waits until a call is over, and forgets it.
    pub fn end(&mut self, ticket: Ticket) {
        while !self.is_over(ticket) {
            if !self.poll() {
                poll_others();
                self.rest();
            }
        }
        let execution = &mut self.executions[ticket.place as usize];
        (execution.panic, execution.failure) = (None, None);
        self.unused.push(ticket.place);
    }

    /// Whether any call is under way.
    pub fn is_busy(&self) -> bool {
        !self.active.is_empty()
    }

    /// Ends all calls under way, for instance because their buffers go: the communicator is broken.
    pub fn abandon(&mut self, why: &str) {
        if self.is_busy() {
            let doing = self.doing();
            self.find(&format!("lost\n{0}\nrank {0} {why} {doing}", self.agreement.rank));
        }
    }

    /// The number of the first call under way.
    #[inline]
    fn oldest(&self) -> Option<u64> {
        match self.active[..] {
            [] => None,
            [place] => Some(self.executions[place as usize].stamp.number),
            _ => self.active.iter().map(|&place| self.executions[place as usize].stamp.number).min(),
        }
    }

    /// Takes note of an execution that may be over.
    fn settle(&mut self, place: u32) {
        let execution = &mut self.executions[place as usize];
        if execution.panic.is_some() && self.agreement.failure.is_none() {
            return self.abandon("panicked");
        }
        if execution.is_complete() && execution.plan.is_some() {
            execution.leave();
            if let Some(at) = self.active.iter().position(|&other| other == place) {
                self.active.remove(at);
            }
            let oldest = self.oldest();
            self.agreement.records.end(oldest);
        }
    }

    /// Something is wrong on this rank: says so to all.
    fn fail_here(&mut self, error: Error) {
        if self.agreement.failure.is_none() {
            let doing = self.doing();
            let finding = format!("lost\n{0}\nrank {0} failed {doing}: {error}", self.agreement.rank);
            self.agreement.find(&finding, &mut *self.transport);
            self.fail(error);
        }
    }

    /// All calls under way fail, and all later ones. Nobody uses their buffers after this.
    fn fail(&mut self, error: Error) {
        if self.agreement.failure.is_some() {
            return;
        }
        self.agreement.failure = Some(error.clone());
        self.transport.cease(self.patience.timeout.unwrap_or(CEASING));
        for place in std::mem::take(&mut self.active) {
            let execution = &mut self.executions[place as usize];
            execution.failure = Some(error.clone());
            execution.leave();
            self.agreement.records.end(None);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.abandon("has let go of its communicator");
        // The ranks of this host may have told it what other hosts wait for it to hear.
        let _ = self.intact();
        self.agreement.doing = self.doing();
        if let Some(finding) = self.agreement.listen(&mut *self.transport) {
            self.fail(understood(&finding));
        }
        self.agreement.part(&mut *self.transport);
    }
}
