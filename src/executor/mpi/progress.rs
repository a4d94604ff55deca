//! A thread that lets MPI make progress while the program computes: `HYPERCOLL_PROGRESS=thread`.
//!
//! MPI libraries move most messages only while they are called. The thread calls MPI again and again, and sleeps in between. It knows
//! nothing of calls of this library: what has to start when a message has come starts when the program looks.
//!
//! There is one in a process, for all communicators that want it. It ends with the last of them, and at the latest when MPI does.

use super::accept;
use super::ending::{before_mpi_ends, For};
use crate::error::{Error, Result};
use mpi::ffi;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the thread sleeps. On Linux it takes half as long again to wake up; a look that finds nothing takes about a microsecond.
const PERIOD: Duration = Duration::from_micros(100);

/// A communicator of one rank, on which nothing is sent: a probe there finds nothing, and so makes progress.
struct Own(ffi::MPI_Comm);

// SAFETY: a handle, which any thread may use where MPI serves several at a time.
unsafe impl Send for Own {}

struct Running {
    users: usize,
    comm: Own,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// The thread.
struct Process {
    running: Option<Running>,
}

static PROCESS: Mutex<Process> = Mutex::new(Process { running: None });

fn process() -> MutexGuard<'static, Process> {
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread runs at least as long as this, unless MPI ends.
pub(super) struct Progress(());

impl Progress {
    /// Whether MPI serves several threads at a time.
    ///
    /// # Errors
    /// [`Error::Environment`] if it does not.
    pub fn is_possible() -> Result<()> {
        let mut level: c_int = 0;
        // SAFETY: MPI has been initialised; a valid out parameter.
        accept("MPI_Query_thread", unsafe { ffi::PMPI_Query_thread(&mut level) })?;
        if level < ffi::MPI_THREAD_MULTIPLE as c_int {
            let why = "'thread' needs MPI_THREAD_MULTIPLE; initialise MPI with Threading::Multiple";
            return Err(Error::Environment { variable: "HYPERCOLL_PROGRESS".into(), why: why.into() });
        }
        Ok(())
    }

    /// Starts the thread, unless it runs; it must be possible.
    ///
    /// # Errors
    /// Those of MPI and of the operating system.
    pub fn start() -> Result<Progress> {
        let mut process = process();
        if let Some(running) = &mut process.running {
            running.users += 1;
            return Ok(Progress(()));
        }
        // Its communicator is then left to MPI, which is at work on communicators just now.
        before_mpi_ends(For::Progress, || _ = self::process().end())?;
        // SAFETY: constant handles of MPI, initialised by the rsmpi support library, and a valid out parameter.
        let comm = unsafe {
            let mut comm = ffi::RSMPI_COMM_NULL;
            // A duplicate would take the program's attributes with it.
            accept("MPI_Comm_split", ffi::PMPI_Comm_split(ffi::RSMPI_COMM_SELF, 0, 0, &mut comm))?;
            accept("MPI_Comm_set_errhandler", ffi::PMPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN))?;
            comm
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (own, stopped) = (Own(comm), Arc::clone(&stop));
        let thread = std::thread::Builder::new().name("hypercoll-mpi".into());
        let thread = thread.spawn(move || drive(&own, &stopped)).map_err(|error| Error::Environment {
            variable: "HYPERCOLL_PROGRESS".into(),
            why: format!("no thread can be started ({error})"),
        })?;
        process.running = Some(Running { users: 1, comm: Own(comm), stop, thread });
        Ok(Progress(()))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let mut process = process();
        // MPI may have ended, and the thread with it.
        let Some(running) = &mut process.running else { return };
        running.users -= 1;
        if running.users == 0 {
            if let Some(mut comm) = process.end() {
                // SAFETY: ours, freed once; MPI has not ended, as the thread was there, and nobody else uses it.
                unsafe { ffi::PMPI_Comm_free(&mut comm.0) };
            }
        }
    }
}

impl Process {
    /// Ends the thread, and waits for it; what it has used.
    fn end(&mut self) -> Option<Own> {
        let running = self.running.take()?;
        running.stop.store(true, Ordering::Release);
        running.thread.thread().unpark();
        // It does not panic; if it did, it would have ended.
        let _ = running.thread.join();
        Some(running.comm)
    }
}

fn drive(own: &Own, stop: &AtomicBool) {
    while !stop.load(Ordering::Acquire) {
        let mut there: c_int = 0;
        // SAFETY: a live communicator, which is freed when this thread has ended, constants of MPI, and a valid out parameter. Nothing
        // depends on the outcome.
        unsafe {
            let (source, tag, status) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG, ffi::RSMPI_STATUS_IGNORE);
            ffi::PMPI_Iprobe(source, tag, own.0, &mut there, status)
        };
        std::thread::park_timeout(PERIOD);
    }
}
