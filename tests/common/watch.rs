//! Code on ranks that are threads, watched: a rank that hangs is told from a slow machine by whether any rank still comes
//! to the end of calls.

use hypercoll::{threads, Hypercube};
use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Arc, Once};
use std::time::Duration;

/// How long no rank of a test may come to the end of a call. In a debug build on a busy machine a call takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The calls that each rank has come to the end of.
type Calls = Arc<[AtomicU64]>;

thread_local! {
    /// The rank on this thread, and where its calls are counted.
    static COUNTED: RefCell<Option<(usize, Calls)>> = const { RefCell::new(None) };
}

/// Counts calls: the library asks at the end of each, on the thread of its rank, whether anybody wants to read of it.
struct Counter;

impl log::Log for Counter {
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        if metadata.level() == log::Level::Debug {
            COUNTED.with_borrow(|counted| {
                if let Some((rank, calls)) = counted {
                    calls[*rank].fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        false
    }

    fn log(&self, _: &log::Record) {}

    fn flush(&self) {}
}

/// Looks at progress. It counts looks and no time, so that a process that is itself stopped for a while misses nothing.
#[derive(Default)]
pub struct Watch {
    progress: u64,
    in_vain: u32,
}

impl Watch {
    /// Looks in a row without progress that are too many.
    pub const LOOKS: u32 = 20;

    /// Looks once: whether nothing has moved on for too long.
    pub fn stands_still(&mut self, progress: u64) -> bool {
        self.in_vain = if progress == self.progress { self.in_vain + 1 } else { 0 };
        self.progress = progress;
        self.in_vain >= Watch::LOOKS
    }
}

/// What became of code on threads.
pub struct Outcome<R> {
    /// Its results, or its panic; `None` if it was given up.
    pub end: Option<std::thread::Result<Vec<R>>>,
    /// The calls that each rank came to the end of.
    pub calls: Vec<u64>,
}

/// Runs on threads, to the end or until no rank has come to the end of a call for so long.
pub fn watched<R: Send + 'static>(
    patience: Duration,
    ranks: usize,
    code: impl Fn(&Hypercube) -> R + Sync + Send + 'static,
) -> Outcome<R> {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        log::set_logger(&Counter).expect("no other logger");
        log::set_max_level(log::LevelFilter::Debug);
    });
    let calls: Calls = (0..ranks).map(|_| AtomicU64::new(0)).collect();
    let counted = Arc::clone(&calls);
    let counting = move |cube: &Hypercube| {
        COUNTED.set(Some((cube.rank(), Arc::clone(&counted))));
        code(cube)
    };
    let (report, outcome) = mpsc::channel();
    std::thread::spawn(move || report.send(catch_unwind(AssertUnwindSafe(|| threads::run(ranks, counting)))));
    let mut watch = Watch::default();
    loop {
        let end = outcome.recv_timeout(patience / Watch::LOOKS).ok();
        let calls: Vec<u64> = calls.iter().map(|calls| calls.load(Ordering::Relaxed)).collect();
        if end.is_some() || watch.stands_still(calls.iter().sum()) {
            return Outcome { end, calls };
        }
    }
}

/// Runs on threads, and fails instead of waiting for ever.
pub fn on<R: Send + 'static>(ranks: usize, code: impl Fn(&Hypercube) -> R + Sync + Send + 'static) -> Vec<R> {
    let Outcome { end, calls } = watched(PATIENCE, ranks, code);
    match end {
        Some(Ok(results)) => results,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => panic!("some rank hangs: for {PATIENCE:?} no call has ended; calls that have, by rank: {calls:?}"),
    }
}
