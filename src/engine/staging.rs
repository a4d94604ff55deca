//! Memory without gaps that stands for buffers with gaps while a call is under way.

use crate::executor::memory::Span;
use crate::raw::elements::Gaps;

/// What stands for a buffer.
pub(super) struct Staged {
    buffer: *mut u8,
    gaps: Gaps,
    span: Span,
    /// Keeps what the span is of. In units of 16 bytes, as scratch memory.
    _units: Vec<u128>,
}

impl Staged {
    /// For so many bytes of a buffer.
    pub fn new(buffer: *mut u8, bytes: usize, gaps: Gaps) -> Staged {
        let mut units = vec![0; bytes.div_ceil(size_of::<u128>())];
        // SAFETY: in memory that is kept, of which nothing else is made.
        let span = unsafe { Span::new(units.as_mut_ptr().cast(), bytes) };
        Staged { buffer, gaps, span, _units: units }
    }

    pub fn span(&self) -> Span {
        self.span
    }

    fn fill(&self) {
        let mut span = self.span;
        // SAFETY: whoever made the gaps has promised that they are of the buffer; no call is under way.
        unsafe { self.gaps.packing.pack(self.buffer, self.gaps.count, span.bytes_mut()) };
    }

    fn empty(&self) {
        // SAFETY: as in `fill`, and the buffer is there to be written.
        unsafe { self.gaps.packing.unpack(self.span.bytes(), self.buffer, self.gaps.count) };
    }
}

/// What stands for the buffers of a call: for one of them, or for both.
pub(crate) struct Staging {
    pub(super) send: Option<Staged>,
    pub(super) receive: Option<Staged>,
}

impl Staging {
    /// Before a call: takes what the buffers hold. Also of the receive buffer, which may also be sent, or stay as it is in part.
    pub fn fill(&self) {
        self.send.iter().chain(&self.receive).for_each(Staged::fill);
    }

    /// After a call: gives back what was received.
    pub fn empty(&self) {
        self.receive.iter().for_each(Staged::empty);
    }
}
