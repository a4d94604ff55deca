//! A heap of the library's own, so that the program's is as it is natively.
//!
//! A program that reads what it has freed runs natively as long as nobody is given that memory. LAMMPS does so when it ends: it frees
//! all that FFTW keeps before the last of its plans, and then communicators. What was allocated here meanwhile lay where the plans looked,
//! in one run of sixty.

use dlmalloc::Dlmalloc;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

#[global_allocator]
static HEAP: Heap = Heap;

/// Bytes from which on memory is the program's: such blocks are pages of their own there, too, or are kept for the next call.
const LONG: usize = 64 << 10;

struct Heap;

/// The short blocks. (The lock of dlmalloc's own is a function of the system's: it took half of what a block takes.)
static SHORT: Mutex<Dlmalloc> = Mutex::new(Dlmalloc::new());

fn short() -> MutexGuard<'static, Dlmalloc> {
    SHORT.lock().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: a block goes back to the heap that it is of, as its layout says which that is.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller has promised.
        unsafe {
            match layout.size() < LONG {
                true => short().malloc(layout.size(), layout.align()),
                false => System.alloc(layout),
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller has promised.
        unsafe {
            match layout.size() < LONG {
                true => short().calloc(layout.size(), layout.align()),
                false => System.alloc_zeroed(layout),
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller has promised; the block is of the heap that its size tells.
        unsafe {
            match layout.size() < LONG {
                true => short().free(block, layout.size(), layout.align()),
                false => System.dealloc(block, layout),
            }
        }
    }
}

/// The lock, held while a process is forked: its child has but the thread that forks, which must not find it taken by another one.
struct Held(UnsafeCell<Option<MutexGuard<'static, Dlmalloc>>>);

// SAFETY: only the thread that has the lock gets there, between the handlers of one fork.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

unsafe extern "C" fn forks() {
    let lock = short();
    // SAFETY: this thread has the lock.
    unsafe { *HELD.0.get() = Some(lock) }
}

unsafe extern "C" fn has_forked() {
    // SAFETY: this thread took the lock before the fork. In the child it is that one's only thread.
    drop(unsafe { (*HELD.0.get()).take() });
}

/// A process that is forked, whatever other threads do then, can use the heap.
pub fn survives_forks() {
    static ONCE: Once = Once::new();
    // SAFETY: handlers that stay as long as the library, which is never unloaded.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(Some(forks), Some(has_forked), Some(has_forked));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::time::{Duration, Instant};

    /// Whatever another thread does with the heap meanwhile.
    #[test]
    fn children_can_use_the_heap() {
        survives_forks();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    std::hint::black_box(Box::new(0u64));
                }
            });
            for _ in 0..200 {
                // SAFETY: the child does nothing but to use the heap and to end.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    let block = std::hint::black_box(vec![1u8; 100]);
                    // SAFETY: as above.
                    unsafe { libc::_exit(c_int::from(block.len() != 100)) }
                }
                let (mut status, begin) = (-1, Instant::now());
                // SAFETY: a child of this process, and a place for what it says.
                while unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == 0 {
                    if begin.elapsed() > Duration::from_secs(10) {
                        over.store(true, Relaxed);
                        // SAFETY: a child of this process.
                        unsafe { libc::kill(child, libc::SIGKILL) };
                        panic!("a child waits for the heap");
                    }
                    std::thread::yield_now();
                }
                assert_eq!(status, 0);
            }
            over.store(true, Relaxed);
        });
    }

    /// From one heap to the other and back, with what is in them.
    #[test]
    fn blocks_grow_and_shrink() {
        for (from, to) in [(10, LONG / 2), (10, 2 * LONG), (2 * LONG, 3 * LONG), (2 * LONG, 100), (LONG - 1, LONG)] {
            let mut block: Vec<u8> = (0..from).map(|at| at as u8).collect();
            block.shrink_to_fit();
            block.resize(to, 7);
            block.shrink_to_fit();
            let kept = from.min(to);
            assert!(block.iter().take(kept).enumerate().all(|(at, &byte)| byte == at as u8), "{from} to {to}");
            assert!(block.iter().skip(kept).all(|&byte| byte == 7), "{from} to {to}");
        }
    }
}
