//! Executors: what carries schedules out.
//!
//! The engine of a communicator drives schedules by the rule of [`crate::schedule`], over a transport that moves messages: real
//! MPI (`mpi`, with the feature of that name) or threads of one process ([`crate::threads`]). The [`simulator`] needs neither:
//! it lives in virtual time.
//!
//! ```
//! use hypercoll::algorithm::{registry, verify, Parameters, PortModel};
//! use hypercoll::collective::{Call, Collective};
//! use hypercoll::executor::simulator;
//! use hypercoll::threads;
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
pub(crate) mod threads;

pub(crate) mod board;
pub(crate) mod caller;
pub(crate) mod memory;
pub(crate) mod patience;

use crate::error::{Error, Result};
use crate::hash::Fnv;
use board::Board;
use memory::Span;
use std::time::Duration;

/// Bytes from which on the receiver of a message copies it, if it may and nobody has measured what is sooner. Shorter messages go
/// through memory that stays in the cores' caches; packets are shorter than this, and than what was measured.
pub(crate) const SINGLE_COPY_FROM: usize = 64 << 10;

/// Bytes of which packets have fewer, so that they are copied twice, given from which length on messages are copied once.
pub(crate) fn piped_below(single_copy_from: Option<usize>) -> usize {
    single_copy_from.map_or(SINGLE_COPY_FROM, |bytes| bytes.min(SINGLE_COPY_FROM))
}

/// Bytes of the pipes into a rank of a host in all, and of one: more would not stay in the cores' caches, fewer would stop the sender too
/// often.
const PIPES: usize = 512 << 10;
const PIPE: std::ops::RangeInclusive<usize> = 4 << 10..=64 << 10;

/// Bytes of the pipe from one rank to another, where so many share a host.
pub(crate) fn pipe(ranks: usize) -> usize {
    (PIPES / ranks.max(1)).next_power_of_two().clamp(*PIPE.start(), *PIPE.end())
}

/// What every message of a call carries, and tells it from those of all other calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    /// The call's number on its communicator, from 1 on.
    pub number: u64,
    /// A hash of all that ranks must agree on, in this call and in all before it: calls may differ and be over on all ranks, and the
    /// next message tells.
    pub signature: u64,
}

impl Stamp {
    /// That of the messages from one rank to another in a call of which only these two know how many elements they have together.
    pub fn of_elements(self, elements: usize) -> Stamp {
        Stamp { signature: self.signature ^ Fnv::of(&elements), ..self }
    }
}

/// An operation of a call under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub execution: u32,
    pub operation: u32,
}

/// Why messages cannot go on.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A message of another call than this rank's has come. The number is that of the earlier of both, or, where a message does not say its
    /// own, of this rank's: tags tell numbers apart that are near to each other.
    Stray { number: u64, peer: usize },
    /// A message of this call has come that is longer or shorter than its receive; bytes.
    Length { stamp: Stamp, peer: usize, expected: usize, found: usize },
    /// The transport has failed.
    Failed(Error),
}

impl Trouble {
    pub fn stray(number: u64, peer: usize) -> Box<Trouble> {
        Box::new(Trouble::Stray { number, peer })
    }

    pub fn length(stamp: Stamp, peer: usize, expected: usize, found: usize) -> Box<Trouble> {
        Box::new(Trouble::Length { stamp, peer, expected, found })
    }
}

impl From<Error> for Box<Trouble> {
    fn from(error: Error) -> Box<Trouble> {
        Box::new(Trouble::Failed(error))
    }
}

/// Moves messages between ranks; those of one call between two ranks match in the order in which they are started.
///
/// It never blocks, and knows nothing of schedules. The spans of a message are left alone by all others until its token is
/// reported: not touched for a receive, not written for a send.
pub(crate) trait Transport {
    fn rank(&self) -> usize;
    fn size(&self) -> usize;

    /// Calls before this one are over: nothing is sent or received for them any more.
    fn forget_before(&mut self, oldest: u64);

    /// Whether receives had better be started before the sends of the same moment.
    fn receives_first(&self) -> bool;

    /// Starts to send the spans as one message of a call. Whether that is complete at once: then its token is not reported.
    fn send(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span]) -> Result<bool>;

    /// Starts to receive one message of a call into the spans; the same. If the call is `attended`, somebody waits for it at once.
    fn receive(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span], attended: bool) -> Result<bool>;

    /// Moves on what can move and reports what is complete; whether anything has moved. With `all` nothing else can start before
    /// all that is under way is complete, so that it may be reported together.
    fn advance(&mut self, all: bool, looks: u32, done: &mut Vec<Token>) -> std::result::Result<bool, Box<Trouble>>;

    /// Whether such looks may follow each other without a pause: then it looks so many times at most, until something has moved.
    fn looks_at_once(&self) -> bool {
        false
    }

    /// Between two looks that found nothing: lets others run; whether that took so long that the clock is worth a look.
    fn pause(&mut self) -> bool;

    /// A thread that does not wait looks at its calls: if it has computed since the last look, it keeps its core until this one has ended,
    /// though it finds nothing to do.
    fn look_begins(&mut self) {}

    /// That look has ended.
    fn look_ends(&mut self) {}

    /// The ranks with which something is under way.
    fn under_way(&self) -> Vec<usize>;

    /// Nothing of any call goes on. Returns when nobody uses the spans of any call any more; ends the job if that takes longer than the
    /// limit.
    fn cease(&mut self, limit: Duration);

    /// What the ranks of this rank's host tell each other.
    fn board(&self) -> Option<&Board>;

    /// Tells a rank that is not on the board.
    fn tell(&mut self, rank: usize, text: &[u8]);

    /// The last that such a rank is told: this one makes no more calls. It tells this one the same, or that its calls have failed.
    fn part(&mut self, rank: usize, text: &[u8]);

    /// What such a rank has told, and who.
    fn hear(&mut self) -> Option<(usize, Vec<u8>)>;

    /// Ends the job, if that can be done; returns otherwise.
    fn end_job(&self, why: &str);

    /// How messages of this rank travel, in words.
    fn ways(&self) -> String;

    /// Test mode: sends complete only when their receive has started.
    fn synchronous_sends(&mut self, on: bool);

    /// From the next message on, its receiver copies it out of the sender's memory if it has so many bytes, unless the user or the system has
    /// something against it: from how many on it does, `usize::MAX` if from none; `None` where no messages go through memory of both.
    fn set_single_copy_from(&mut self, bytes: usize) -> Option<usize>;
}
