//! The engines of a thread: whoever waits for one moves the others, too.
//!
//! Where threads take turns ([`crate::raw::threads_take_turns`]), they are those of all threads.

use super::Engine;
use std::cell::{RefCell, UnsafeCell};
use std::rc::{Rc, Weak};
use std::sync::OnceLock;

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
    if let Some(give_way) = TURNS.get() {
        // The engine that this thread waits for is borrowed: whoever comes meanwhile leaves it alone.
        give_way();
    }
    if with_engines(|engines| engines.borrow().len() > 1) {
        poll_all();
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
