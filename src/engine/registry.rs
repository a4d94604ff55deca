//! The engines of a thread: whoever waits for one moves the others, too.

use super::Engine;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// An engine that a communicator and its requests share.
pub(crate) type Shared = Rc<RefCell<Engine>>;

thread_local! {
    static ENGINES: RefCell<Vec<Weak<RefCell<Engine>>>> = const { RefCell::new(Vec::new()) };
}

/// Shares an engine, and notes it.
pub(crate) fn share(engine: Engine) -> Shared {
    let shared = Rc::new(RefCell::new(engine));
    ENGINES.with_borrow_mut(|engines| {
        engines.retain(|engine| engine.strong_count() > 0);
        engines.push(Rc::downgrade(&shared));
    });
    shared
}

/// Moves the calls of all engines of this thread but those in the middle of something, from the middle of one of them.
pub(crate) fn poll_others() {
    if ENGINES.with_borrow(|engines| engines.len() > 1) {
        poll_all();
    }
}

/// Moves the calls of all engines of this thread but those in the middle of something; whether any call is under way after that.
pub(crate) fn poll_all() -> bool {
    // Held, not borrowed: what they do may make others.
    let held: Vec<Shared> = ENGINES.with_borrow(|engines| engines.iter().filter_map(Weak::upgrade).collect());
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
