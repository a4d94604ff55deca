//! A pipe through memory that two processes share: bytes go in at one end and come out at the other, in order.
//!
//! Each end counts its bytes in a cache line of its own, and remembers what it last saw of the other's count. What the memory says
//! of the other end is never trusted with more than the pipe's own bytes.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count on two cache lines of its own, as processors fetch them in pairs.
#[repr(align(128))]
struct Count(AtomicU64);

#[repr(C)]
struct Counts {
    written: Count,
    read: Count,
}

/// The memory of a pipe.
#[derive(Clone, Copy)]
pub(super) struct Pipe {
    counts: NonNull<Counts>,
    bytes: NonNull<u8>,
    capacity: usize,
}

impl Pipe {
    /// Bytes of memory that a pipe needs whose ring has so many.
    pub const fn size(capacity: usize) -> usize {
        size_of::<Counts>() + capacity
    }

    /// A pipe in memory that was filled with zeros.
    ///
    /// # Safety
    /// The memory is aligned to 128 bytes, holds [`Pipe::size`] bytes and stays for as long as an end of the pipe is used; nobody
    /// uses it but one inlet and one outlet, in any processes.
    pub unsafe fn at(memory: NonNull<u8>, capacity: usize) -> Pipe {
        Pipe { counts: memory.cast(), bytes: memory.add(size_of::<Counts>()), capacity }
    }

    pub fn inlet(self) -> Inlet {
        Inlet { pipe: self, written: 0, published: 0, read: 0 }
    }

    pub fn outlet(self) -> Outlet {
        Outlet { pipe: self, read: 0, released: 0, written: 0 }
    }

    fn counts(&self) -> &Counts {
        // SAFETY: `at` was promised that the counts are there; they are atomic, so others may change them.
        unsafe { self.counts.as_ref() }
    }

    /// The two runs of the ring that `len` bytes from a position on are in: their starts and lengths.
    fn runs(&self, position: u64, len: usize) -> [(*mut u8, usize); 2] {
        assert!(len <= self.capacity);
        let start = (position % self.capacity as u64) as usize;
        let first = len.min(self.capacity - start);
        // SAFETY: `start` is below the capacity, so inside the ring.
        [(unsafe { self.bytes.as_ptr().add(start) }, first), (self.bytes.as_ptr(), len - first)]
    }
}

/// The end where bytes go in.
pub(super) struct Inlet {
    pipe: Pipe,
    written: u64,
    published: u64,
    /// What was last seen of the other end's count.
    read: u64,
}

impl Inlet {
    /// Bytes that may be put in now; the other end's count is looked at only if there is less room than wanted.
    pub fn room(&mut self, wanted: usize) -> usize {
        let room = |inlet: &Inlet| inlet.pipe.capacity.saturating_sub(inlet.written.wrapping_sub(inlet.read) as usize);
        if room(self) < wanted {
            self.look();
        }
        room(self)
    }

    /// Puts bytes in, for which there must be room. The other end sees them once they are published.
    pub fn put(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        for (start, len) in self.pipe.runs(self.written, bytes.len()) {
            let (now, later) = rest.split_at(len);
            // SAFETY: the run is inside the ring, and the other end does not read it before these bytes are published.
            unsafe { std::ptr::copy_nonoverlapping(now.as_ptr(), start, len) };
            rest = later;
        }
        self.written += bytes.len() as u64;
    }

    /// Bytes after which to publish: a quarter of the pipe, so that both ends can be at work.
    pub fn stretch(&self) -> usize {
        self.pipe.capacity / 4
    }

    /// Where the next byte goes: another place whenever bytes have been put in.
    pub fn position(&self) -> u64 {
        self.written
    }

    /// Bytes put in and not yet published.
    pub fn unpublished(&self) -> usize {
        (self.written - self.published) as usize
    }

    pub fn publish(&mut self) {
        self.published = self.written;
        self.pipe.counts().written.0.store(self.written, Ordering::Release);
    }

    /// Goes to the start of the pipe if all was taken out, so that the memory used is what was used before and is in the cores'
    /// caches; whether it did. The other end is to follow before it takes out what comes next.
    pub fn rewind(&mut self) -> bool {
        if self.read < self.written {
            self.look();
        }
        if self.read < self.written || self.written.is_multiple_of(self.pipe.capacity as u64) {
            return false;
        }
        self.written = self.written.next_multiple_of(self.pipe.capacity as u64);
        (self.read, self.published) = (self.written, self.written);
        true
    }

    /// The other end's count may be behind, if this end has gone to the start.
    fn look(&mut self) {
        self.read = self.read.max(self.pipe.counts().read.0.load(Ordering::Acquire));
    }
}

/// The end where bytes come out.
pub(super) struct Outlet {
    pipe: Pipe,
    read: u64,
    released: u64,
    /// What was last seen of the other end's count.
    written: u64,
}

impl Outlet {
    /// Bytes that may be taken out now; the other end's count is looked at only if there are fewer than wanted.
    pub fn available(&mut self, wanted: usize) -> usize {
        let available = |outlet: &Outlet| outlet.written.saturating_sub(outlet.read) as usize;
        if available(self) < wanted {
            self.written = self.pipe.counts().written.0.load(Ordering::Acquire);
        }
        available(self)
    }

    /// Takes out so many bytes, which must be available, into memory that has room for them and is the caller's alone.
    pub fn take(&mut self, into: *mut u8, len: usize) {
        let mut done = 0;
        for (start, len) in self.pipe.runs(self.read, len) {
            // SAFETY: the run is inside the ring, and the other end does not write it before these bytes are released; the target is
            // the caller's.
            unsafe { std::ptr::copy_nonoverlapping(start.cast_const(), into.wrapping_add(done), len) };
            done += len;
        }
        self.read += len as u64;
    }

    /// Bytes after which to give room back, as for [`Inlet::stretch`].
    pub fn stretch(&self) -> usize {
        self.pipe.capacity / 4
    }

    /// Where the next byte comes from: another place whenever bytes have been taken out.
    pub fn position(&self) -> u64 {
        self.read
    }

    /// Bytes taken out whose room the other end does not have yet.
    pub fn unreleased(&self) -> usize {
        (self.read - self.released) as usize
    }

    /// Gives the room of what was taken out back.
    pub fn release(&mut self) {
        self.released = self.read;
        self.pipe.counts().read.0.store(self.read, Ordering::Release);
    }

    /// Follows the other end to the start of the pipe.
    pub fn rewind(&mut self) {
        self.read = self.read.next_multiple_of(self.pipe.capacity as u64);
        self.released = self.read;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A pipe of so many bytes, in memory of this process.
    fn pipe(memory: &mut Vec<u128>, capacity: usize) -> (Inlet, Outlet) {
        memory.resize(Pipe::size(capacity) / 16 + 8, 0);
        let start = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room to align the start, and the memory outlives the ends in each test.
        let pipe = unsafe { Pipe::at(NonNull::new_unchecked(start.add(start.align_offset(128))), capacity) };
        (pipe.inlet(), pipe.outlet())
    }

    #[test]
    fn nothing_comes_out_before_it_is_published_and_no_room_comes_back_before_it_is_released() {
        let mut memory = Vec::new();
        let (mut inlet, mut outlet) = pipe(&mut memory, 128);
        assert_eq!((inlet.room(1), outlet.available(1)), (128, 0));
        inlet.put(&[7; 100]);
        assert_eq!((inlet.room(128), outlet.available(1), inlet.unpublished()), (28, 0, 100));
        assert_eq!((inlet.position(), outlet.position()), (100, 0));
        inlet.publish();
        assert_eq!(outlet.available(1), 100);
        let mut taken = [0; 60];
        outlet.take(taken.as_mut_ptr(), taken.len());
        assert_eq!((taken, inlet.room(128), outlet.unreleased()), ([7; 60], 28, 60));
        assert_eq!((inlet.position(), outlet.position()), (100, 60));
        outlet.release();
        assert_eq!(inlet.room(128), 88);
        assert!(!inlet.rewind());
        outlet.take([0; 40].as_mut_ptr(), 40);
        outlet.release();
        assert!(inlet.rewind() && !inlet.rewind());
        outlet.rewind();
        assert_eq!((inlet.room(128), outlet.available(1)), (128, 0));
        inlet.put(&[9; 128]);
        inlet.publish();
        assert_eq!((inlet.room(1), outlet.available(128)), (0, 128));
        outlet.take(taken.as_mut_ptr(), taken.len());
        assert_eq!(taken, [9; 60]);
    }

    /// Takes so many bytes out, or those that are there, after so many others; how many.
    fn out(outlet: &mut Outlet, taken: usize, len: usize) -> Result<usize, TestCaseError> {
        let mut bytes = vec![0; len.min(outlet.available(len))];
        outlet.take(bytes.as_mut_ptr(), bytes.len());
        outlet.release();
        prop_assert!(bytes.iter().zip(taken..).all(|(byte, at)| *byte == at as u8), "{bytes:?} after {taken}");
        Ok(bytes.len())
    }

    proptest! {
        /// Against a plain queue of bytes: what goes in comes out, whatever the lengths and the turns of the ends.
        #[test]
        fn bytes_come_out_as_they_went_in(steps in prop::collection::vec((0..5, 0usize..300), 1..400)) {
            let mut memory = Vec::new();
            let (mut inlet, mut outlet) = pipe(&mut memory, 256);
            // Bytes that have gone in and come out, of which each is its number.
            let (mut put, mut taken) = (0usize, 0usize);
            let mut asked = 0;
            for (step, len) in steps {
                if step == 0 && inlet.rewind() {
                    outlet.rewind();
                } else if step % 2 == 0 {
                    let bytes: Vec<u8> = (put..put + len.min(inlet.room(len))).map(|at| at as u8).collect();
                    put += bytes.len();
                    asked += len;
                    inlet.put(&bytes);
                    inlet.publish();
                } else {
                    taken += out(&mut outlet, taken, len)?;
                }
            }
            taken += out(&mut outlet, taken, put - taken)?;
            prop_assert_eq!((taken, put > 0), (put, asked > 0));
        }
    }
}
