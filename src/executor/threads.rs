//! The threads executor: ranks are threads of one process. The same public API as over MPI, so a user's code and its
//! tests run without any MPI.
//!
//! Messages are copied once into a mailbox and once out of it; sends never wait.
//!
//! ```
//! use hypercoll::{threads, Hypercube, Result, SystemOperation};
//!
//! /// The scalar product of two vectors that are spread over the ranks: over MPI in the program, on threads in its tests.
//! fn dot(cube: &Hypercube, x: &[f64], y: &[f64]) -> Result<f64> {
//!     let mut sum = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
//!     cube.all_reduce_in_place(&mut sum, SystemOperation::sum())?;
//!     Ok(sum)
//! }
//!
//! let results = threads::run(3, |cube| dot(cube, &[1.0, 2.0], &[10.0, cube.rank() as f64]));
//! // 3 * 1 * 10 + 2 * (0 + 1 + 2)
//! assert_eq!(results, [Ok(36.0), Ok(36.0), Ok(36.0)]);
//! ```

use super::{Buffers, Completion, Transport, Wait};
use crate::error::{Error, Result};
use crate::schedule::BufferRange;
use crate::select::{Machine, Overrides};
use crate::Hypercube;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How often a waiting rank looks whether another one has gone.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `code` on `ranks` threads, each with the [`Hypercube`] of its rank, and returns their results by rank.
///
/// # Panics
/// If `ranks` is 0 or more than 65,536, if the system has no threads for so many, or if the code panics on some rank (the first panic
/// is passed on).
///
/// Of the [environment](crate#environment), what asks for algorithms and their parameters is read; if it asks for what does not
/// exist, every call returns [`Error::Environment`]. No tuning file is read.
///
/// A call that waits for a rank whose code has ended, by a panic or otherwise, ends with [`Error::PeerFailed`] instead of
/// waiting for ever. Other waits have no limit: ranks that wait for each other's calls hang, and nothing reports it.
///
/// # Examples
/// ```
/// let sums = hypercoll::threads::run(6, |cube| {
///     let mine = [cube.rank() as u64];
///     let mut sum = [0];
///     cube.all_reduce_into(&mine, &mut sum, hypercoll::SystemOperation::sum()).unwrap();
///     sum[0]
/// });
/// assert_eq!(sums, [15; 6]);
/// ```
pub fn run<R: Send>(ranks: usize, code: impl Fn(&Hypercube) -> R + Sync) -> Vec<R> {
    assert!((1..=1 << 16).contains(&ranks), "threads::run: {ranks} ranks; 1 to 65,536 are possible");
    let shared = Arc::new(Shared {
        mailboxes: (0..ranks).map(|_| Mailbox::default()).collect(),
        gone: (0..ranks).map(|_| AtomicBool::new(false)).collect(),
        panicked: OnceLock::new(),
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let overrides = Overrides::parse(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()));
    // Before any thread: should there be no more threads, the ranks without one say farewell too, and nobody waits for them.
    let farewells: Vec<_> = (0..ranks).map(|rank| Farewell { rank, shared: Arc::clone(&shared) }).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = farewells
            .into_iter()
            .map(|farewell| {
                let (rank, shared) = (farewell.rank, Arc::clone(&farewell.shared));
                let (code, overrides) = (&code, overrides.clone());
                scope.spawn(move || {
                    let _farewell = farewell;
                    let machine = Machine::shared_memory(cores);
                    let transport = Box::new(Threads { rank, shared, receives: HashMap::new(), done: Vec::new() });
                    code(&Hypercube::over(transport, machine, overrides))
                })
            })
            .collect();
        let mut joined: Vec<_> = threads.into_iter().map(|t| t.join()).collect();
        // The panic that came first is the one to show; the others may only have heard of it.
        if let Some(&rank) = shared.panicked.get() {
            if let Err(panic) = joined.swap_remove(rank) {
                std::panic::resume_unwind(panic);
            }
        }
        joined.into_iter().map(|r| r.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

struct Shared {
    mailboxes: Vec<Mailbox>,
    /// The ranks whose code has ended.
    gone: Vec<AtomicBool>,
    /// The rank that panicked first.
    panicked: OnceLock<usize>,
}

/// Messages to one rank, by sender.
#[derive(Default)]
struct Mailbox {
    messages: Mutex<HashMap<usize, VecDeque<Vec<u8>>>>,
    arrived: Condvar,
}

impl Mailbox {
    /// A panic of another thread leaves whole messages only, so a poisoned lock is as good as any.
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, VecDeque<Vec<u8>>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the others when a rank's code ends.
struct Farewell {
    rank: usize,
    shared: Arc<Shared>,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.panicked.get_or_init(|| self.rank);
        }
        self.shared.gone[self.rank].store(true, Ordering::Release);
        self.shared.mailboxes.iter().for_each(|m| m.arrived.notify_all());
    }
}

struct Threads {
    rank: usize,
    shared: Arc<Shared>,
    /// Receives that wait for their message, by sender.
    receives: HashMap<usize, VecDeque<(u32, Vec<BufferRange>)>>,
    done: Vec<Completion>,
}

impl Threads {
    /// Takes messages that have arrived for receives that wait.
    fn deliver(&mut self, buffers: &mut Buffers) {
        let mut messages = self.shared.mailboxes[self.rank].lock();
        for (peer, waiting) in &mut self.receives {
            let Some(arrived) = messages.get_mut(peer) else { continue };
            // As many as there are of both; the rest of either waits.
            let pairs = waiting.len().min(arrived.len());
            for ((operation, ranges), message) in waiting.drain(..pairs).zip(arrived.drain(..pairs)) {
                buffers.scatter(&message, &ranges);
                self.done.push(Completion { operation, received: Some(message.len()) });
            }
        }
    }
}

impl Transport for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.mailboxes.len()
    }

    fn send(
        &mut self,
        operation: u32,
        peer: usize,
        ranges: &[BufferRange],
        buffers: &Buffers,
        failed: bool,
    ) -> Result<()> {
        let ranges = if failed { &[] } else { ranges };
        let mut message = Vec::with_capacity(buffers.bytes(ranges));
        buffers.gather(ranges, &mut message);
        let mailbox = &self.shared.mailboxes[peer];
        mailbox.lock().entry(self.rank).or_default().push_back(message);
        mailbox.arrived.notify_one();
        self.done.push(Completion { operation, received: None });
        Ok(())
    }

    fn receive(&mut self, operation: u32, peer: usize, ranges: &[BufferRange], _: &mut Buffers) -> Result<()> {
        self.receives.entry(peer).or_default().push_back((operation, ranges.to_vec()));
        Ok(())
    }

    fn progress(&mut self, wait: Wait, buffers: &mut Buffers, done: &mut Vec<Completion>) -> Result<()> {
        loop {
            // Whoever is gone before this look has sent all that it ever sent.
            let mut awaited = self.receives.iter().filter(|(_, waiting)| !waiting.is_empty());
            let gone = awaited.find(|(&peer, _)| self.shared.gone[peer].load(Ordering::Acquire));
            let gone = gone.map(|(&peer, _)| peer);
            self.deliver(buffers);
            if !self.done.is_empty() || wait == Wait::Nothing {
                done.append(&mut self.done);
                return Ok(());
            }
            if let Some(peer) = gone {
                return Err(Error::PeerFailed { peer });
            }
            let mailbox = &self.shared.mailboxes[self.rank];
            let messages = mailbox.lock();
            let expected = |m: &HashMap<usize, VecDeque<Vec<u8>>>| {
                self.receives.iter().any(|(peer, waiting)| {
                    !waiting.is_empty() && m.get(peer).is_some_and(|arrived| !arrived.is_empty())
                })
            };
            if !expected(&messages) {
                drop(mailbox.arrived.wait_timeout(messages, LOOK));
            }
        }
    }

    fn ways(&self) -> String {
        "memory of one process".into()
    }

    /// Sends never wait here; that no algorithm leans on it is shown by the checker and over MPI.
    fn synchronous_sends(&mut self, _: bool) {}
}
