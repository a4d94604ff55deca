//! Messages through MPI: nonblocking point-to-point calls.
//!
//! The first message of a call from one rank to another introduces itself: it begins with the call's number and signature. If it is
//! short, its data is behind them; if it is long, its length is, and its data follows as a message of its own. Only when the receiver has
//! seen that they are those of its own call, and that the length is what it expects, does it start to receive what follows, whose lengths
//! are then known to be right (where ranks know but lengths of their own, nothing follows but that data): no message is ever
//! longer than its receive. (What MPI libraries make of one that is differs. MPICH ends the program; Open MPI 4.1 writes beyond the
//! receive when it copies from process to process.) All tags carry the call's number, as far as there is room.
//!
//! A message of one range is sent from and received into the user's buffer; one of several ranges, and a first one that is short,
//! is packed. Messages that MPI cannot count are split.

use super::requests::{Owner, Requests};
use crate::error::Error;
use crate::executor::board::Board;
use crate::executor::memory::{gather, scatter, total, Span};
use crate::executor::{Stamp, Token, Trouble};
use mpi::ffi;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

type Result<T, E = Error> = std::result::Result<T, E>;

/// Bytes of a call's number and signature.
const HEADER: usize = 16;
/// A bit of the number: the length is behind the header, and the data follows.
const FOLLOWS: u64 = 1 << 63;
/// Bytes up to which a first message has its data behind them. Up to here that copy costs next to nothing.
const SHORT: usize = 2048;
/// The largest tag that every MPI library has.
const LEAST_TAG_BOUND: usize = 32_767;
/// Bytes that MPI counts in one message, at most.
const LARGEST: usize = 1 << 30;
/// How long ranks are waited for that have not said that they are through with a communicator that is broken.
const FAREWELL: Duration = Duration::from_secs(1);
/// After so long a rank says that MPI still uses memory of its user's. Most are through by then.
const HELD: Duration = Duration::from_millis(100);

/// Tests that fail before it is given up.
const MOST_FAILURES: usize = 1000;

/// Which tags messages carry.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Tags {
    /// Numbers that can be told apart.
    numbers: u64,
}

impl Tags {
    /// What ranks tell each other beside their messages; that a call has failed and they are through, or which rank has gone; the last
    /// that one tells that goes while all is well; and that a call has failed and MPI still uses memory of its user's.
    const NOTE: c_int = 0;
    const FAREWELL: c_int = 1;
    const PARTING: c_int = 2;
    const HELD: c_int = 3;
    /// Above them are those of calls.
    const CALLS: c_int = 4;

    fn within(bound: usize) -> Tags {
        Tags { numbers: (bound as u64 - Self::CALLS as u64 - 1) / 2 }
    }

    /// Those of the MPI library, the same on all ranks.
    fn of_mpi() -> Tags {
        let (mut bound, mut told): (*const c_int, c_int) = (std::ptr::null(), 0);
        // SAFETY: a communicator that lives as long as MPI, and valid out parameters; this attribute is the address of an `int`.
        let bound = unsafe {
            let into = (&raw mut bound).cast::<c_void>();
            ffi::PMPI_Comm_get_attr(ffi::RSMPI_COMM_WORLD, ffi::MPI_TAG_UB as c_int, into, &mut told);
            (told != 0).then(|| *bound as usize)
        };
        Tags::within(bound.unwrap_or(LEAST_TAG_BOUND))
    }

    /// The tag of first messages of a call.
    fn first(self, number: u64) -> c_int {
        Self::CALLS + (2 * (number % self.numbers)) as c_int
    }

    /// The tag of what follows them.
    fn later(self, number: u64) -> c_int {
        self.first(number) + 1
    }
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

/// A call's messages from a peer.
struct From {
    stamp: Stamp,
    /// Whether the first has come.
    introduced: bool,
    /// Receives that wait for that.
    held: VecDeque<(Token, Vec<Span>)>,
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
    /// Those whose memory MPI still uses, as they have said, unless they are through.
    held: Vec<bool>,
    /// Whether calls have failed on another rank.
    broken: bool,
    ceased: bool,
}

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
        message.packed.clear();
        at
    }

    /// Starts to send the spans as one message; if `synchronous`, it is complete only when it has met its receive.
    pub fn send(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span], synchronous: bool) -> Result<()> {
        let owner = self.open(Some(token), stamp, peer);
        let oldest = self.oldest;
        let introduced = &mut self.into[peer];
        let first = !introduced.contains(&stamp.number);
        let mut data = true;
        if first {
            introduced.retain(|number| *number >= oldest);
            introduced.push(stamp.number);
            let message = &mut self.messages[owner];
            let bytes = total(spans);
            data = bytes > SHORT;
            message.packed.extend((stamp.number | if data { FOLLOWS } else { 0 }).to_ne_bytes());
            message.packed.extend(stamp.signature.to_ne_bytes());
            if data {
                message.packed.extend((bytes as u64).to_ne_bytes());
            } else {
                gather(spans, &mut message.packed);
            }
            let (start, len) = (message.packed.as_ptr(), message.packed.len());
            message.left += 1;
            // SAFETY: the packed message lives in `messages`, and stays as it is as long as it is under way.
            unsafe { self.requests.send(owner, peer, self.tags.first(stamp.number), start, len, synchronous)? };
        }
        if !data {
            return Ok(());
        }
        // A first message that is packed is behind the header, whose memory may move: its own place.
        let start = match spans {
            [] => std::ptr::NonNull::<u8>::dangling().as_ptr().cast_const(),
            [span] => {
                self.messages[owner].lent = true;
                span.start().cast_const()
            }
            _ if first => {
                let header = self.open_part(owner);
                gather(spans, &mut self.messages[header].packed);
                let start = self.messages[header].packed.as_ptr();
                return self.post(header, Way::Send(synchronous), peer, stamp, start.cast_mut(), total(spans));
            }
            _ => {
                gather(spans, &mut self.messages[owner].packed);
                self.messages[owner].packed.as_ptr()
            }
        };
        self.post(owner, Way::Send(synchronous), peer, stamp, start.cast_mut(), total(spans))
    }

    /// A message that takes over the token of another, which goes before it.
    fn open_part(&mut self, of: Owner) -> Owner {
        let (token, stamp, peer) = (self.messages[of].token.take(), self.messages[of].stamp, self.messages[of].peer);
        self.open(token, stamp.unwrap_or(Stamp { number: 0, signature: 0 }), peer)
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
    pub fn receive(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span]) -> Result<()> {
        let oldest = self.oldest;
        let calls = &mut self.from[peer];
        match calls.iter_mut().find(|call| call.stamp.number == stamp.number) {
            Some(call) if call.introduced => self.receive_data(token, stamp, peer, spans),
            Some(call) => {
                call.held.push_back((token, spans.to_vec()));
                Ok(())
            }
            None => {
                calls.retain(|call| call.stamp.number >= oldest);
                calls.push(From { stamp, introduced: false, held: VecDeque::new() });
                let owner = self.open(Some(token), stamp, peer);
                let message = &mut self.messages[owner];
                message.introduces = true;
                message.spans.extend_from_slice(spans);
                message.packed.resize(HEADER + SHORT, 0);
                message.left = 1;
                let (start, len) = (message.packed.as_mut_ptr(), message.packed.len());
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
                message.packed.resize(bytes, 0);
                message.packed.as_mut_ptr()
            }
        };
        self.post(owner, Way::Receive, peer, stamp, start, bytes)
    }

    /// A first message has come: whether it is complete; otherwise its data follows.
    fn introduce(&mut self, owner: Owner, received: usize) -> Result<bool, Box<Trouble>> {
        let message = &mut self.messages[owner];
        let Message { token: Some(token), stamp: Some(stamp), peer, .. } = *message else { return Ok(true) };
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| message.packed[at + byte]));
        let (number, follows) = (word(0) & !FOLLOWS, word(0) & FOLLOWS != 0);
        let found = Stamp { number, signature: word(8) };
        if received < HEADER || found != stamp {
            return Err(Trouble::stray(stamp, found, peer));
        }
        let (expected, there) = (total(&message.spans), received - HEADER);
        let bytes = if follows { word(HEADER) as usize } else { there };
        if bytes != expected {
            return Err(Trouble::length(stamp, peer, expected, bytes));
        }
        let short = !follows;
        if short {
            scatter(&message.packed[HEADER..received], &message.spans);
        }
        let spans = std::mem::take(&mut message.spans);
        let mut held = VecDeque::new();
        if let Some(call) = self.from[peer].iter_mut().find(|call| call.stamp == stamp) {
            call.introduced = true;
            held = std::mem::take(&mut call.held);
        }
        if !short {
            self.receive_data(token, stamp, peer, &spans)?;
        }
        for (token, spans) in held {
            self.receive_data(token, stamp, peer, &spans)?;
        }
        Ok(short)
    }

    /// Tests what is under way once, and reports what is complete; whether anything is, be it a part of a message. With `all` it is all
    /// or nothing, which is cheaper to find out. Every test makes MPI's own progress once, and yields the core if MPI was told to.
    pub fn advance(&mut self, all: bool, done: &mut Vec<Token>) -> Result<bool, Box<Trouble>> {
        let all = all && self.requests.owners().all(|owner| !self.messages[owner].introduces);
        let completed = self.requests.test(all)?;
        let any = !completed.is_empty();
        for &(owner, received) in &completed {
            let message = &mut self.messages[owner];
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
            (Tags::PARTING, _) => (self.through[peer], self.gone[peer]) = (true, true),
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

    /// Of a communicator that this rank has left: whether all of these have left it as well while all was well, nothing is under way,
    /// and nothing has come that nobody has asked for. Nothing of calls is received.
    pub fn have_left(&mut self, peers: &[usize]) -> bool {
        match self.requests.test(false) {
            Ok(completed) => self.requests.take_back(completed),
            Err(_) => return false,
        }
        while (0..Tags::CALLS).any(|tag| self.take(tag).is_some()) {}
        // What they wait for will not come.
        for peer in 0..self.held.len() {
            if std::mem::take(&mut self.held[peer]) {
                self.part(peer, &[]);
            }
        }
        peers.iter().all(|&peer| self.gone[peer]) && !self.is_spoilt()
    }

    /// These messages, and none in their place.
    pub fn leave(&mut self) -> Messages {
        let none = Messages::on(self.requests.comm(), 0);
        std::mem::replace(self, none)
    }

    /// Nothing of any call goes on. What comes is taken out of the way, and when nobody uses memory of the user's any more, and these
    /// peers have said the same or are gone, this returns. Ranks of the board that are gone are so for the peers, too.
    ///
    /// A receive can be taken back from MPI, a send cannot: it ends when its receiver takes it out of the way, or is known to have
    /// gone. One that goes tells its neighbours, who pass it on. So nobody returns while a send of another rank that is here has not ended;
    /// those that come later are told that this one receives nothing any more. If a send of this rank takes longer than the limit,
    /// the job is ended: memory that MPI uses is not given back.
    pub fn cease(&mut self, peers: &[usize], board: Option<&Board>, limit: Duration) {
        if std::mem::replace(&mut self.ceased, true) {
            return;
        }
        let messages = &self.messages;
        self.requests.cancel(|owner| messages[owner].receives);
        let begun = Instant::now();
        let (mut said, mut asked, mut looked, mut failures) = (false, false, begun, 0);
        let mut passed_on = vec![false; self.gone.len()];
        loop {
            let completed = self.requests.test(false).unwrap_or_else(|error| {
                failures += 1;
                if failures > MOST_FAILURES {
                    // MPI would go on to use memory that is no longer ours.
                    self.requests.abort(&format!("{error}; messages are under way that MPI can no longer test"));
                }
                Vec::new()
            });
            for &(owner, _) in &completed {
                self.messages[owner].left -= 1;
                if self.messages[owner].left == 0 {
                    self.messages[owner].lent = false;
                }
            }
            self.requests.take_back(completed);
            self.take_out_of_the_way();
            if looked.elapsed() > Duration::from_millis(20) {
                looked = Instant::now();
                for (place, &rank) in board.iter().flat_map(|board| board.ranks.iter().enumerate()) {
                    self.gone[rank] |= board.is_some_and(|board| board.line(place).is_gone());
                }
            }
            // Not all ranks have been told by one that goes that it does.
            let news: Vec<usize> = (0..passed_on.len()).filter(|&rank| self.gone[rank] && !passed_on[rank]).collect();
            for gone in news {
                (passed_on[gone], self.through[gone]) = (true, true);
                let others = peers.iter().filter(|&&peer| peer != gone);
                others.for_each(|&peer| self.note(peer, Tags::FAREWELL, &(gone as u64).to_ne_bytes()));
            }
            let waited = begun.elapsed();
            let lent = |owner: &Owner| self.messages[*owner].lent && !self.gone[self.messages[*owner].peer];
            let lent_to = self.requests.owners().find(lent).map(|owner| self.messages[owner].peer);
            match lent_to {
                None if !said => {
                    said = true;
                    peers.iter().for_each(|&peer| self.note(peer, Tags::FAREWELL, &[]));
                }
                Some(_) if !asked && waited > HELD => {
                    asked = true;
                    peers.iter().for_each(|&peer| self.note(peer, Tags::HELD, &[]));
                }
                Some(peer) if waited > limit => self.requests.abort(&format!(
                    "a call has failed; {} s later MPI still uses its buffers, for a message to rank {peer}",
                    waited.as_secs()
                )),
                _ => (),
            }
            let missing = || peers.iter().copied().filter(|&peer| !self.through[peer]);
            let patient = waited <= FAREWELL || waited <= limit && missing().any(|peer| self.held[peer]);
            if said && (missing().next().is_none() || !patient) {
                let late: Vec<usize> = missing().filter(|&peer| !self.receives_from(peer)).collect();
                late.into_iter().for_each(|peer| self.part(peer, &[]));
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Whether anything of a call is being received from a rank.
    fn receives_from(&self, peer: usize) -> bool {
        self.requests.owners().any(|owner| self.messages[owner].receives && self.messages[owner].peer == peer)
    }

    /// Takes what has come: what ranks tell each other, and messages of calls, which are received into memory of ours, if they are long
    /// while other things go on.
    fn take_out_of_the_way(&mut self) {
        while let Ok(Some((peer, tag, bytes))) = self.requests.unexpected(any_source(), any_tag()) {
            if tag < Tags::CALLS {
                self.take(tag);
                continue;
            }
            let owner = self.open(None, Stamp { number: 0, signature: 0 }, peer);
            let message = &mut self.messages[owner];
            message.packed.resize(bytes, 0);
            (message.receives, message.left) = (true, 1);
            let start = message.packed.as_mut_ptr();
            // SAFETY: as in `post`; it has room for the message.
            if unsafe { self.requests.receive(owner, peer, tag, start, bytes) }.is_err() {
                return;
            }
        }
    }

    /// Whether messages of this communicator may still come, which nobody receives: it must not be freed.
    pub fn is_spoilt(&mut self) -> bool {
        self.ceased || self.broken || self.any() || self.requests.is_anything_there()
    }

    /// Leaves what is under way to MPI, with its memory.
    pub fn abandon(&mut self) {
        std::mem::forget(std::mem::take(&mut self.messages));
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

    /// The least bound of MPI, those of MPICH over some networks, and that of Open MPI.
    #[test]
    fn tags_are_in_bounds_and_tell_calls_apart() {
        for bound in [LEAST_TAG_BOUND, (1 << 19) - 1, (1 << 20) - 1, (1 << 28) - 1, c_int::MAX as usize] {
            let tags = Tags::within(bound);
            let last = tags.numbers - 1;
            for number in [0, 1, last, last + 1, u64::MAX] {
                let both = [tags.first(number), tags.later(number)];
                assert!(both.iter().all(|tag| (4..=bound as i64).contains(&i64::from(*tag))), "{bound}: {both:?}");
            }
            let near: std::collections::HashSet<c_int> =
                (last - 5000..last + 5000).flat_map(|number| [tags.first(number), tags.later(number)]).collect();
            assert_eq!(near.len(), 20_000);
        }
    }
}
