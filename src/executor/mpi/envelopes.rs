//! A row of envelopes in memory that two processes share: each announces one message, and carries it if it is short.
//!
//! An envelope is two cache lines, and says itself whether it is there: the shortest messages cost the transfer of the second, or of both.
//! Those that are somewhat longer lie in a box beside it, and cost the transfer of the second and of theirs: less than through a pipe, where
//! there is also the line that says how far it is filled.

use crate::executor::Stamp;
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that an envelope carries, itself or in its box.
pub(super) const SHORT: usize = 512;
/// Those that it carries itself.
const INSIDE: usize = 104;
/// Those of them in the line of the stamp.
const NEAR: usize = 40;
/// Bytes of a line.
const LINE: usize = 64;
/// Bytes of a piece's address and length.
pub(super) const PIECE: usize = 16;
/// Pieces for which an envelope has room.
pub(super) const PIECES: usize = INSIDE / PIECE;
/// Bits of a message's length.
const WAY: u32 = 56;
/// Envelopes of a row.
const ROW: u64 = 16;
/// Messages received after which the other end is told, if it waits for none of them: where it runs ahead, the line in which it is told
/// goes to and fro less often.
const TOLD: u64 = ROW / 4;
/// That the other end waits until a message has been received, among the bits of its way.
const AWAITED: u64 = 1 << 7;

/// What an envelope says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Message {
    /// The number of the call that it is of, cut to 32 bits, and the call's signature.
    pub number: u32,
    pub signature: u64,
    /// How the bytes come.
    pub way: Way,
    /// Their number.
    pub bytes: u64,
    /// Whether the sender waits until it has been received.
    pub awaited: bool,
}

impl Message {
    /// Whether it is of a call.
    pub fn is_of(&self, stamp: Stamp) -> bool {
        (self.number, self.signature) == (stamp.number as u32, stamp.signature)
    }

    /// Its stamp, where the number of some call of about the same time is known.
    pub fn stamp(&self, near: u64) -> Stamp {
        let ahead = i64::from(self.number.wrapping_sub(near as u32) as i32);
        Stamp { number: near.wrapping_add_signed(ahead), signature: self.signature }
    }

    /// Bytes of data in the envelope, or in its box.
    fn enclosed(&self) -> usize {
        match self.way {
            Way::Enclosed => self.bytes as usize,
            Way::Pipe | Way::PipeFromStart => 0,
            Way::Pieces(pieces) => PIECE * usize::from(pieces),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// In the envelope, or in its box.
    Enclosed,
    /// Through the pipe.
    Pipe,
    /// Through the pipe, from its start: it is empty, and memory used before is in the cores' caches.
    PipeFromStart,
    /// The receiver copies so many pieces itself.
    Pieces(u8),
}

impl Way {
    fn code(self) -> u64 {
        match self {
            Way::Enclosed => 0,
            Way::Pipe => 1,
            Way::PipeFromStart => 2,
            Way::Pieces(pieces) => 3 + u64::from(pieces),
        }
    }

    fn of(code: u64) -> Way {
        match code {
            0 => Way::Enclosed,
            1 => Way::Pipe,
            2 => Way::PipeFromStart,
            code => Way::Pieces((code - 3) as u8),
        }
    }
}

#[repr(C, align(128))]
struct Envelope {
    /// The bytes of one of the shortest messages, or where those of a long one are. They end where the header begins, in the line at which the
    /// other end looks: few bytes are in that line too, and more are begun in the line at which it does not look.
    data: UnsafeCell<[u8; INSIDE]>,
    signature: UnsafeCell<u64>,
    /// The way in the highest byte.
    bytes: UnsafeCell<u64>,
    /// The call's number in the upper half; in the lower, one more than the number of messages before it: then the rest is there. One
    /// word, since every store to a line for which the other end waits may have to fetch it again.
    stamp: AtomicU64,
}

#[repr(C, align(128))]
struct Row {
    /// Messages that have been received in full.
    read: AtomicU64,
    /// The number of the last message whose pieces the other end could not copy.
    refused: AtomicU64,
    _apart: [u64; 14],
    envelopes: [Envelope; ROW as usize],
}

/// For each envelope what does not fit into it. Apart, so that the envelopes of many rows are in few pages.
type Boxes = [UnsafeCell<[u8; SHORT]>; ROW as usize];

/// Fetches the cache line of an address before it is needed, to be read.
fn fetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: a hint, which reads nothing that the program sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The same to be written: no other core keeps it.
fn claim<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which changes nothing that the program sees; where there is none, the instruction does nothing.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The memory of a row.
#[derive(Clone, Copy)]
pub(super) struct Envelopes {
    row: NonNull<Row>,
    boxes: NonNull<Boxes>,
}

impl Envelopes {
    /// Bytes of memory that a row needs.
    pub const SIZE: usize = size_of::<Row>();
    /// Bytes of its boxes.
    pub const BOXES: usize = size_of::<Boxes>();

    /// A row in memory that was filled with zeros, and its boxes.
    ///
    /// # Safety
    /// The memory is aligned to 128 bytes, holds [`Envelopes::SIZE`] and [`Envelopes::BOXES`] bytes and stays for as long as an end is used;
    /// nobody uses it but one writer and one reader, in any processes.
    pub unsafe fn at(memory: NonNull<u8>, boxes: NonNull<u8>) -> Envelopes {
        Envelopes { row: memory.cast(), boxes: boxes.cast() }
    }

    pub fn writer(self) -> Writer {
        Writer { row: self, written: 0, read: 0, in_a_row: false }
    }

    pub fn reader(self) -> Reader {
        Reader { row: self, read: 0, told: 0, in_a_row: false }
    }

    fn row(&self) -> &Row {
        // SAFETY: `at` was promised that the row is there; all that both ends touch at a time is atomic.
        unsafe { self.row.as_ref() }
    }

    fn envelope(&self, message: u64) -> &Envelope {
        &self.row().envelopes[(message % ROW) as usize]
    }

    /// Where so many bytes of a message are.
    fn data(&self, message: u64, bytes: usize) -> *mut [u8] {
        // (What memory of two processes says is not believed.)
        assert!(bytes <= SHORT, "an envelope says that it carries {bytes} bytes");
        let start = if bytes <= INSIDE {
            self.envelope(message).data.get().cast::<u8>().wrapping_add(INSIDE - bytes)
        } else {
            // SAFETY: `at` was promised that the boxes are there.
            let boxes = unsafe { self.boxes.as_ref() };
            boxes[(message % ROW) as usize].get().cast()
        };
        std::ptr::slice_from_raw_parts_mut(start, bytes)
    }
}

/// The end that sends.
pub(super) struct Writer {
    row: Envelopes,
    written: u64,
    /// What was last seen of the other end's count.
    read: u64,
    /// Whether messages follow one another, with none the other way between: then the next envelope is claimed while there is time. (In
    /// turns, the other end looks at it already.)
    pub in_a_row: bool,
}

impl Writer {
    /// Whether there is an envelope to write.
    pub fn is_free(&mut self) -> bool {
        self.written - self.read < ROW || self.has_read(self.written + 1 - ROW)
    }

    /// Sends a message in an envelope that is free, with the data that the message says it encloses, part by part; the number of
    /// messages now.
    pub fn write<'d>(&mut self, message: Message, data: impl IntoIterator<Item = &'d [u8]>) -> u64 {
        let envelope = self.row.envelope(self.written);
        // SAFETY: the envelope is free: the other end does not look at it before the stamp says that it is there.
        unsafe {
            let mut room = &mut *self.row.data(self.written, message.enclosed());
            for part in data {
                let (start, rest) = room.split_at_mut(part.len());
                start.copy_from_slice(part);
                room = rest;
            }
            let way = message.way.code() | if message.awaited { AWAITED } else { 0 };
            *envelope.bytes.get() = message.bytes | way << WAY;
            *envelope.signature.get() = message.signature;
        }
        self.written += 1;
        envelope.stamp.store(u64::from(message.number) << 32 | u64::from(self.written as u32), Ordering::Release);
        if self.in_a_row {
            claim(&self.row.envelope(self.written).stamp);
        }
        self.written
    }

    /// Whether the other end could not copy the pieces of a message, and takes it out of the pipe instead.
    pub fn is_refused(&self, message: u64) -> bool {
        self.row.row().refused.load(Ordering::Acquire) == message
    }

    /// Whether the other end has received so many messages in full.
    pub fn has_read(&mut self, messages: u64) -> bool {
        if self.read < messages {
            self.read = self.row.row().read.load(Ordering::Acquire);
        }
        self.read >= messages
    }
}

/// The end that receives.
pub(super) struct Reader {
    row: Envelopes,
    read: u64,
    /// Of how many of these the other end has been told.
    told: u64,
    /// As the writer's: then the next envelope, which may be there, is fetched while there is time.
    pub in_a_row: bool,
}

impl Reader {
    /// The next message, if it is there, which is expected to have so many bytes.
    pub fn read(&mut self, expected: usize) -> Option<Message> {
        let envelope = self.row.envelope(self.read);
        if expected > NEAR && expected <= SHORT {
            let data = self.row.data(self.read, expected).cast::<u8>();
            (0..expected).step_by(LINE).for_each(|at| fetch(data.wrapping_add(at)));
        }
        let stamp = envelope.stamp.load(Ordering::Acquire);
        if stamp as u32 != (self.read + 1) as u32 {
            if self.told < self.read {
                self.tell();
            }
            return None;
        }
        if self.in_a_row {
            fetch(&self.row.envelope(self.read + 1).stamp);
        }
        // SAFETY: the stamp says that the envelope is there, and the other end writes it again only after `done`.
        unsafe {
            let (number, signature, bytes) = ((stamp >> 32) as u32, *envelope.signature.get(), *envelope.bytes.get());
            let (way, bytes) = (bytes >> WAY, bytes & ((1 << WAY) - 1));
            let awaited = way & AWAITED != 0;
            Some(Message { number, signature, way: Way::of(way & !AWAITED), bytes, awaited })
        }
    }

    /// The data enclosed in the message that [`Reader::read`] has found.
    pub fn data(&self, message: &Message) -> &[u8] {
        // SAFETY: the envelope is there, as its message came of `read`, and stays as it is until `done`, which cannot be called as long
        // as this is borrowed.
        unsafe { &*self.row.data(self.read, message.enclosed()) }
    }

    /// The pieces of the message cannot be copied: it is to come through the pipe.
    pub fn refuse(&mut self) {
        self.row.row().refused.store(self.read + 1, Ordering::Release);
    }

    /// The message has been received in full: its envelope is free again.
    pub fn done(&mut self, message: &Message) {
        self.read += 1;
        if message.awaited || self.read - self.told >= TOLD {
            self.tell();
        }
    }

    fn tell(&mut self) {
        self.told = self.read;
        self.row.row().read.store(self.read, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(memory: &mut Vec<u128>) -> (Writer, Reader) {
        memory.resize((Envelopes::SIZE + Envelopes::BOXES) / 16 + 8, 0);
        let start = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room to align the start, and the memory outlives the ends in each test.
        let row = unsafe {
            let start = NonNull::new_unchecked(start.add(start.align_offset(128)));
            Envelopes::at(start, start.add(Envelopes::SIZE))
        };
        (row.writer(), row.reader())
    }

    #[test]
    fn an_envelope_is_free_again_only_when_its_message_was_received() {
        let mut memory = Vec::new();
        let (mut writer, mut reader) = row(&mut memory);
        assert_eq!(reader.read(0), None);
        let message =
            |number: u64| Message { number: 3, signature: u64::MAX, way: Way::Pieces(6), bytes: number, awaited: true };
        let data = |number: u64| [number as u8; SHORT];
        for number in 0..ROW {
            assert!(writer.is_free());
            assert_eq!(writer.write(message(number), [&data(number)[..PIECES * PIECE]]), number + 1);
        }
        assert!(!writer.is_free());
        for number in 0..5 * ROW {
            assert_eq!(reader.read(SHORT), Some(message(number)));
            assert_eq!(reader.data(&message(number)), &data(number)[..PIECES * PIECE]);
            assert!(!writer.is_free() && !writer.has_read(number + 1));
            reader.done(&message(number));
            assert!(writer.has_read(number + 1) && writer.is_free());
            writer.write(message(number + ROW), [&data(number + ROW)[..PIECES * PIECE]]);
        }
    }

    /// Where nobody waits for a message, the other end is told of several at once, or when there is no other.
    #[test]
    fn who_waits_is_told_at_once() {
        let mut memory = Vec::new();
        let (mut writer, mut reader) = row(&mut memory);
        let message = |awaited| Message { number: 1, signature: 2, way: Way::Enclosed, bytes: 0, awaited };
        let mut pass = |awaited: &[bool]| {
            awaited.iter().for_each(|&awaited| _ = writer.write(message(awaited), []));
            let (before, mut told) = (reader.read, 0);
            for &awaited in awaited {
                assert_eq!(reader.read(0), Some(message(awaited)));
                reader.done(&message(awaited));
                told = writer.row.row().read.load(Ordering::Relaxed) - before;
            }
            assert_eq!(reader.read(0), None);
            assert!(writer.has_read(before + awaited.len() as u64));
            told
        };
        assert_eq!([pass(&[false]), pass(&[true]), pass(&[false, true, false])], [0, 1, 2]);
        assert_eq!(pass(&[false; 9]), 8);
    }

    #[test]
    fn a_stamp_is_found_from_one_near_to_it() {
        let message =
            |number: u64| Message { number: number as u32, signature: 9, way: Way::Enclosed, bytes: 0, awaited: false };
        for (near, number) in
            [(1, 1), (5, 2), (1 << 32, (1 << 32) - 3), ((1 << 32) - 1, 1 << 32), (7 << 32, (7 << 32) + 9)]
        {
            let stamp = message(number).stamp(near);
            assert_eq!((stamp.number, message(number).is_of(stamp)), (number, true));
        }
    }

    #[test]
    fn a_refusal_is_of_one_message() {
        let mut memory = Vec::new();
        let (mut writer, mut reader) = row(&mut memory);
        let message = Message { number: 1, signature: 2, way: Way::Pieces(1), bytes: 100_000, awaited: true };
        let messages = [(); 2].map(|()| writer.write(message, []));
        reader.done(&message);
        reader.refuse();
        assert_eq!(messages.map(|message| writer.is_refused(message)), [false, true]);
    }

    #[test]
    fn every_way_is_told() {
        let mut memory = Vec::new();
        let (mut writer, mut reader) = row(&mut memory);
        let bytes: [u8; SHORT] = std::array::from_fn(|at| at as u8);
        let enclosed = (0..=SHORT).map(|bytes| (Way::Enclosed, bytes as u64, bytes));
        let elsewhere =
            [(Way::Pipe, 0), (Way::PipeFromStart, 0), (Way::Pieces(1), PIECE), (Way::Pieces(6), PIECES * PIECE)];
        for (way, number, enclosed) in enclosed.chain(elsewhere.map(|(way, enclosed)| (way, 100_000, enclosed))) {
            let message = Message { number: 7, signature: number, way, bytes: number, awaited: number % 2 == 0 };
            let (start, end) = bytes[..enclosed].split_at(enclosed / 3);
            writer.write(message, [start, end]);
            assert_eq!(reader.read(enclosed), Some(message));
            assert_eq!(reader.data(&message), &bytes[..enclosed]);
            reader.done(&message);
        }
    }

    #[test]
    fn few_bytes_are_in_the_line_of_the_stamp() {
        let (data, stamp) = (std::mem::offset_of!(Envelope, data), std::mem::offset_of!(Envelope, stamp));
        assert_eq!((data + INSIDE - NEAR) / LINE, stamp / LINE);
        assert_ne!((data + INSIDE - NEAR - 1) / LINE, stamp / LINE);
        assert_eq!(size_of::<Envelope>(), 2 * LINE);
    }

    #[test]
    fn two_threads_agree() {
        let mut memory = Vec::new();
        let (writer, mut reader) = row(&mut memory);
        let lengths = [8, NEAR + 8, INSIDE + 8, SHORT];
        let data = move |message: u64| message.to_ne_bytes().repeat(lengths[message as usize % lengths.len()] / 8);
        /// The writer, for another thread.
        struct Far(Writer);
        // SAFETY: each end goes to one thread only, and the memory outlives both.
        unsafe impl Send for Far {}
        impl Far {
            fn write(&mut self, data: Vec<u8>) {
                while !self.0.is_free() {
                    std::thread::yield_now();
                }
                let bytes = data.len() as u64;
                self.0
                    .write(Message { number: 1, signature: 2, way: Way::Enclosed, bytes, awaited: false }, [&data[..]]);
            }
        }
        let (mut far, mut wrong) = (Far(writer), 0);
        std::thread::scope(|scope| {
            scope.spawn(move || (0..20_000).for_each(|message| far.write(data(message))));
            for message in 0..20_000u64 {
                let found = loop {
                    match reader.read(data(message).len()) {
                        Some(found) => break found,
                        None => std::thread::yield_now(),
                    }
                };
                // (One that failed here would leave the other thread waiting for ever.)
                wrong += usize::from(reader.data(&found) != data(message));
                reader.done(&found);
            }
        });
        assert_eq!(wrong, 0);
    }
}
