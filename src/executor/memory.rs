//! The memory of a call under way: its buffers as addresses, and the spans of them that operations move.
//!
//! Here, once, it is promised that the addresses are good for as long as the call is under way; transports and executions then
//! handle [`Span`]s. All spans of a buffer come of one pointer, and no reference to a buffer is held while others read or write it.

use crate::collective::Buffer;
use crate::schedule::BufferRange;

/// Some bytes of a buffer of a call under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: *mut u8,
    len: usize,
}

// SAFETY: an address; that nobody touches at the same time what is there was promised for all threads.
unsafe impl Send for Span {}

impl Span {
    /// No bytes.
    pub const NONE: Span = Span { start: std::ptr::NonNull::<u128>::dangling().as_ptr().cast(), len: 0 };

    /// # Safety
    /// The bytes are there, for reading and, if anything is ever put there, for writing, for as long as the span is used; what the
    /// schedule says keeps its uses apart.
    pub unsafe fn new(start: *mut u8, len: usize) -> Span {
        Span { start, len }
    }

    #[cfg(feature = "mpi")]
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes from a place on.
    pub fn from(&self, offset: usize) -> Span {
        assert!(offset <= self.len, "a span ends before that");
        Span { start: self.start.wrapping_add(offset), len: self.len - offset }
    }

    /// The first bytes.
    pub fn first(&self, len: usize) -> Span {
        Span { start: self.start, len: len.min(self.len) }
    }

    /// Puts bytes there, at most as many as it has.
    pub fn put(&self, bytes: &[u8]) {
        let len = bytes.len().min(self.len);
        // SAFETY: `new` was promised that the bytes are there for writing.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start, len) };
    }

    /// Fills it with zeros.
    pub fn put_zeros(&mut self) {
        self.bytes_mut().fill(0);
    }

    /// What is there, for a moment in which nobody writes it.
    pub fn bytes(&self) -> &[u8] {
        match self.len {
            0 => &[],
            // SAFETY: `new` was promised that the bytes are there; a schedule has nothing write what something else reads.
            len => unsafe { std::slice::from_raw_parts(self.start, len) },
        }
    }

    /// The same to be written, for a moment in which nobody else touches it.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self.len {
            0 => &mut [],
            // SAFETY: as in `bytes`; nothing reads what something else writes either.
            len => unsafe { std::slice::from_raw_parts_mut(self.start, len) },
        }
    }
}

/// The bytes of some spans together.
pub(crate) fn total(spans: &[Span]) -> usize {
    spans.iter().map(Span::len).sum()
}

/// Copies what the spans hold, one after another, into memory that has room for it.
pub(crate) fn gather(spans: &[Span], mut packed: &mut [u8]) {
    for span in spans {
        let (head, tail) = packed.split_at_mut(span.len());
        head.copy_from_slice(span.bytes());
        packed = tail;
    }
}

/// The opposite of [`gather`].
pub(crate) fn scatter(mut packed: &[u8], spans: &[Span]) {
    for span in spans {
        let (head, tail) = packed.split_at(span.len().min(packed.len()));
        span.put(head);
        packed = tail;
    }
}

/// The buffers of a call under way.
pub(crate) struct Memory {
    send: Span,
    receive: Span,
    scratch: Span,
    /// Keeps the scratch memory. In units of 16 bytes, so that elements of any ordinary type are aligned.
    units: Vec<u128>,
    /// Bytes of an element.
    element: usize,
}

impl Memory {
    /// No buffers, with scratch memory to be used again.
    pub fn none() -> Memory {
        Memory { send: Span::NONE, receive: Span::NONE, scratch: Span::NONE, units: Vec::new(), element: 1 }
    }

    /// Takes the buffers of a call, and scratch memory of so many elements.
    pub fn take(&mut self, buffers: &[Span; 2], scratch: usize, element: usize) {
        let bytes = scratch * element;
        let units = bytes.div_ceil(size_of::<u128>());
        if self.units.len() < units {
            self.units.resize(units, 0);
        }
        self.scratch = Span { start: self.units.as_mut_ptr().cast(), len: bytes };
        self.send = buffers[0];
        self.receive = buffers[1];
        self.element = element;
    }

    /// Lets go of the buffers.
    pub fn leave(&mut self) {
        self.send = Span::NONE;
        self.receive = Span::NONE;
        self.scratch = Span::NONE;
    }

    /// The bytes of a range.
    pub fn span(&self, range: &BufferRange) -> Span {
        let buffer = match range.buffer {
            Buffer::Send => self.send,
            Buffer::Receive => self.receive,
            Buffer::Scratch => self.scratch,
        };
        let (offset, len) = (range.offset * self.element, range.len * self.element);
        assert!(offset + len <= buffer.len, "a range beyond its buffer");
        Span { start: buffer.start.wrapping_add(offset), len }
    }

    /// Lets a function read a range and write another, which is disjoint from it.
    pub fn with_pair(&self, from: &BufferRange, into: &BufferRange, act: impl FnOnce(&[u8], &mut [u8])) {
        act(self.span(from).bytes(), self.span(into).bytes_mut());
    }

    /// Lets a function read two ranges and write a third, which is disjoint from both.
    pub fn with_factors(&self, ranges: [&BufferRange; 3], act: impl FnOnce(&[u8], &[u8], &mut [u8])) {
        let [a, b, c] = ranges.map(|range| self.span(range));
        let mut c = c;
        act(a.bytes(), b.bytes(), c.bytes_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_where_they_are_said_to_be() {
        let (mut send, mut receive) = ([1u16, 2, 3, 4], [0u16; 4]);
        let mut memory = Memory::none();
        // SAFETY: the arrays outlive the spans, and nothing else touches them meanwhile.
        let [a, b] = [&mut send, &mut receive].map(|buffer| unsafe { Span::new(buffer.as_mut_ptr().cast(), 8) });
        memory.take(&[a, b], 3, 2);
        let range = |buffer, offset, len| BufferRange { buffer, offset, len };
        memory.with_pair(&range(Buffer::Send, 1, 2), &range(Buffer::Scratch, 0, 2), |from, into| {
            into.copy_from_slice(from);
        });
        let spans = [range(Buffer::Scratch, 1, 1), range(Buffer::Scratch, 0, 1)].map(|range| memory.span(&range));
        let mut packed = [0; 4];
        assert_eq!(total(&spans), packed.len());
        gather(&spans, &mut packed);
        scatter(&packed, &[memory.span(&range(Buffer::Receive, 2, 2))]);
        memory.leave();
        assert_eq!(receive, [0, 0, 3, 2]);
    }

    #[test]
    #[should_panic(expected = "a range beyond its buffer")]
    fn nothing_is_beyond_its_buffer() {
        Memory::none().span(&BufferRange { buffer: Buffer::Receive, offset: 0, len: 1 });
    }
}
