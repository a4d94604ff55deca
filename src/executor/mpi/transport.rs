//! The MPI executor's transport, on a duplicate of the user's communicator: messages go through memory where two ranks share one,
//! and through MPI otherwise.

use super::meeting::{Found, Meeting};
use super::messages::Messages;
use super::progress::Progress;
use super::shared_memory::SharedMemory;
use super::yielding::{keep_core, tests_give_up_core, Kept};
use super::{abort, departed};
use crate::error::Result;
use crate::executor::board::{Board, Presence};
use crate::executor::memory::Span;
use crate::executor::patience::{say, Patience};
use crate::executor::{Stamp, Token, Transport, Trouble};
use mpi::ffi;
use mpi::traits::Communicator;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// Looks at shared memory between two looks at MPI's own messages, which other communicators' ranks may wait for.
const LOOKS: u32 = 64;
/// The same where each found what was looked for, and the next call begins.
const SELDOM: u32 = 4 * LOOKS;

/// Looks for a short message that is to be received, if no other one is under way, and nobody else wants the core. Measured on two cores of an AMD EPYC,
/// calls of 8 and 64 B: all-gathers, exchanges and sums take .85 to .9 of the time that they take with one look; 100 won no more.
const AT_ONCE: u32 = 20;

/// After so long a time between two looks a thread is taken to compute in between, and not to wait.
const COMPUTES: Duration = Duration::from_micros(100);

/// A duplicate of the user's communicator, and the messages under way between its ranks.
pub(crate) struct MpiTransport {
    comm: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    synchronous: bool,
    pub(super) messages: Messages,
    shared_memory: Option<SharedMemory>,
    board: Option<Board>,
    /// Whether the ranks of this host, or all of the job there, are more than its cores, so that one that waits keeps another from running.
    crowded: bool,
    /// Whether a rank may wait for a message before it does anything else: its core is its own, and as all ranks
    /// share memory, what others wait for is sent before.
    has_time: bool,
    /// Looks at what is under way so far.
    looks: u32,
    /// When a thread that does not wait has looked last.
    looked: Option<Instant>,
    /// While such a look goes on.
    kept: Option<Kept>,
    /// Ranks that have been told that this one makes no more calls.
    parted: Vec<usize>,
    /// The thread that drives MPI, if there is to be one.
    progress: Option<Progress>,
}

impl MpiTransport {
    /// Duplicates a communicator (all its ranks must do so together) and has errors returned instead of aborting. Also what rank
    /// 0 finds, given whether all ranks share one memory. `meanwhile` is called again and again while others are waited for.
    pub fn duplicate(
        parent: &impl Communicator,
        patience: Result<Patience>,
        find: &dyn Fn(bool) -> String,
        meanwhile: &dyn Fn(),
    ) -> Result<(MpiTransport, Found)> {
        let Meeting { comm, rank, size, synchronous, progress, shared_memory, board, crowded, found } =
            Meeting::of(parent.as_raw(), patience, find, meanwhile)?;
        // The others have met already, and do not need this one's thread.
        let progress = progress.then(Progress::start).transpose().unwrap_or_else(|error| {
            say(&format!("rank {rank}: goes on without a thread for progress: {error}"));
            None
        });
        departed::free_those_that_all_have_left();
        let has_time = !crowded && shared_memory.as_ref().is_some_and(|memory| memory.ranks() == size);
        let transport = MpiTransport {
            comm,
            rank,
            size,
            synchronous,
            messages: Messages::on(comm, size),
            shared_memory,
            board,
            crowded,
            has_time,
            looks: 0,
            looked: None,
            kept: None,
            parted: Vec::new(),
            progress,
        };
        Ok((transport, found))
    }

    /// After a look at shared memory: MPI's own messages go on, too, after so many.
    #[inline]
    fn has_looked(&mut self, often: u32) {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(often) && !self.messages.any() {
            self.messages.make_progress(self.rank);
        }
    }

    /// The memory shared with a rank, and that rank's place in it.
    fn shared_with(&mut self, peer: usize) -> Option<(usize, &mut SharedMemory)> {
        let memory = self.shared_memory.as_mut()?;
        Some((memory.place(peer)?, memory))
    }
}

/// Whether MPI has ended, which a communicator may outlive: then nothing of it is called any more.
fn mpi_has_ended() -> bool {
    let mut finalized: c_int = 0;
    // SAFETY: MPI_Finalized may be called at any time.
    unsafe { ffi::PMPI_Finalized(&mut finalized) };
    finalized != 0
}

impl Transport for MpiTransport {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn forget_before(&mut self, oldest: u64) {
        self.messages.forget_before(oldest);
        if let Some(memory) = &mut self.shared_memory {
            memory.forget_before(oldest);
        }
    }

    fn receives_first(&self) -> bool {
        // A message that finds its receive posted needs no copy into MPI's buffers. In shared memory, to look whether it is there takes
        // as long as to fetch it, and what is sent after that is late by as much.
        self.shared_memory.as_ref().is_none_or(|memory| memory.ranks() < self.size)
    }

    fn send(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span]) -> Result<bool> {
        let synchronous = self.synchronous;
        match self.shared_with(peer) {
            Some((place, memory)) => Ok(memory.send(token, stamp, place, spans, synchronous)),
            None => self.messages.send(token, stamp, peer, spans, synchronous),
        }
    }

    fn receive(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span], attended: bool) -> Result<bool> {
        let looks = if attended && self.has_time && !self.messages.any() { AT_ONCE } else { 1 };
        match self.shared_with(peer) {
            Some((place, memory)) => {
                let is_complete = memory.receive(token, stamp, place, spans, looks);
                if is_complete {
                    self.has_looked(SELDOM);
                }
                Ok(is_complete)
            }
            None => self.messages.receive(token, stamp, peer, spans).map(|()| false),
        }
    }

    fn advance(&mut self, all: bool, looks: u32, done: &mut Vec<Token>) -> std::result::Result<bool, Box<Trouble>> {
        let mut moved = match &mut self.shared_memory {
            Some(memory) => memory.advance(done)?,
            None => false,
        };
        self.has_looked(LOOKS);
        if self.messages.any() {
            let shared = self.shared_memory.iter().any(|memory| memory.under_way().next().is_some());
            moved |= self.messages.advance(all && !shared, looks, done)?;
        }
        Ok(moved)
    }

    fn looks_at_once(&self) -> bool {
        // The shorter a look, the sooner the other ranks of a processor have theirs.
        self.shared_memory.is_none() && self.messages.any() && (!self.crowded || tests_give_up_core())
    }

    fn pause(&mut self) -> bool {
        // Not every MPI library lets others run when it is asked for progress. One that does has done so unless something came, which the
        // next look will see: to give up the core now would put that off until all others have had theirs.
        let any = self.messages.any();
        match self.crowded {
            true if any && tests_give_up_core() => {}
            true => std::thread::yield_now(),
            false if any => {}
            false if self.looks.is_multiple_of(LOOKS) => std::thread::yield_now(),
            false => std::hint::spin_loop(),
        }
        false
    }

    fn look_begins(&mut self) {
        // Elsewhere there is nobody to give the core to.
        if self.crowded && self.looked.is_none_or(|looked| looked.elapsed() > COMPUTES) {
            self.kept = keep_core();
        }
    }

    fn look_ends(&mut self) {
        if self.crowded {
            self.kept = None;
            self.looked = Some(Instant::now());
        }
    }

    fn under_way(&self) -> Vec<usize> {
        let shared = self.shared_memory.iter().flat_map(SharedMemory::under_way);
        self.messages.under_way().chain(shared).collect()
    }

    fn cease(&mut self, limit: Duration) {
        let through_mpi = |peer: &usize| match &self.shared_memory {
            Some(memory) => memory.place(*peer).is_none() && *peer != self.rank,
            None => *peer != self.rank,
        };
        let peers: Vec<usize> = (0..self.size).filter(through_mpi).collect();
        if let Some(memory) = &mut self.shared_memory {
            memory.cease();
        }
        if !mpi_has_ended() {
            self.messages.cease(&peers, self.board.as_ref(), limit);
        }
    }

    fn board(&self) -> Option<&Board> {
        self.board.as_ref()
    }

    fn tell(&mut self, rank: usize, text: &[u8]) {
        if !mpi_has_ended() {
            self.messages.tell(rank, text);
        }
    }

    fn part(&mut self, rank: usize, text: &[u8]) {
        if !mpi_has_ended() {
            self.parted.push(rank);
            self.messages.part(rank, text);
        }
    }

    fn hear(&mut self) -> Option<(usize, Vec<u8>)> {
        if mpi_has_ended() {
            return None;
        }
        self.messages.hear()
    }

    fn end_job(&self, why: &str) {
        abort(self.comm, why);
    }

    fn ways(&self) -> String {
        let mpi = if self.progress.is_some() { "MPI, driven by a thread" } else { "MPI" };
        match &self.shared_memory {
            Some(memory) if memory.ranks() == self.size => memory.ways(),
            Some(memory) => {
                format!(
                    "{} between the {} ranks of rank {}'s host, else {mpi}",
                    memory.ways(),
                    memory.ranks(),
                    self.rank
                )
            }
            None => mpi.into(),
        }
    }

    fn synchronous_sends(&mut self, on: bool) {
        self.synchronous = on;
    }

    fn set_single_copy_from(&mut self, bytes: usize) -> Option<usize> {
        self.shared_memory.as_mut().map(|memory| memory.set_single_copy_from(bytes))
    }
}

impl Drop for MpiTransport {
    fn drop(&mut self) {
        if let Some(board) = &self.board {
            board.mine().leave(if std::thread::panicking() { Presence::Panicked } else { Presence::Left });
        }
        let ended = mpi_has_ended();
        let broken = self.board.as_ref().is_some_and(Board::is_broken);
        if !ended && !self.parted.is_empty() {
            departed::leave(self.comm, self.messages.leave(), std::mem::take(&mut self.parted));
        } else if ended || broken || self.messages.is_spoilt() {
            // A message that still comes must not be taken for one of a later communicator, which could have the same number.
            self.messages.abandon();
        } else {
            // SAFETY: the communicator is ours and is freed once, before MPI ends.
            unsafe { ffi::PMPI_Comm_free(&mut self.comm) };
        }
    }
}
