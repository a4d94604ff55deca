//! The MPI executor's transport, on a duplicate of the user's communicator: messages go through memory where two ranks share one,
//! and through MPI otherwise.

use super::asked::{Asked, Use};
use super::host::Host;
use super::messages::Messages;
use super::shared_memory::SharedMemory;
use super::{abort, accept};
use crate::error::{Error, Result};
use crate::executor::{Buffers, Completion, Transport, Wait};
use crate::operation::SystemOperation;
use crate::schedule::BufferRange;
use mpi::ffi;
use mpi::traits::{AsRaw, Communicator};
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

/// After so long without any progress a rank looks for messages that match none of its receives.
const SUSPICION: Duration = Duration::from_millis(100);
/// After so long without any progress a rank says for whom it waits.
const PATIENCE: Duration = Duration::from_secs(10);
/// Looks at shared memory between two looks at MPI's own messages, which other communicators' ranks may wait for.
const LOOKS: u32 = 64;

/// A duplicate of the user's communicator, and the messages under way between its ranks.
pub(crate) struct MpiTransport {
    comm: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    synchronous: bool,
    /// Limit on a wait without progress.
    timeout: Option<Duration>,
    pub(super) messages: Messages,
    shared_memory: Option<SharedMemory>,
    /// Whether the ranks of this host are more than its cores, so that one that waits keeps another from running.
    crowded: bool,
    /// Looks at what is under way so far.
    looks: u32,
}

/// A wait without progress.
#[derive(Default)]
struct Waiting {
    since: Option<Instant>,
    /// What had been waited when mismatched messages were last looked for, and when the wait was last reported.
    look: Duration,
    complaint: Duration,
}

impl Waiting {
    /// Whether a wait of so long is to be reported: again and again, and when it reaches the limit.
    fn is_reported(&mut self, waited: Duration, limit: Option<Duration>) -> bool {
        let next = self.complaint + PATIENCE;
        let due = waited >= limit.map_or(next, |limit| limit.min(next));
        if due {
            self.complaint = waited;
        }
        due
    }
}

impl MpiTransport {
    /// Duplicates a communicator (all its ranks must do so together) and has errors returned instead of aborting. If all
    /// ranks share one memory, also the number of cores that they share.
    pub fn duplicate(parent: &impl Communicator) -> Result<(MpiTransport, Option<usize>)> {
        // SAFETY: a constant handle of MPI, initialised by the rsmpi support library.
        let mut comm = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: `parent` is a live communicator, the other a valid out parameter.
        accept("MPI_Comm_dup", unsafe { ffi::PMPI_Comm_dup(parent.as_raw(), &mut comm) })?;
        // It frees the duplicate, whatever fails from here on.
        let mut transport = MpiTransport {
            comm,
            rank: 0,
            size: 0,
            synchronous: false,
            timeout: None,
            messages: Messages::on(comm),
            shared_memory: None,
            crowded: false,
            looks: 0,
        };
        let (mut rank, mut size): (c_int, c_int) = (0, 0);
        // SAFETY: a live communicator, and valid out parameters.
        unsafe {
            accept("MPI_Comm_set_errhandler", ffi::PMPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN))?;
            accept("MPI_Comm_rank", ffi::PMPI_Comm_rank(comm, &mut rank))?;
            accept("MPI_Comm_size", ffi::PMPI_Comm_size(comm, &mut size))?;
        }
        (transport.rank, transport.size) = (rank as usize, size as usize);
        let host = Host::of(comm, transport.rank)?;
        let asked = Asked::of(|name| std::env::var_os(name).unwrap_or_default().to_string_lossy().into_owned());
        // Ranks that are asked for what there is not take part until all know it.
        let nothing = Asked { shared_memory: Use::Off, ..Asked::default() };
        let Asked { shared_memory, timeout, synchronous } = *asked.as_ref().unwrap_or(&nothing);
        (transport.synchronous, transport.timeout) = (synchronous, timeout);
        transport.shared_memory = SharedMemory::between(&host, transport.size, shared_memory)?;
        transport.crowded = host.ranks.len() > host.cores;
        // All refuse together, or none: the others would wait for ever.
        let mut refused = c_int::from(asked.is_err());
        let own = refused;
        // SAFETY: one element of that type to send and one to receive, and a live communicator.
        let code = unsafe {
            let (from, into) = ((&raw const own).cast::<c_void>(), (&raw mut refused).cast::<c_void>());
            ffi::PMPI_Allreduce(from, into, 1, ffi::RSMPI_INT32_T, ffi::RSMPI_MAX, comm)
        };
        accept("MPI_Allreduce", code)?;
        asked?;
        if refused != 0 {
            return Err(Asked::refused_elsewhere());
        }
        let cores = (host.ranks.len() == transport.size).then_some(host.cores);
        Ok((transport, cores))
    }

    /// Rank 0's text on all ranks (which call this together), by the native broadcast.
    pub fn broadcast_from_rank_0(&self, text: String) -> Result<String> {
        let mut bytes = text.into_bytes();
        let mut len = bytes.len().min(c_int::MAX as usize) as u64;
        // SAFETY: `len` is one element of that type, and a live communicator.
        let told = unsafe { ffi::PMPI_Bcast((&raw mut len).cast::<c_void>(), 1, ffi::RSMPI_UINT64_T, 0, self.comm) };
        accept("MPI_Bcast", told)?;
        bytes.resize(len as usize, 0);
        // SAFETY: `bytes` holds `len` bytes on all ranks.
        let told = unsafe {
            let at = bytes.as_mut_ptr().cast::<c_void>();
            ffi::PMPI_Bcast(at, len as c_int, ffi::RSMPI_UINT8_T, 0, self.comm)
        };
        accept("MPI_Bcast", told)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The memory shared with a rank, and that rank's place in it.
    fn shared_with(&mut self, peer: usize) -> Option<(usize, &mut SharedMemory)> {
        let memory = self.shared_memory.as_mut()?;
        Some((memory.place(peer)?, memory))
    }

    /// Says for whom this rank has been waiting, and ends the job if the user set a limit.
    fn complain(&self, waited: Duration) {
        let shared = self.shared_memory.iter().flat_map(SharedMemory::under_way);
        let mut peers: Vec<usize> = self.messages.under_way().chain(shared).collect();
        peers.sort_unstable();
        peers.dedup();
        let (rank, seconds) = (self.rank, waited.as_secs());
        log::warn!("rank {rank}: no progress for {seconds} s in a collective; waiting for ranks {peers:?}");
        if self.timeout.is_some_and(|limit| waited >= limit) {
            let error = Error::Timeout { seconds, waiting_for: peers };
            abort(self.comm, &format!("rank {rank}: {error}"));
        }
    }

    /// Between two looks at what is under way: lets others run, and acts if the wait becomes long.
    fn wait(&mut self, waiting: &mut Waiting) -> Result<()> {
        // Not every MPI library lets others run when it is asked for progress.
        if self.crowded || !self.messages.any() && self.looks.is_multiple_of(LOOKS) {
            std::thread::yield_now();
        } else if !self.messages.any() {
            std::hint::spin_loop();
        }
        if self.looks.is_multiple_of(1024) {
            let waited = waiting.since.get_or_insert_with(Instant::now).elapsed();
            if waited >= waiting.look + SUSPICION {
                self.messages.cancel_mismatched()?;
                waiting.look = waited;
            }
            if waiting.is_reported(waited, self.timeout) {
                self.complain(waited);
            }
        }
        Ok(())
    }

    /// [`Transport::progress`], whatever an error leaves under way.
    fn look(&mut self, wait: Wait, buffers: &mut Buffers, done: &mut Vec<Completion>) -> Result<()> {
        let mut waiting = Waiting::default();
        loop {
            let (mut shared, mut moved) = (false, false);
            if let Some(memory) = &mut self.shared_memory {
                moved = memory.advance(buffers, done);
                shared = memory.under_way().next().is_some();
            }
            self.looks = self.looks.wrapping_add(1);
            if self.looks.is_multiple_of(LOOKS) && !self.messages.any() {
                self.messages.make_progress(self.rank);
            }
            let through_mpi = self.messages.any();
            if through_mpi {
                // After a while one by one, so that the wait for the others is seen to make progress.
                let all = wait == Wait::All && !shared && waiting.look.is_zero();
                moved |= self.messages.advance(all, buffers, done)?;
            }
            if !done.is_empty() || wait == Wait::Nothing || !(shared || through_mpi) {
                return Ok(());
            }
            if moved {
                waiting = Waiting::default();
            }
            self.wait(&mut waiting)?;
        }
    }
}

impl Transport for MpiTransport {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(
        &mut self,
        operation: u32,
        peer: usize,
        ranges: &[BufferRange],
        buffers: &Buffers,
        failed: bool,
    ) -> Result<()> {
        let synchronous = self.synchronous;
        match self.shared_with(peer) {
            Some((place, memory)) => {
                memory.send(operation, place, if failed { &[] } else { ranges }, buffers, synchronous);
                Ok(())
            }
            None => self.messages.send(operation, peer, ranges, buffers, failed, synchronous),
        }
    }

    fn receive(&mut self, operation: u32, peer: usize, ranges: &[BufferRange], buffers: &mut Buffers) -> Result<()> {
        match self.shared_with(peer) {
            Some((place, memory)) => {
                memory.receive(operation, place, ranges, buffers);
                Ok(())
            }
            None => self.messages.receive(operation, peer, ranges, buffers),
        }
    }

    fn progress(&mut self, wait: Wait, buffers: &mut Buffers, done: &mut Vec<Completion>) -> Result<()> {
        let outcome = self.look(wait, buffers, done);
        if let (Err(error), true, true) = (&outcome, done.is_empty(), self.messages.any()) {
            // MPI would go on to write to buffers that are no longer ours.
            let why = format!("rank {}: {error}; messages are under way that MPI can no longer test", self.rank);
            abort(self.comm, &why);
        }
        outcome
    }

    fn ways(&self) -> String {
        match &self.shared_memory {
            Some(memory) if memory.ranks() == self.size => memory.ways().into(),
            Some(memory) => {
                format!("{} between the {} ranks of rank {}'s host, else MPI", memory.ways(), memory.ranks(), self.rank)
            }
            None => "MPI".into(),
        }
    }

    fn synchronous_sends(&mut self, on: bool) {
        self.synchronous = on;
    }
}

impl Drop for MpiTransport {
    fn drop(&mut self) {
        let mut finalized: c_int = 0;
        // SAFETY: MPI_Finalized may be called at any time; the communicator is ours and is freed once, before MPI ends.
        unsafe {
            ffi::PMPI_Finalized(&mut finalized);
            if finalized == 0 {
                ffi::PMPI_Comm_free(&mut self.comm);
            }
        }
    }
}

/// The operation that an rsmpi handle stands for, so that `mpi::collective::SystemOperation` can be passed as it is.
pub(crate) fn system_operation(operation: &mpi::collective::SystemOperation) -> Option<SystemOperation> {
    let raw = operation.as_raw();
    // SAFETY: constant handles of MPI, initialised by the rsmpi support library.
    let known = unsafe {
        [
            (ffi::RSMPI_SUM, SystemOperation::Sum),
            (ffi::RSMPI_PROD, SystemOperation::Product),
            (ffi::RSMPI_MAX, SystemOperation::Max),
            (ffi::RSMPI_MIN, SystemOperation::Min),
            (ffi::RSMPI_LAND, SystemOperation::LogicalAnd),
            (ffi::RSMPI_LOR, SystemOperation::LogicalOr),
            (ffi::RSMPI_LXOR, SystemOperation::LogicalXor),
            (ffi::RSMPI_BAND, SystemOperation::BitwiseAnd),
            (ffi::RSMPI_BOR, SystemOperation::BitwiseOr),
            (ffi::RSMPI_BXOR, SystemOperation::BitwiseXor),
        ]
    };
    known.into_iter().find(|(handle, _)| *handle == raw).map(|(_, operation)| operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which a wait is reported, looked at ten times a second up to its limit, or up to 35 seconds.
    fn reports(limit: Option<u64>) -> Vec<u64> {
        let limit = limit.map(Duration::from_secs);
        let mut waiting = Waiting::default();
        let looks = (0..=350).map(|tenths| Duration::from_millis(100 * tenths));
        let within = looks.take_while(|waited| limit.is_none_or(|limit| *waited <= limit));
        within.filter(|&waited| waiting.is_reported(waited, limit)).map(|waited| waited.as_secs()).collect()
    }

    #[test]
    fn a_wait_is_reported_every_ten_seconds_and_at_its_limit() {
        assert_eq!(reports(None), [10, 20, 30]);
        assert_eq!(reports(Some(4)), [4]);
        assert_eq!(reports(Some(10)), [10]);
        assert_eq!(reports(Some(15)), [10, 15]);
        assert_eq!(reports(Some(30)), [10, 20, 30]);
    }
}
