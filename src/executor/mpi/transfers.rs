//! One message between two ranks that share memory: how far it is, and what moves it on.

use super::envelopes::{Message, Reader, Way, Writer, PIECE, PIECES, SHORT};
use super::pipe::{Inlet, Outlet};
use super::single_copy::{self, Piece, Target};
use crate::executor::board::Board;
use crate::executor::memory::{scatter, total, Span};
use crate::executor::Stamp;
use std::sync::atomic::{fence, Ordering};

/// The way of messages to a rank.
pub(super) struct Outgoing {
    pub envelopes: Writer,
    pub pipe: Inlet,
    /// Messages of so many bytes are left to the other end to copy.
    pub single_copy_from: usize,
    /// It could not.
    pub refused: bool,
}

/// The way of messages from a rank.
pub(super) struct Incoming {
    pub envelopes: Reader,
    pub pipe: Outlet,
    /// Where it is said that something has gone wrong.
    pub board: Board,
}

/// An address and a length, as they are in an envelope.
fn piece(bytes: &[u8]) -> Piece {
    let [address, len]: [u64; 2] = bytemuck::pod_read_unaligned(bytes);
    (address, len)
}

/// A place in a message: a span, and the bytes of it that are done.
#[derive(Default)]
struct Cursor {
    span: usize,
    bytes: usize,
}

impl Cursor {
    /// Moves on by some bytes of the current span, which has so many in all.
    fn advance(&mut self, bytes: usize, of: usize) {
        self.bytes += bytes;
        if self.bytes == of {
            *self = Cursor { span: self.span + 1, bytes: 0 };
        }
    }
}

/// How far a message to be sent is.
pub(super) struct Sending {
    stamp: Stamp,
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
    pub fn new(stamp: Stamp, bytes: usize, synchronous: bool) -> Sending {
        Sending { stamp, bytes, synchronous, single_copy: false, envelope: None, cursor: Cursor::default() }
    }

    /// Sends what there is room for; whether the send is complete.
    pub fn advance(&mut self, there: &mut Outgoing, spans: &[Span]) -> bool {
        let envelope = match self.envelope {
            Some(envelope) => envelope,
            None if !there.envelopes.is_free() => return false,
            None => self.begin(there, spans),
        };
        // Of other messages it is not asked: the answer is in a line that the other end writes.
        if self.single_copy && there.envelopes.is_refused(envelope) {
            // Nor would later ones be copied: they take the pipe at once, as their envelopes say.
            (self.single_copy, there.refused) = (false, true);
        }
        if self.bytes > SHORT && !self.single_copy && !self.put(&mut there.pipe, spans) {
            return false;
        }
        !(self.synchronous || self.single_copy) || there.envelopes.has_read(envelope)
    }

    /// Sends the envelope; its number.
    fn begin(&mut self, there: &mut Outgoing, spans: &[Span]) -> u64 {
        let is_long = self.bytes > SHORT && self.bytes >= there.single_copy_from;
        self.single_copy = is_long && !there.refused && spans.len() <= PIECES;
        let Stamp { number, signature } = self.stamp;
        let awaited = self.synchronous || self.single_copy;
        let bytes = self.bytes as u64;
        let mut message = Message { number: number as u32, signature, way: Way::Enclosed, bytes, awaited };
        let envelope = if self.bytes <= SHORT {
            there.envelopes.write(message, spans.iter().map(Span::bytes))
        } else if self.single_copy {
            message.way = Way::Pieces(spans.len() as u8);
            let mut pieces = [[0u64; 2]; PIECES];
            for (piece, span) in pieces.iter_mut().zip(spans) {
                *piece = [span.start() as u64, span.len() as u64];
            }
            there.envelopes.write(message, [bytemuck::cast_slice(&pieces[..spans.len()])])
        } else {
            message.way = if there.pipe.rewind() { Way::PipeFromStart } else { Way::Pipe };
            there.envelopes.write(message, [])
        };
        *self.envelope.insert(envelope)
    }

    /// Puts bytes into the pipe as long as there is room; whether all are in.
    fn put(&mut self, pipe: &mut Inlet, spans: &[Span]) -> bool {
        while let Some(span) = spans.get(self.cursor.span) {
            let rest = span.from(self.cursor.bytes);
            let len = rest.len().min(pipe.stretch());
            if pipe.room(len) < len {
                break;
            }
            pipe.put(rest.first(len).bytes());
            self.cursor.advance(len, span.len());
            if pipe.unpublished() >= pipe.stretch() {
                pipe.publish();
            }
        }
        if pipe.unpublished() > 0 {
            pipe.publish();
        }
        self.cursor.span == spans.len()
    }
}

/// How far a message is that is being received.
pub(super) struct Receiving {
    message: Message,
    taken: usize,
    cursor: Cursor,
}

impl Receiving {
    /// The next message on the way, if it is there; so many bytes are expected, if any.
    pub fn next(here: &mut Incoming, expected: usize) -> Option<Receiving> {
        let message = here.envelopes.read(expected)?;
        Some(Receiving { message, taken: 0, cursor: Cursor::default() })
    }

    pub fn message(&self) -> &Message {
        &self.message
    }

    /// Receives what is there into spans of as many bytes as it has; whether it is complete.
    pub fn advance(&mut self, here: &mut Incoming, process: u64, spans: &[Span]) -> bool {
        debug_assert_eq!(total(spans) as u64, self.message.bytes);
        match self.message.way {
            Way::Enclosed => scatter(here.envelopes.data(&self.message), spans),
            // Nobody will read it, and it would be copied again at every look.
            Way::Pieces(_) if here.board.has_finder() => return false,
            Way::Pieces(_) => {
                let mut pieces = [(0, 0); PIECES];
                for (piece, bytes) in pieces.iter_mut().zip(here.envelopes.data(&self.message).chunks_exact(PIECE)) {
                    *piece = self::piece(bytes);
                }
                let targets: Vec<Target> = spans.iter().map(|span| (span.start(), span.len())).collect();
                // SAFETY: the spans of a message under way are disjoint, and nobody touches them but the transport.
                if let Err(error) = unsafe { single_copy::read(process, &pieces, &targets) } {
                    log::warn!("process_vm_readv: {error}; long messages of process {process} are now copied twice");
                    here.envelopes.refuse();
                    self.message.way = Way::Pipe;
                    return false;
                }
                // A sender that does not wait for its receiver has found something wrong before, or seen that another has, and may have used
                // its memory for something else by now.
                fence(Ordering::Acquire);
                if here.board.has_finder() {
                    return false;
                }
            }
            Way::Pipe | Way::PipeFromStart => {
                if self.message.way == Way::PipeFromStart {
                    here.pipe.rewind();
                    self.message.way = Way::Pipe;
                }
                if !self.take(&mut here.pipe, spans) {
                    return false;
                }
            }
        }
        here.envelopes.done(&self.message);
        true
    }

    /// Takes the bytes that are there out of the pipe; whether they are all of the message.
    fn take(&mut self, pipe: &mut Outlet, spans: &[Span]) -> bool {
        let bytes = self.message.bytes as usize;
        while self.taken < bytes {
            let there = pipe.available(1).min(bytes - self.taken).min(pipe.stretch());
            let Some(span) = spans.get(self.cursor.span).filter(|_| there > 0) else { break };
            let rest = span.from(self.cursor.bytes);
            let len = there.min(rest.len());
            pipe.take(rest.start(), len);
            self.cursor.advance(len, span.len());
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
    use crate::executor::SINGLE_COPY_FROM;
    use std::ptr::NonNull;

    const STAMP: Stamp = Stamp { number: 5, signature: 77 };

    /// A way from this process to itself.
    fn way(memory: &mut Vec<u128>, capacity: usize) -> (Outgoing, Incoming) {
        memory.resize((Envelopes::SIZE + Envelopes::BOXES + Pipe::size(capacity)) / 16 + 8, 0);
        let start = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room to align the start, and the memory outlives the ends in each test.
        let (envelopes, pipe) = unsafe {
            let start = NonNull::new_unchecked(start.add(start.align_offset(128)));
            let boxes = start.add(Envelopes::SIZE);
            (Envelopes::at(start, boxes), Pipe::at(boxes.add(Envelopes::BOXES), capacity))
        };
        let there = Outgoing {
            envelopes: envelopes.writer(),
            pipe: pipe.inlet(),
            single_copy_from: SINGLE_COPY_FROM,
            refused: false,
        };
        let board = Board::of_threads(1)(0);
        (there, Incoming { envelopes: envelopes.reader(), pipe: pipe.outlet(), board })
    }

    /// So many spans of a buffer, as equal as they can be.
    fn spans(buffer: &mut [u8], number: usize) -> Vec<Span> {
        let (start, bytes) = (buffer.as_mut_ptr(), buffer.len());
        let starts: Vec<usize> = (0..=number).map(|nth| bytes * nth / number).collect();
        // SAFETY: parts of the buffer, which outlives them in each test.
        starts.windows(2).map(|w| unsafe { Span::new(start.wrapping_add(w[0]), w[1] - w[0]) }).collect()
    }

    /// Sends so many bytes in so many pieces, into so many, to a receiver for which the sender is `process`: the looks at which bytes
    /// moved through the pipe.
    fn pass(
        bytes: usize,
        [pieces, targets]: [usize; 2],
        process: u64,
        there: &mut Outgoing,
        here: &mut Incoming,
    ) -> usize {
        let mut sent: Vec<u8> = (0..=250).cycle().take(bytes).collect();
        let mut received = vec![0; bytes];
        let (from, into) = (spans(&mut sent, pieces), spans(&mut received, targets));
        let mut sending = Sending::new(STAMP, bytes, false);
        let mut receiving = None;
        let (mut is_sent, mut is_there, mut moved, mut still) = (false, false, 0, 0);
        while !is_sent || !is_there {
            let before = (there.pipe.position(), here.pipe.position());
            is_sent = is_sent || sending.advance(there, &from);
            if receiving.is_none() {
                receiving = Receiving::next(here, bytes);
            }
            if let (Some(receiving), false) = (&mut receiving, is_there) {
                assert!(receiving.message().is_of(STAMP) && receiving.message().bytes == bytes as u64);
                is_there = receiving.advance(here, process, &into);
            }
            let through_pipe = before != (there.pipe.position(), here.pipe.position());
            *(if through_pipe { &mut moved } else { &mut still }) += 1;
            assert!(still < 10, "{bytes} bytes never arrive");
        }
        assert!(sent == received, "{bytes} bytes in {pieces} pieces, into {targets}");
        moved
    }

    /// Messages of all kinds, one after another on the same way.
    #[test]
    fn what_is_sent_is_received() {
        let mut memory = Vec::new();
        let (mut there, mut here) = way(&mut memory, 4096);
        let this = u64::from(std::process::id());
        for bytes in [0, 5, 40, 41, 104, 105, SHORT, SHORT + 1, 5000, SINGLE_COPY_FROM + 5] {
            for cuts in [[1, 3], [3, 1], [PIECES, 2], [PIECES + 1, PIECES + 1]] {
                pass(bytes, cuts, this, &mut there, &mut here);
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
            let moved = pass(long, [1, 1], u64::MAX, &mut there, &mut here);
            assert!(moved >= long / 4096, "bytes move at {moved} looks");
            assert_eq!((there.refused, there.envelopes.is_refused(1)), (true, true), "message {message}");
        }
    }

    /// The sender's memory may hold anything by then.
    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_copied_once_after_something_has_gone_wrong() {
        let mut memory = Vec::new();
        let (mut there, mut here) = way(&mut memory, 4096);
        let (this, long) = (u64::from(std::process::id()), SINGLE_COPY_FROM);
        let (mut sent, mut received) = (vec![1; long], vec![0; long]);
        for is_well in [true, false] {
            Sending::new(STAMP, long, false).advance(&mut there, &spans(&mut sent, 1));
            let mut receiving = Receiving::next(&mut here, long).expect("a message");
            assert_eq!(receiving.advance(&mut here, this, &spans(&mut received, 1)), is_well);
            assert!(received.iter().all(|&byte| byte == u8::from(is_well)));
            received.fill(0);
            here.board.find("a finding");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_receiver_that_can_copy_needs_no_pipe() {
        let mut memory = Vec::new();
        let (mut there, mut here) = way(&mut memory, 4096);
        let this = u64::from(std::process::id());
        for _ in 0..3 {
            assert_eq!(pass(SINGLE_COPY_FROM + 5, [1, 1], this, &mut there, &mut here), 0);
        }
        assert!(!there.refused);
        assert!(pass(SINGLE_COPY_FROM - 1, [1, 1], this, &mut there, &mut here) > 0);
        // What fits into an envelope is complete at once.
        there.single_copy_from = 0;
        let mut short = [0; SHORT];
        assert!(Sending::new(STAMP, SHORT, false).advance(&mut there, &spans(&mut short, 1)));
        assert!(Receiving::next(&mut here, SHORT).is_some_and(|mut r| r.advance(
            &mut here,
            this,
            &spans(&mut short, 1)
        )));
        there.single_copy_from = usize::MAX;
        assert!(pass(SINGLE_COPY_FROM + 5, [1, 1], this, &mut there, &mut here) > 0);
    }
}
