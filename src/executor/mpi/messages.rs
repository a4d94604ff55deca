//! Messages through MPI: nonblocking point-to-point calls.
//!
//! The first message of a call from one rank to another introduces itself: it begins with a mark, cut from the call's signature. If it is
//! short, its data is behind that; if it is long, its length is, and its data follows as a message of its own. Only when the receiver has
//! seen that the mark is that of its own call, and that the length is what it expects, does it start to receive what follows, whose
//! lengths are then known to be right (where ranks know but lengths of their own, nothing follows but that data, or packets whose length together has gone
//! into the mark): no message is ever longer than its receive. (What MPI libraries make of one that is differs. MPICH ends the program; Open MPI 4.1 writes beyond the
//! receive when it copies from process to process.) All tags carry the call's number, as far as there is room.
//!
//! A message of one range is sent from and received into the user's buffer; one of several ranges, and a first one that is short,
//! is packed. Messages that MPI cannot count are split.

mod ending;
mod tags;

use super::requests::{Owner, Requests};
use crate::error::Error;
use crate::executor::memory::{gather, scatter, total, Span};
use crate::executor::{Stamp, Token, Trouble};
use mpi::ffi;
use std::collections::VecDeque;
use std::ffi::c_int;
use tags::Tags;

type Result<T, E = Error> = std::result::Result<T, E>;

/// Bytes of a mark. They are sent with every short message, and a link of 50 Mbit/s takes a microsecond for six of them.
const HEADER: usize = size_of::<u32>();
/// A bit beside the mark: the length is behind it, and the data follows.
const FOLLOWS: u32 = 1 << 31;
/// Bytes of that length.
const LENGTH: usize = size_of::<u64>();
/// Bytes up to which a first message has its data behind them. Up to here that copy costs next to nothing.
const SHORT: usize = 2048;
/// Bytes of a first message at most.
const FIRST: usize = HEADER + SHORT;
/// Calls of a peer that are listed, of which more than one may be over: of longer lists those that are go.
const FEW: usize = 8;
/// Bytes that MPI counts in one message, at most.
const LARGEST: usize = 1 << 30;

/// The mark of a call: 31 bits of its signature, into which all calls before it on this communicator have gone, and so their number.
fn mark(stamp: Stamp) -> u32 {
    (stamp.signature >> 33) as u32
}

/// A message under way, by what it is for.
#[derive(Default)]
struct Message {
    token: Option<Token>,
    stamp: Option<Stamp>,
    peer: usize,
    /// Whether it is a first message to be received, and where its data goes.
    introduces: bool,
    spans: Vec<Span>,
    /// The packed message; its memory is used again.
    packed: Vec<u8>,
    /// Room for a first message, once there has been one.
    first: Option<Box<[u8; FIRST]>>,
    /// Whether it is received, and then whether it goes from `packed` to the spans.
    receives: bool,
    unpacks: bool,
    /// Whether MPI uses memory of the user's.
    lent: bool,
    /// MPI messages still under way, bytes of all of them, and those that have come.
    left: usize,
    bytes: usize,
    received: usize,
}

impl Message {
    /// Room for a first message.
    fn room(&mut self) -> &mut [u8; FIRST] {
        self.first.get_or_insert_with(|| Box::new([0; FIRST]))
    }

    /// Room for so many bytes to be packed, with whatever is in it.
    fn packing(&mut self, bytes: usize) -> &mut [u8] {
        if self.packed.len() < bytes {
            self.packed.resize(bytes, 0);
        }
        &mut self.packed[..bytes]
    }

    /// Writes a first message, of a call that sends these spans with so many bytes; where it is, and how long.
    fn write_first(&mut self, stamp: Stamp, spans: &[Span], bytes: usize) -> (*const u8, usize) {
        let room = self.room();
        let (header, data) = room.split_at_mut(HEADER);
        let follows = bytes > SHORT;
        header.copy_from_slice(&(mark(stamp) | if follows { FOLLOWS } else { 0 }).to_ne_bytes());
        let len = if follows {
            data[..LENGTH].copy_from_slice(&(bytes as u64).to_ne_bytes());
            LENGTH
        } else {
            gather(spans, data);
            bytes
        };
        (room.as_ptr(), HEADER + len)
    }
}

/// A call's messages from a peer.
struct From {
    stamp: Stamp,
    /// Whether the first has come.
    introduced: bool,
    /// Receives that wait for that.
    held: VecDeque<(Token, Vec<Span>)>,
}

/// Lists a call of a peer, in the place of one that is over, if there is one. Long lists lose all that are.
#[inline(always)]
fn list<C>(calls: &mut Vec<C>, call: C, is_over: impl Fn(&C) -> bool) {
    match calls.iter_mut().find(|call| is_over(call)) {
        Some(over) => *over = call,
        None => calls.push(call),
    }
    if calls.len() > FEW {
        calls.retain(|call| !is_over(call));
    }
}

/// The messages of a communicator that are under way.
pub(super) struct Messages {
    requests: Requests,
    tags: Tags,
    /// Bytes of a part of a message at most.
    pub largest: usize,
    messages: Vec<Message>,
    unused: Vec<usize>,
    /// For each peer, its calls that may still be under way.
    from: Vec<Vec<From>>,
    /// For each peer, the calls in which it has been sent a first message.
    into: Vec<Vec<u64>>,
    oldest: u64,
    /// Peers that are through with this communicator, which is broken.
    through: Vec<bool>,
    /// Those of them that have gone: they receive nothing of calls any more.
    gone: Vec<bool>,
    /// Those of them of which other ranks need not be told, or have been.
    passed_on: Vec<bool>,
    /// Those whose memory MPI still uses, as they have said, unless they are through.
    held: Vec<bool>,
    /// Whether calls have failed on another rank.
    broken: bool,
    ceased: bool,
}

// What every message passes is inlined on purpose, here and in requests and executions: calls of 8 bytes over links took 1 % less.
impl Messages {
    /// Of a live communicator of so many ranks that returns errors, on which nobody else sends or receives.
    pub fn on(comm: ffi::MPI_Comm, size: usize) -> Messages {
        Messages {
            requests: Requests::on(comm),
            tags: Tags::of_mpi(),
            largest: LARGEST,
            messages: Vec::new(),
            unused: Vec::new(),
            from: (0..size).map(|_| Vec::new()).collect(),
            into: vec![Vec::new(); size],
            oldest: 0,
            through: vec![false; size],
            gone: vec![false; size],
            passed_on: vec![false; size],
            held: vec![false; size],
            broken: false,
            ceased: false,
        }
    }

    /// Whether any are under way.
    pub fn any(&self) -> bool {
        self.requests.any()
    }

    /// Lets MPI make progress on whatever is under way on any communicator.
    pub fn make_progress(&mut self, rank: usize) {
        self.requests.make_progress(rank);
    }

    /// The ranks with which some are under way.
    pub fn under_way(&self) -> impl Iterator<Item = usize> + '_ {
        let tokens = |message: &&Message| message.token.is_some();
        self.requests.owners().map(|owner| &self.messages[owner]).filter(tokens).map(|message| message.peer)
    }

    /// Calls before this one are over.
    pub fn forget_before(&mut self, oldest: u64) {
        self.oldest = oldest;
    }

    /// A place for a new message.
    #[inline(always)]
    fn open(&mut self, token: Option<Token>, stamp: Stamp, peer: usize) -> Owner {
        let at = self.unused.pop().unwrap_or_else(|| {
            self.messages.push(Message::default());
            self.messages.len() - 1
        });
        let message = &mut self.messages[at];
        (message.token, message.stamp, message.peer) = (token, Some(stamp), peer);
        (message.introduces, message.receives, message.unpacks, message.lent) = (false, false, false, false);
        (message.left, message.bytes, message.received) = (0, 0, 0);
        message.spans.clear();
        at
    }

    /// Starts to send the spans as one message, and whether that is complete at once: then its token is not reported. If
    /// `synchronous`, it is complete only when it has met its receive.
    #[inline(always)]
    pub fn send(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span], synchronous: bool) -> Result<bool> {
        let owner = self.open(Some(token), stamp, peer);
        let bytes = total(spans);
        if self.is_first(peer, stamp.number) {
            let message = &mut self.messages[owner];
            let ((start, len), tag) = (message.write_first(stamp, spans, bytes), self.tags.first(stamp.number));
            message.left = 1;
            // SAFETY: what was written lives in `messages`, and stays as it is as long as it is under way.
            unsafe { self.requests.send(owner, peer, tag, start, len, synchronous)? };
            let sent = !synchronous && self.requests.is_last_over()?;
            self.messages[owner].left -= usize::from(sent);
            if bytes <= SHORT {
                self.unused.extend(sent.then_some(owner));
                return Ok(sent);
            }
        }
        let message = &mut self.messages[owner];
        let start = match spans {
            [] => std::ptr::NonNull::<u8>::dangling().as_ptr().cast_const(),
            [span] => {
                message.lent = true;
                span.start().cast_const()
            }
            _ => {
                let packed = message.packing(bytes);
                gather(spans, packed);
                packed.as_ptr()
            }
        };
        self.post(owner, Way::Send(synchronous), peer, stamp, start.cast_mut(), bytes)?;
        Ok(false)
    }

    /// Whether a peer is sent a first message, which this one then is, of the call of this number.
    #[inline(always)]
    fn is_first(&mut self, peer: usize, number: u64) -> bool {
        let (oldest, introduced) = (self.oldest, &mut self.into[peer]);
        if introduced.contains(&number) {
            return false;
        }
        list(introduced, number, |&other| other < oldest);
        true
    }

    /// Starts the MPI messages that carry so many bytes from or to `start`.
    fn post(&mut self, owner: Owner, way: Way, peer: usize, stamp: Stamp, start: *mut u8, bytes: usize) -> Result<()> {
        let tag = self.tags.later(stamp.number);
        let parts = bytes.div_ceil(self.largest).max(1);
        for part in 0..parts {
            let offset = part * self.largest;
            let (at, len) = (start.wrapping_add(offset), (bytes - offset).min(self.largest));
            self.messages[owner].left += 1;
            // SAFETY: the bytes are those of a span of a call under way, which is let go of only when the message is complete or `cease`
            // has returned, or of a packed message, which stays where it is as long as it is under way.
            unsafe {
                match way {
                    Way::Send(synchronous) => self.requests.send(owner, peer, tag, at, len, synchronous)?,
                    Way::Receive => self.requests.receive(owner, peer, tag, at, len)?,
                }
            }
        }
        if matches!(way, Way::Receive) {
            (self.messages[owner].receives, self.messages[owner].bytes) = (true, bytes);
        }
        Ok(())
    }

    /// Starts to receive one message into the spans.
    #[inline(always)]
    pub fn receive(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span]) -> Result<()> {
        let (oldest, calls) = (self.oldest, &mut self.from[peer]);
        match calls.iter_mut().find(|call| call.stamp.number == stamp.number) {
            Some(call) if call.introduced => self.receive_data(token, stamp, peer, spans),
            Some(call) => {
                call.held.push_back((token, spans.to_vec()));
                Ok(())
            }
            None => {
                let call = From { stamp, introduced: false, held: VecDeque::new() };
                list(calls, call, |other| other.stamp.number < oldest);
                let owner = self.open(Some(token), stamp, peer);
                let message = &mut self.messages[owner];
                message.introduces = true;
                message.spans.extend_from_slice(spans);
                message.left = 1;
                let room = message.room();
                let (start, len) = (room.as_mut_ptr(), room.len());
                // SAFETY: as in `post`; it has room for any first message.
                unsafe { self.requests.receive(owner, peer, self.tags.first(stamp.number), start, len) }
            }
        }
    }

    /// The same from a peer that is known to be in the same call.
    fn receive_data(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span]) -> Result<()> {
        let owner = self.open(Some(token), stamp, peer);
        let bytes = total(spans);
        let message = &mut self.messages[owner];
        let start = match spans {
            [span] => {
                message.lent = true;
                span.start()
            }
            _ => {
                message.unpacks = true;
                message.spans.extend_from_slice(spans);
                message.packing(bytes).as_mut_ptr()
            }
        };
        self.post(owner, Way::Receive, peer, stamp, start, bytes)
    }

    /// A first message has come: whether it is complete; otherwise its data follows.
    fn introduce(&mut self, owner: Owner, received: usize) -> Result<bool, Box<Trouble>> {
        let message = &mut self.messages[owner];
        let Message { token: Some(token), stamp: Some(stamp), peer, ref first, ref spans, .. } = *message else {
            return Ok(true);
        };
        let first = first.as_deref().and_then(|first| first.get(..received)).unwrap_or_default();
        let found = first.split_first_chunk().and_then(|(header, data)| {
            let header = u32::from_ne_bytes(*header);
            let follows = header & FOLLOWS != 0;
            let bytes = if follows { u64::from_ne_bytes(*data.first_chunk()?) as usize } else { data.len() };
            (header & !FOLLOWS == mark(stamp)).then_some((follows, bytes, data))
        });
        let Some((follows, bytes, data)) = found else { return Err(Trouble::stray(stamp.number, peer)) };
        let expected = total(spans);
        if bytes != expected {
            return Err(Trouble::length(stamp, peer, expected, bytes));
        }
        if follows {
            let spans = std::mem::take(&mut message.spans);
            self.receive_data(token, stamp, peer, &spans)?;
        } else {
            scatter(data, spans);
        }
        if let Some(call) = self.from[peer].iter().position(|call| call.stamp == stamp) {
            self.from[peer][call].introduced = true;
            while let Some((token, spans)) = self.from[peer][call].held.pop_front() {
                self.receive_data(token, stamp, peer, &spans)?;
            }
        }
        Ok(!follows)
    }

    /// Tests what is under way until something is complete, so many times at most, and reports what is complete; whether anything is of a
    /// call, be it a part of a message: a note that has been sent moves no call. With `all` it is all or nothing, which is cheaper to
    /// find out. Every test makes MPI's own progress once, and yields the core if MPI was told to.
    #[inline(always)]
    pub fn advance(&mut self, all: bool, looks: u32, done: &mut Vec<Token>) -> Result<bool, Box<Trouble>> {
        let all = all && self.requests.owners().all(|owner| !self.messages[owner].introduces);
        let completed = self.requests.test(all, looks)?;
        let mut any = false;
        for &(owner, received) in &completed {
            let message = &mut self.messages[owner];
            any |= message.token.is_some();
            message.left -= 1;
            message.received += received;
            if message.left > 0 {
                continue;
            }
            let mut complete = true;
            if message.introduces {
                complete = self.introduce(owner, received)?;
            } else if message.receives && message.bytes != message.received {
                // In its place, as its sender cannot go on: what is wrong is told otherwise.
                complete = false;
            } else if message.unpacks {
                scatter(&message.packed, &message.spans);
            }
            if complete {
                done.extend(self.messages[owner].token);
            }
            self.unused.push(owner);
        }
        self.requests.take_back(completed);
        Ok(any)
    }

    /// Tells a rank.
    pub fn tell(&mut self, peer: usize, text: &[u8]) {
        self.note(peer, Tags::NOTE, text);
    }

    /// Tells a rank, and nothing more after that.
    pub fn part(&mut self, peer: usize, text: &[u8]) {
        self.note(peer, Tags::PARTING, text);
    }

    fn note(&mut self, peer: usize, tag: c_int, text: &[u8]) {
        let owner = self.open(None, Stamp { number: 0, signature: 0 }, peer);
        let message = &mut self.messages[owner];
        message.packed.clear();
        message.packed.extend_from_slice(text);
        message.left = 1;
        let (start, len) = (message.packed.as_ptr(), message.packed.len());
        // SAFETY: as in `send`. A note that is not sent is one that is not answered.
        let _ = unsafe { self.requests.send(owner, peer, tag, start, len, false) };
    }

    /// What a rank has told, and who.
    pub fn hear(&mut self) -> Option<(usize, Vec<u8>)> {
        self.take(Tags::NOTE).or_else(|| self.take(Tags::PARTING))
    }

    /// What a rank has told with a tag, or any, and who.
    fn take(&mut self, tag: c_int) -> Option<(usize, Vec<u8>)> {
        let (peer, tag, bytes) = self.requests.take_unexpected(any_source(), tag).ok()??;
        self.broken |= matches!(tag, Tags::FAREWELL | Tags::HELD);
        match (tag, <[u8; 8]>::try_from(&bytes[..])) {
            (Tags::PARTING, _) => {
                (self.through[peer], self.gone[peer]) = (true, true);
                // One that has ended its calls after a failure, and says so to those that are late, may still receive from others.
                self.passed_on[peer] |= bytes.is_empty();
            }
            (Tags::FAREWELL, Ok(rank)) => {
                if let Some(gone) = self.gone.get_mut(u64::from_ne_bytes(rank) as usize) {
                    *gone = true;
                }
            }
            (Tags::FAREWELL, Err(_)) => self.through[peer] = true,
            (Tags::HELD, _) => self.held[peer] = true,
            _ => (),
        }
        Some((peer, bytes))
    }
}

/// Which way a message goes.
#[derive(Clone, Copy)]
enum Way {
    /// Whether it waits for its receive.
    Send(bool),
    Receive,
}

fn any_source() -> c_int {
    // SAFETY: a constant of MPI, set by the rsmpi support library.
    unsafe { ffi::RSMPI_ANY_SOURCE }
}

fn any_tag() -> c_int {
    // SAFETY: as above.
    unsafe { ffi::RSMPI_ANY_TAG }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_makes_place_and_long_lists_shrink() {
        let mut calls = Vec::new();
        (0..100).for_each(|call| list(&mut calls, call, |_| false));
        assert!(calls.iter().copied().eq(0..100), "all are under way");
        list(&mut calls, 100, |&call| call < 97);
        assert_eq!(calls, [100, 97, 98, 99]);
        list(&mut calls, 101, |&call| call < 98);
        assert_eq!(calls, [100, 101, 98, 99]);
    }
}
