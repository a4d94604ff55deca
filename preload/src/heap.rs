//! A heap of the library's own, so that the program's is as it is natively.
//!
//! A program that reads what it has freed runs natively as long as nobody is given that memory. LAMMPS does so when it ends: it frees
//! all that FFTW keeps before the last of its plans, and then communicators. What was allocated here meanwhile lay where the plans looked,
//! in one run of sixty.

use dlmalloc::GlobalDlmalloc;
use std::alloc::{GlobalAlloc, Layout, System};

#[global_allocator]
static HEAP: Heap = Heap;

/// Bytes from which on memory is the program's: such blocks are pages of their own there, too, or are kept for the next call.
const LONG: usize = 64 << 10;

struct Heap;

/// What a block of so many bytes is of.
fn whose(bytes: usize) -> &'static dyn GlobalAlloc {
    if bytes < LONG {
        &GlobalDlmalloc
    } else {
        &System
    }
}

// SAFETY: a block goes back to the heap that it is of, as its layout says which that is.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller has promised.
        unsafe { whose(layout.size()).alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller has promised.
        unsafe { whose(layout.size()).alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller has promised; the block is of the heap that its size tells.
        unsafe { whose(layout.size()).dealloc(block, layout) }
    }
}

/// A process that is forked, whatever other threads do then, can use the heap.
pub fn survives_forks() {
    // SAFETY: it takes the heap's lock itself, and a second call does nothing. Nothing is forked in the middle of what was allocated before:
    // until MPI is up only the thread that initialises it is in the library.
    unsafe { dlmalloc::enable_alloc_after_fork() }
}
