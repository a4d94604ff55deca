//! One message between two ranks that share memory: how far it is, and what moves it on.

use super::envelopes::{Message, Reader, Way, Writer, PIECE, SHORT};
use super::pipe::{Inlet, Outlet};
use super::single_copy::{self, Piece, Target};
use crate::collective::Buffer;
use crate::executor::Buffers;
use crate::schedule::BufferRange;
use crate::select::SINGLE_COPY_FROM;

/// Pieces that such a message consists of at most: their addresses and lengths are in the envelope.
const PIECES: usize = SHORT / PIECE;

/// The way of messages to a rank.
pub(super) struct Outgoing {
    pub envelopes: Writer,
    pub pipe: Inlet,
    /// Whether long messages are left to the other end to copy: until it could not.
    pub single_copy: bool,
}

/// The way of messages from a rank.
pub(super) struct Incoming {
    pub envelopes: Reader,
    pub pipe: Outlet,
}

/// Where ranges to be received are in memory.
fn targets(ranges: &[BufferRange], buffers: &mut Buffers) -> Vec<Target> {
    let (receive, scratch) = (buffers.receive.len(), buffers.scratch.len());
    let starts = (buffers.receive.as_mut_ptr(), buffers.scratch.as_mut_ptr());
    let target = |range: &BufferRange| {
        let (start, bytes) = match range.buffer {
            Buffer::Send => return None, // schedules never write it
            Buffer::Receive => (starts.0, receive),
            Buffer::Scratch => (starts.1, scratch),
        };
        let (offset, len) = (range.offset * buffers.element, range.len * buffers.element);
        assert!(offset + len <= bytes, "a range beyond its buffer");
        Some((start.wrapping_add(offset), len))
    };
    ranges.iter().filter_map(target).collect()
}

/// An address and a length, as they are in an envelope.
fn piece(bytes: &[u8]) -> Piece {
    let [address, len]: [u64; 2] = bytemuck::pod_read_unaligned(bytes);
    (address, len)
}

/// A place in a message: a range, and the bytes of it that are done.
#[derive(Default)]
struct Cursor {
    range: usize,
    bytes: usize,
}

impl Cursor {
    /// Moves on by some bytes of the current range, which has so many in all.
    fn advance(&mut self, bytes: usize, of: usize) {
        self.bytes += bytes;
        if self.bytes == of {
            *self = Cursor { range: self.range + 1, bytes: 0 };
        }
    }
}

/// How far a message to be sent is.
pub(super) struct Sending {
    bytes: usize,
    synchronous: bool,
    /// Whether its envelope says where the bytes are.
    single_copy: bool,
    /// The number of its envelope, once that is sent.
    envelope: Option<u64>,
    cursor: Cursor,
}

impl Sending {
    /// A message of so many bytes; if `synchronous`, it is complete when it has been received.
    pub fn new(bytes: usize, synchronous: bool) -> Sending {
        Sending { bytes, synchronous, single_copy: false, envelope: None, cursor: Cursor::default() }
    }

    /// Sends what there is room for; whether the send is complete.
    pub fn advance(&mut self, there: &mut Outgoing, ranges: &[BufferRange], buffers: &Buffers) -> bool {
        let envelope = match self.envelope {
            Some(envelope) => envelope,
            None if !there.envelopes.is_free() => return false,
            None => self.begin(there, ranges, buffers),
        };
        // Of other messages it is not asked: the answer is in a line that the other end writes.
        if self.single_copy && there.envelopes.is_refused(envelope) {
            // Nor would later ones be copied: they take the pipe at once, as their envelopes say.
            (self.single_copy, there.single_copy) = (false, false);
        }
        if self.bytes > SHORT && !self.single_copy && !self.put(&mut there.pipe, ranges, buffers) {
            return false;
        }
        !(self.synchronous || self.single_copy) || there.envelopes.has_read(envelope)
    }

    /// Sends the envelope; its number.
    fn begin(&mut self, there: &mut Outgoing, ranges: &[BufferRange], buffers: &Buffers) -> u64 {
        self.single_copy = there.single_copy && self.bytes >= SINGLE_COPY_FROM && ranges.len() <= PIECES;
        let mut message = Message { way: Way::Enclosed, bytes: self.bytes as u64 };
        let parts = ranges.iter().map(|range| buffers.part(range));
        let envelope = if self.bytes <= SHORT {
            there.envelopes.write(message, parts)
        } else if self.single_copy {
            message.way = Way::Pieces(ranges.len() as u8);
            let pieces: Vec<[u64; 2]> = parts.map(|part| [part.as_ptr() as u64, part.len() as u64]).collect();
            there.envelopes.write(message, [bytemuck::cast_slice(&pieces)])
        } else {
            message.way = if there.pipe.rewind() { Way::PipeFromStart } else { Way::Pipe };
            there.envelopes.write(message, [])
        };
        *self.envelope.insert(envelope)
    }

    /// Puts bytes into the pipe as long as there is room; whether all are in.
    fn put(&mut self, pipe: &mut Inlet, ranges: &[BufferRange], buffers: &Buffers) -> bool {
        while let Some(range) = ranges.get(self.cursor.range) {
            let part = buffers.part(range);
            let rest = &part[self.cursor.bytes..];
            let len = rest.len().min(pipe.stretch());
            if pipe.room(len) < len {
                break;
            }
            pipe.put(&rest[..len]);
            self.cursor.advance(len, part.len());
            if pipe.unpublished() >= pipe.stretch() {
                pipe.publish();
            }
        }
        if pipe.unpublished() > 0 {
            pipe.publish();
        }
        self.cursor.range == ranges.len()
    }
}

/// How far a message to be received is.
pub(super) struct Receiving {
    expected: usize,
    /// What its envelope says, once that is there.
    message: Option<Message>,
    taken: usize,
    cursor: Cursor,
}

impl Receiving {
    pub fn new(expected: usize) -> Receiving {
        Receiving { expected, message: None, taken: 0, cursor: Cursor::default() }
    }

    /// Whether the message is to come in its envelope.
    pub fn is_short(&self) -> bool {
        self.expected <= SHORT
    }

    /// Receives what is there; the message's bytes, if it is complete. One of another length than expected is left out.
    pub fn advance(
        &mut self,
        here: &mut Incoming,
        process: u64,
        ranges: &[BufferRange],
        buffers: &mut Buffers,
    ) -> Option<usize> {
        let message = match self.message {
            Some(message) => message,
            None => {
                let message = here.envelopes.read(self.expected)?;
                if message.way == Way::PipeFromStart {
                    here.pipe.rewind();
                }
                *self.message.insert(message)
            }
        };
        let (bytes, wanted) = (message.bytes as usize, message.bytes as usize == self.expected);
        match message.way {
            Way::Enclosed if wanted => buffers.scatter(here.envelopes.data(&message), ranges),
            Way::Pieces(_) if wanted => {
                let pieces: Vec<Piece> = here.envelopes.data(&message).chunks_exact(PIECE).map(piece).collect();
                // SAFETY: the ranges of an operation under way are disjoint and inside their buffers, and nobody touches them but
                // the transport.
                if let Err(error) = unsafe { single_copy::read(process, &pieces, &targets(ranges, buffers)) } {
                    log::warn!("process_vm_readv: {error}; long messages of process {process} are now copied twice");
                    here.envelopes.refuse();
                    self.message = Some(Message { way: Way::Pipe, ..message });
                    return None;
                }
            }
            Way::Pipe | Way::PipeFromStart if !self.take(bytes, &mut here.pipe, ranges, buffers) => return None,
            _ => (),
        }
        here.envelopes.done();
        Some(bytes)
    }

    /// Takes the bytes that are there out of the pipe; whether they are all of the message.
    fn take(&mut self, bytes: usize, pipe: &mut Outlet, ranges: &[BufferRange], buffers: &mut Buffers) -> bool {
        while self.taken < bytes {
            let there = pipe.available(1).min(bytes - self.taken).min(pipe.stretch());
            if there == 0 {
                break;
            }
            let range = ranges.get(self.cursor.range).filter(|_| bytes == self.expected);
            let len = match range {
                Some(range) => {
                    let part = buffers.part_mut(range);
                    let len = there.min(part.len() - self.cursor.bytes);
                    pipe.take(&mut part[self.cursor.bytes..][..len]);
                    self.cursor.advance(len, part.len());
                    len
                }
                None => {
                    pipe.skip(there);
                    there
                }
            };
            self.taken += len;
            if pipe.unreleased() >= pipe.stretch() {
                pipe.release();
            }
        }
        if pipe.unreleased() > 0 {
            pipe.release();
        }
        self.taken == bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::envelopes::Envelopes;
    use super::super::pipe::Pipe;
    use super::*;
    use std::ptr::NonNull;

    /// A way from this process to itself.
    fn way(memory: &mut Vec<u128>, capacity: usize) -> (Outgoing, Incoming) {
        memory.resize((Envelopes::SIZE + Pipe::size(capacity)) / 16 + 8, 0);
        let start = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room to align the start, and the memory outlives the ends in each test.
        let (envelopes, pipe) = unsafe {
            let start = NonNull::new_unchecked(start.add(start.align_offset(128)));
            (Envelopes::at(start), Pipe::at(start.add(Envelopes::SIZE), capacity))
        };
        let there = Outgoing { envelopes: envelopes.writer(), pipe: pipe.inlet(), single_copy: true };
        (there, Incoming { envelopes: envelopes.reader(), pipe: pipe.outlet() })
    }

    /// Ranges of so many bytes in all, as equal as they can be.
    fn ranges(buffer: Buffer, bytes: usize, number: usize) -> Vec<BufferRange> {
        let starts: Vec<usize> = (0..=number).map(|nth| bytes * nth / number).collect();
        starts.windows(2).map(|w| BufferRange { buffer, offset: w[0], len: w[1] - w[0] }).collect()
    }

    /// Sends so many bytes to a receiver for which the sender is `process`: the looks at which bytes moved through the pipe, and
    /// those at which none did.
    fn pass(bytes: usize, process: u64, there: &mut Outgoing, here: &mut Incoming) -> (usize, usize) {
        let sent: Vec<u8> = (0..=250).cycle().take(bytes).collect();
        let mut received = vec![0; bytes];
        let mut buffers = Buffers { send: &sent, receive: &mut received, scratch: &mut [], element: 1 };
        let [from, into] = [Buffer::Send, Buffer::Receive].map(|buffer| ranges(buffer, bytes, 1));
        let (mut sending, mut receiving) = (Sending::new(bytes, false), Receiving::new(bytes));
        let (mut is_sent, mut got, mut moved, mut still) = (false, None, 0, 0);
        while !is_sent || got.is_none() {
            let before = (there.pipe.position(), here.pipe.position());
            is_sent = is_sent || sending.advance(there, &from, &buffers);
            got = got.or_else(|| receiving.advance(here, process, &into, &mut buffers));
            let through_pipe = before != (there.pipe.position(), here.pipe.position());
            *(if through_pipe { &mut moved } else { &mut still }) += 1;
            assert!(still < 10, "{bytes} bytes never arrive");
        }
        assert!(got == Some(bytes) && sent == received);
        (moved, still)
    }

    /// Messages of all kinds, to receivers that expect as many bytes or others, one after another on the same way.
    #[test]
    fn what_comes_is_told_and_only_what_was_expected_is_kept() {
        let mut memory = Vec::new();
        let (mut there, mut here) = way(&mut memory, 4096);
        let this = u64::from(std::process::id());
        let lengths = [0, 5, 48, 49, SHORT, SHORT + 1, 5000, SINGLE_COPY_FROM + 5];
        for (bytes, expected) in lengths.iter().flat_map(|&bytes| lengths.map(|expected| (bytes, expected))) {
            for (pieces, targets) in [(1, 3), (3, 1), (PIECES, 2), (PIECES + 1, PIECES + 1)] {
                let sent: Vec<u8> = (0..=250).cycle().take(bytes).collect();
                let mut received = vec![255; expected];
                let mut buffers = Buffers { send: &sent, receive: &mut received, scratch: &mut [], element: 1 };
                let (from, into) = (ranges(Buffer::Send, bytes, pieces), ranges(Buffer::Receive, expected, targets));
                let (mut sending, mut receiving) = (Sending::new(bytes, false), Receiving::new(expected));
                let (mut is_sent, mut got) = (false, None);
                for _ in 0..100 {
                    is_sent = is_sent || sending.advance(&mut there, &from, &buffers);
                    got = got.or_else(|| receiving.advance(&mut here, this, &into, &mut buffers));
                }
                assert!(
                    is_sent && got == Some(bytes),
                    "{bytes} bytes in {pieces} pieces, {expected} expected: {got:?}"
                );
                assert!(if bytes == expected { sent == received } else { received.iter().all(|&byte| byte == 255) });
            }
        }
    }

    #[test]
    fn a_receiver_that_cannot_copy_is_not_asked_again() {
        let mut memory = Vec::new();
        let (mut there, mut here) = way(&mut memory, 4096);
        let long = SINGLE_COPY_FROM + 5;
        // There is no process of that number.
        for message in 1..4 {
            let (moved, _) = pass(long, u64::MAX, &mut there, &mut here);
            assert!(moved >= long / 4096, "bytes move at {moved} looks");
            assert_eq!((there.single_copy, there.envelopes.is_refused(1)), (false, true), "message {message}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_receiver_that_can_copy_needs_no_pipe() {
        let mut memory = Vec::new();
        let (mut there, mut here) = way(&mut memory, 4096);
        let this = u64::from(std::process::id());
        for _ in 0..3 {
            assert_eq!(pass(SINGLE_COPY_FROM + 5, this, &mut there, &mut here).0, 0);
        }
        assert!(there.single_copy);
        assert!(pass(SINGLE_COPY_FROM - 1, this, &mut there, &mut here).0 > 0);
    }
}
