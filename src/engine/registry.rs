//! The engines of a thread: whoever waits for one moves the others, too.
//!
//! Where threads take turns ([`crate::raw::threads_take_turns`]), they are those of all threads.

use super::Engine;
use std::cell::{RefCell, UnsafeCell};
use std::rc::{Rc, Weak};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a thread that ends moves calls whose requests have been leaked, while nothing moves.
const LEAKED: Duration = Duration::from_secs(10);

type Engines = RefCell<Vec<Weak<RefCell<Engine>>>>;

/// An engine that a communicator and its requests share.
pub(crate) type Shared = Rc<RefCell<Engine>>;

thread_local! {
    static ENGINES: Engines = const { RefCell::new(Vec::new()) };
}

static TURNS: OnceLock<fn()> = OnceLock::new();
static OF_ALL: OfAll = OfAll(UnsafeCell::new(RefCell::new(Vec::new())));

struct OfAll(UnsafeCell<Engines>);

// SAFETY: used only where threads take turns, by the one whose turn it is.
unsafe impl Sync for OfAll {}

/// From now on engines go from thread to thread; a thread that waits gives way to the others.
///
/// # Safety
/// Whatever uses this library, from now on, does so while no other thread does, and after all that others have done.
pub(crate) unsafe fn threads_take_turns(give_way: fn()) {
    let _ = TURNS.set(give_way);
}

fn with_engines<T>(act: impl FnOnce(&Engines) -> T) -> T {
    match TURNS.get() {
        None => ENGINES.with(act),
        // SAFETY: it is this thread's turn.
        Some(_) => act(unsafe { &*OF_ALL.0.get() }),
    }
}

/// Shares an engine, and notes it.
pub(crate) fn share(engine: Engine) -> Shared {
    let shared = Rc::new(RefCell::new(engine));
    with_engines(|engines| {
        let mut engines = engines.borrow_mut();
        engines.retain(|engine| engine.strong_count() > 0);
        engines.push(Rc::downgrade(&shared));
    });
    shared
}

/// For a thread that waits: moves the calls of all engines of this thread but those in the middle of something, from the middle of one of
/// them.
pub(crate) fn poll_others() {
    give_way();
    if with_engines(|engines| engines.borrow().len() > 1) {
        poll_all();
    }
}

/// The same for a thread that waits for something else, in the middle of none of them.
#[cfg(feature = "mpi")]
pub(crate) fn poll_meanwhile() {
    give_way();
    poll_all();
}

fn give_way() {
    if let Some(give_way) = TURNS.get() {
        // The engine that this thread waits for is borrowed: whoever comes meanwhile leaves it alone.
        give_way();
    }
}

/// Moves the calls of all engines of this thread but those in the middle of something; whether any call is under way after that.
pub(crate) fn poll_all() -> bool {
    // Held, not borrowed: what they do may make others.
    let held: Vec<Shared> = with_engines(|engines| engines.borrow().iter().filter_map(Weak::upgrade).collect());
    let mut busy = false;
    for engine in held {
        if let Ok(mut engine) = engine.try_borrow_mut() {
            if engine.is_busy() && !engine.poll() {
                engine.idle(1);
            }
            busy |= engine.is_busy();
        }
    }
    busy
}

/// For a thread that ends, or ends MPI: moves to their end all calls whose requests have been leaked, as other ranks may wait for them. If
/// nothing moves for long, the others are told.
pub(crate) fn end_all() {
    // MPI may be ended when nothing of this thread is left.
    if TURNS.get().is_some() || ENGINES.try_with(|_| ()).is_err() {
        return;
    }
    // In the middle of one of its calls an engine cannot be moved.
    let held: Vec<Shared> = with_engines(|engines| engines.borrow().iter().filter_map(Weak::upgrade).collect());
    let mut free: Vec<_> = held.iter().filter_map(|engine| engine.try_borrow_mut().ok()).collect();
    let mut moved = Instant::now();
    while free.iter().any(|engine| engine.is_busy()) && moved.elapsed() < LEAKED && !std::thread::panicking() {
        for engine in free.iter_mut().filter(|engine| engine.is_busy()) {
            if engine.poll() {
                moved = Instant::now();
            } else {
                engine.rest();
            }
        }
    }
    free.iter_mut().for_each(|engine| engine.abandon("ends"));
}
