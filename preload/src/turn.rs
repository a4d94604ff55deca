//! Turns of threads: what is ours is used by one thread at a time.
//!
//! Where MPI serves several threads at once, so do we: each call takes its turn, and a call that waits for other ranks lets the other
//! threads have theirs. First come, first served: a thread that waits is never overtaken.
//!
//! Where MPI serves one thread at a time, the program sees to that, and all that is known here is whether it is in the middle of a turn.

use crate::session;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static NEXT: AtomicUsize = AtomicUsize::new(0);
static SERVED: AtomicUsize = AtomicUsize::new(0);
/// The thread that has its turn; 0: none.
static HOLDER: AtomicUsize = AtomicUsize::new(0);

/// Whether there is a turn, where MPI serves one thread at a time.
static INSIDE: AtomicBool = AtomicBool::new(false);

/// A number of this thread that no other has.
fn thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// The turn of this thread, until it is dropped.
pub struct Turn {
    taken: bool,
}

/// Takes a turn. In the middle of one, as of functions that MPI calls back, it goes on.
pub fn take() -> Turn {
    if is_inside() {
        return Turn { taken: false };
    }
    match session::several_threads() {
        true => enter(),
        false => INSIDE.store(true, Ordering::Relaxed),
    }
    Turn { taken: true }
}

/// The same if that needs no wait, and this thread is not in the middle of one.
pub fn take_if_free() -> Option<Turn> {
    if is_inside() {
        return None;
    }
    if !session::several_threads() {
        return Some(take());
    }
    let number = SERVED.load(Ordering::Acquire);
    NEXT.compare_exchange(number, number.wrapping_add(1), Ordering::Acquire, Ordering::Relaxed).ok()?;
    HOLDER.store(thread(), Ordering::Relaxed);
    Some(Turn { taken: true })
}

/// Whether this thread is in the middle of a turn.
pub fn is_inside() -> bool {
    match session::several_threads() {
        true => HOLDER.load(Ordering::Relaxed) == thread(),
        false => INSIDE.load(Ordering::Relaxed),
    }
}

fn enter() {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut looks = 0u32;
    while SERVED.load(Ordering::Acquire) != number {
        looks += 1;
        if looks < 64 {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
    HOLDER.store(thread(), Ordering::Relaxed);
}

fn leave() {
    HOLDER.store(0, Ordering::Relaxed);
    SERVED.fetch_add(1, Ordering::Release);
}

/// In the turn of this thread: lets those that wait have theirs first, if there are any.
pub fn give_way() {
    let waits = NEXT.load(Ordering::Relaxed).wrapping_sub(SERVED.load(Ordering::Relaxed)) > 1;
    if waits && HOLDER.load(Ordering::Relaxed) == thread() {
        leave();
        enter();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.taken {
            match session::several_threads() {
                true => leave(),
                false => INSIDE.store(false, Ordering::Relaxed),
            }
        }
    }
}
