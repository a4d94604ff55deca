//! Messages between ranks of one host, through memory that they share.
//!
//! Every two ranks have a row of [`Envelopes`] and a [`Pipe`] in each direction. A short message is in its envelope, or a box; the bytes of others go
//! through the pipe, and what finds no room there waits in the sender's queue, and goes on whenever that rank waits for anything. For a
//! long message, if ranks may read each other's memory and that is sooner, the envelope says where its bytes are: the receiver copies them
//! itself, once, and only then is it sent; if it cannot, that message and all later ones come through the pipe.
//!
//! Messages arrive in the order in which they were sent, whatever call they are of. What is of a call that this rank has not come to
//! is put aside, if it is in the way of one that is waited for.
//!
//! Memory: the pipes to a rank have 512 KiB together, to the next power of two a pipe, on hosts of 8 to 128 ranks; beyond, 4
//! KiB a pair of ranks; and for the rest 2.3 KiB a pair, and 8 for messages that find no room in an envelope. It is taken only by pairs that
//! talk.

use super::envelopes::{Envelopes, SHORT};
use super::host::Host;
use super::pipe::Pipe;
use super::transfers::{Incoming, Outgoing, Receiving, Sending};
use crate::executor::board::Board;
use crate::executor::memory::{scatter, total, Span};
use crate::executor::{pipe, Stamp, Token, Trouble, SINGLE_COPY_FROM};
use memmap2::MmapRaw;
use std::collections::VecDeque;
use std::ptr::NonNull;

type Result<T, E> = std::result::Result<T, E>;

/// Bytes of a page, on which what a pair of ranks shares begins: pages that nobody touches are not there.
const PAGE: usize = 4096;

/// The pipes of one rank, and what is under way in them.
pub(super) struct SharedMemory {
    peers: Vec<Peer>,
    /// For each rank of the communicator, its place in `peers`.
    places: Vec<Option<usize>>,
    /// The places of peers with something under way.
    busy: Vec<usize>,
    /// What was complete as soon as it had started.
    done: Vec<Token>,
    /// What was found wrong as soon as it had started.
    trouble: Option<Box<Trouble>>,
    /// Lists of spans to use again.
    spare: Vec<Vec<Span>>,
    copies: Copies,
    /// Calls before this one are over.
    oldest: u64,
}

/// Which messages are copied once, by their receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Copies {
    /// None.
    Two,
    /// All long ones, as the user says.
    Single,
    /// Those of so many bytes, for which that is sooner.
    Sooner(usize),
}

impl Copies {
    /// Bytes of the shortest.
    fn single_from(self) -> usize {
        match self {
            Copies::Two => usize::MAX,
            Copies::Single => SINGLE_COPY_FROM,
            Copies::Sooner(bytes) => bytes,
        }
    }

    /// Those of so many bytes are copied once; unless the user or the system has something against it.
    fn once_from(&mut self, bytes: usize) {
        if let Copies::Sooner(from) = self {
            *from = bytes;
        }
    }
}

struct Peer {
    rank: usize,
    process: u64,
    /// What goes there, and what comes from there.
    there: Outgoing,
    here: Incoming,
    /// What is under way, in the order of starting.
    sends: VecDeque<(Token, Vec<Span>, Sending)>,
    receives: VecDeque<(Token, Stamp, Vec<Span>)>,
    /// The message that is being received.
    current: Option<(Receiving, Target)>,
    /// Messages of calls that this rank has not come to, which were in the way of others.
    aside: VecDeque<(Stamp, Vec<u8>)>,
    busy: bool,
    /// Which way the message goes that was started last.
    last: Option<Direction>,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    There,
    Here,
}

/// Where a message goes.
enum Target {
    Receive(Token, Vec<Span>),
    Aside(Stamp, Vec<u8>),
}

impl Peer {
    /// Where its pipes are: elsewhere whenever bytes have moved.
    fn positions(&self) -> (u64, u64) {
        (self.there.pipe.position(), self.here.pipe.position())
    }

    /// Finds out where a message goes that is not for the first receive.
    #[cold]
    fn divert(&mut self, receiving: Receiving, oldest: u64) -> Result<(), Box<Trouble>> {
        let message = receiving.message();
        if let Some(at) = self.receives.iter().position(|(_, stamp, _)| message.is_of(*stamp)) {
            let Some((token, stamp, spans)) = self.receives.remove(at) else { return Ok(()) };
            // Ranks may agree on all else and differ in this, where each knows but lengths of its own. Nothing is written.
            if total(&spans) as u64 != message.bytes {
                return Err(Trouble::length(stamp, self.rank, total(&spans), message.bytes as usize));
            }
            self.current = Some((receiving, Target::Receive(token, spans)));
            return Ok(());
        }
        let Some((_, expected, _)) = self.receives.front() else { return Ok(()) };
        let found = message.stamp(expected.number);
        let same_number = self.receives.iter().find(|(_, stamp, _)| stamp.number == found.number);
        if same_number.is_some() || found.number < oldest {
            let expected = same_number.map_or(*expected, |(_, stamp, _)| *stamp);
            return Err(Trouble::stray(expected.number.min(found.number), self.rank));
        }
        let bytes = vec![0; message.bytes as usize];
        self.current = Some((receiving, Target::Aside(found, bytes)));
        Ok(())
    }

    /// Receives what is there; the receive that is complete.
    #[inline]
    fn receive(&mut self, oldest: u64) -> Result<Option<(Token, Vec<Span>)>, Box<Trouble>> {
        if self.current.is_none() {
            let Some((_, stamp, spans)) = self.receives.front() else { return Ok(None) };
            let bytes = total(spans);
            let Some(mut receiving) = Receiving::next(&mut self.here, bytes) else { return Ok(None) };
            if receiving.message().is_of(*stamp) && receiving.message().bytes == bytes as u64 {
                let is_complete = receiving.advance(&mut self.here, self.process, spans);
                let first = self.receives.pop_front().map(|(token, _, spans)| (token, spans));
                if is_complete {
                    return Ok(first);
                }
                self.current = first.map(|(token, spans)| (receiving, Target::Receive(token, spans)));
                return Ok(None);
            }
            self.divert(receiving, oldest)?;
        }
        self.go_on(oldest)
    }

    /// The same for a message that has been begun.
    fn go_on(&mut self, oldest: u64) -> Result<Option<(Token, Vec<Span>)>, Box<Trouble>> {
        let Some((receiving, target)) = &mut self.current else { return Ok(None) };
        let is_complete = match target {
            Target::Receive(_, spans) => receiving.advance(&mut self.here, self.process, spans),
            Target::Aside(_, bytes) => {
                // SAFETY: the bytes are ours, and stay where they are while they are received.
                let span = unsafe { Span::new(bytes.as_mut_ptr(), bytes.len()) };
                receiving.advance(&mut self.here, self.process, &[span])
            }
        };
        if !is_complete {
            return Ok(None);
        }
        match self.current.take() {
            Some((_, Target::Receive(token, spans))) => Ok(Some((token, spans))),
            Some((_, Target::Aside(stamp, bytes))) => {
                self.aside.push_back((stamp, bytes));
                self.take_aside(oldest)
            }
            None => Ok(None),
        }
    }

    /// The first receive whose message was put aside is complete.
    fn take_aside(&mut self, oldest: u64) -> Result<Option<(Token, Vec<Span>)>, Box<Trouble>> {
        for at in 0..self.receives.len() {
            let (_, expected, _) = self.receives[at];
            if let Some(found) = self.aside.iter().position(|(stamp, _)| *stamp == expected) {
                let (Some((_, bytes)), Some((token, _, spans))) = (self.aside.remove(found), self.receives.remove(at))
                else {
                    return Ok(None);
                };
                if bytes.len() != total(&spans) {
                    return Err(Trouble::length(expected, self.rank, total(&spans), bytes.len()));
                }
                scatter(&bytes, &spans);
                return Ok(Some((token, spans)));
            }
            let other = |stamp: &Stamp| stamp.number == expected.number || stamp.number < oldest;
            if let Some(&(found, _)) = self.aside.iter().find(|(stamp, _)| other(stamp)) {
                return Err(Trouble::stray(expected.number.min(found.number), self.rank));
            }
        }
        Ok(None)
    }
}

/// What the ranks of a host share: a board, and ways between every two of them.
pub(super) struct Layout {
    ranks: usize,
    /// Bytes of a pipe, or 0 if there is only a board.
    capacity: usize,
}

impl Layout {
    pub fn of(ranks: usize, ways: bool) -> Layout {
        Layout { ranks, capacity: if ways { pipe(ranks) } else { 0 } }
    }

    /// Bytes in all. Memory is there only where somebody has written.
    pub fn bytes(&self) -> usize {
        if self.capacity == 0 {
            return self.board();
        }
        self.long_from() + self.ranks * self.ranks * self.long()
    }

    fn board(&self) -> usize {
        Board::size(self.ranks).next_multiple_of(PAGE)
    }

    /// Where those for messages that do not fit into an envelope begin.
    fn long_from(&self) -> usize {
        (self.board() + self.ranks * self.ranks * Envelopes::SIZE).next_multiple_of(PAGE)
    }

    /// Bytes for messages that do not fit into an envelope, of one rank to another.
    fn long(&self) -> usize {
        (Envelopes::BOXES + Pipe::size(self.capacity)).next_multiple_of(PAGE)
    }

    /// Where the envelopes, their boxes and the pipe from one rank into another are. Envelopes lie side by side, those into a rank together,
    /// since most pairs use no more; boxes and a pipe have pages of their own.
    fn way(&self, from: usize, into: usize) -> [usize; 3] {
        let pair = into * self.ranks + from;
        let envelopes = self.board() + pair * Envelopes::SIZE;
        let boxes = self.long_from() + pair * self.long();
        [envelopes, boxes, boxes + Envelopes::BOXES]
    }
}

impl SharedMemory {
    /// The ways between the ranks of a host, through memory of that layout. `size` is that of the whole communicator.
    pub fn between(
        host: &Host,
        size: usize,
        (memory, board): (&MmapRaw, &Board),
        layout: &Layout,
        copies: Copies,
    ) -> SharedMemory {
        let way = |from: usize, into: usize| {
            let way = layout.way(from, into);
            // SAFETY: envelopes, boxes and pipe lie inside the mapping, which is page-aligned, was zeros, and lives as long as the peers; the
            // ranks of the host use one end each, as all name their ways by the same places.
            unsafe {
                let start = NonNull::new_unchecked(memory.as_mut_ptr());
                let [envelopes, boxes, pipe] = way.map(|offset| start.add(offset));
                (Envelopes::at(envelopes, boxes), Pipe::at(pipe, layout.capacity))
            }
        };
        let there = |(envelopes, pipe): (Envelopes, Pipe)| Outgoing {
            envelopes: envelopes.writer(),
            pipe: pipe.inlet(),
            single_copy_from: copies.single_from(),
            refused: false,
        };
        let here = |(envelopes, pipe): (Envelopes, Pipe)| Incoming {
            envelopes: envelopes.reader(),
            pipe: pipe.outlet(),
            board: board.clone(),
        };
        let mut places = vec![None; size];
        let peers: Vec<Peer> = (0..host.ranks.len())
            .filter(|&place| place != host.place)
            .map(|place| Peer {
                rank: host.ranks[place],
                process: host.processes[place],
                there: there(way(host.place, place)),
                here: here(way(place, host.place)),
                sends: VecDeque::new(),
                receives: VecDeque::new(),
                current: None,
                aside: VecDeque::new(),
                busy: false,
                last: None,
            })
            .collect();
        peers.iter().enumerate().for_each(|(place, peer)| places[peer.rank] = Some(place));
        let (busy, done, spare) = (Vec::new(), Vec::new(), Vec::new());
        SharedMemory { peers, places, busy, done, trouble: None, spare, copies, oldest: 0 }
    }

    /// The number of ranks that share it.
    pub fn ranks(&self) -> usize {
        self.peers.len() + 1
    }

    /// How messages travel, in words.
    pub fn ways(&self) -> String {
        match self.copies.single_from() {
            usize::MAX => "shared memory, by two copies".into(),
            bytes => format!("shared memory, messages of {} KiB and more by a single copy", bytes >> 10),
        }
    }

    /// From the next message on, those of so many bytes are copied once, if that may be; from how many on they are.
    pub fn set_single_copy_from(&mut self, bytes: usize) -> usize {
        self.copies.once_from(bytes);
        let from = self.copies.single_from();
        self.peers.iter_mut().for_each(|peer| peer.there.single_copy_from = from);
        from
    }

    /// The place of a rank that shares memory with this one.
    pub fn place(&self, rank: usize) -> Option<usize> {
        self.places[rank]
    }

    /// Calls before this one are over.
    pub fn forget_before(&mut self, oldest: u64) {
        self.oldest = oldest;
    }

    /// Starts to send the spans to a peer; if `synchronous`, the send is complete when the message has been received. Whether that is
    /// complete at once.
    pub fn send(&mut self, token: Token, stamp: Stamp, to: usize, spans: &[Span], synchronous: bool) -> bool {
        let peer = &mut self.peers[to];
        peer.there.envelopes.in_a_row = peer.last.replace(Direction::There) == Some(Direction::There);
        let mut sending = Sending::new(stamp, total(spans), synchronous);
        if peer.sends.is_empty() && sending.advance(&mut peer.there, spans) {
            return true;
        }
        let mut list = self.spare.pop().unwrap_or_default();
        list.extend_from_slice(spans);
        self.peers[to].sends.push_back((token, list, sending));
        self.note(to);
        false
    }

    /// Starts to receive the spans from a peer; whether that is complete at once, or within so many looks if nothing else is under way: to put
    /// away what comes in a moment takes as long as the message.
    pub fn receive(&mut self, token: Token, stamp: Stamp, from: usize, spans: &[Span], looks: u32) -> bool {
        let looks = if self.busy.is_empty() { looks } else { 1 };
        let peer = &mut self.peers[from];
        peer.here.envelopes.in_a_row = peer.last.replace(Direction::Here) == Some(Direction::Here);
        // To copy a long one now would hold up sends that may start.
        let bytes = total(spans);
        if bytes <= SHORT && peer.receives.is_empty() && peer.current.is_none() && peer.aside.is_empty() {
            let look = |nth| {
                if nth > 0 {
                    std::hint::spin_loop();
                }
                Receiving::next(&mut peer.here, bytes)
            };
            if let Some(mut receiving) = (0..looks).find_map(look) {
                if receiving.message().is_of(stamp) && receiving.message().bytes == bytes as u64 {
                    receiving.advance(&mut peer.here, peer.process, spans);
                    return true;
                }
            }
        }
        let mut list = self.spare.pop().unwrap_or_default();
        list.extend_from_slice(spans);
        peer.receives.push_back((token, stamp, list));
        if !peer.aside.is_empty() {
            match peer.take_aside(self.oldest) {
                Ok(Some((token, spans))) => {
                    self.done.push(token);
                    self.spare.push(emptied(spans));
                }
                Ok(None) => (),
                Err(trouble) => self.trouble = Some(trouble),
            }
        }
        self.note(from);
        false
    }

    fn note(&mut self, place: usize) {
        if !std::mem::replace(&mut self.peers[place].busy, true) {
            self.busy.push(place);
        }
    }

    /// Moves on what can move, without waiting, and reports what is complete: besides what was as soon as it started, at most one
    /// message from and to each peer, so that it can be passed on at once. Whether any bytes have moved through a pipe.
    pub fn advance(&mut self, done: &mut Vec<Token>) -> Result<bool, Box<Trouble>> {
        done.append(&mut self.done);
        if let Some(trouble) = self.trouble.take() {
            return Err(trouble);
        }
        let (mut index, mut moved) = (0, false);
        while let Some(&place) = self.busy.get(index) {
            let peer = &mut self.peers[place];
            let before = peer.positions();
            if let Some((token, spans, sending)) = peer.sends.front_mut() {
                if sending.advance(&mut peer.there, spans) {
                    done.push(*token);
                    self.spare.extend(peer.sends.pop_front().map(|(_, spans, _)| emptied(spans)));
                }
            }
            if let Some((token, spans)) = peer.receive(self.oldest)? {
                done.push(token);
                self.spare.push(emptied(spans));
            }
            moved |= peer.positions() != before;
            peer.busy = !peer.sends.is_empty() || !peer.receives.is_empty() || peer.current.is_some();
            if peer.busy {
                index += 1;
            } else {
                self.busy.swap_remove(index);
            }
        }
        Ok(moved)
    }

    /// The ranks with which something is under way.
    pub fn under_way(&self) -> impl Iterator<Item = usize> + '_ {
        self.busy.iter().map(|&place| self.peers[place].rank)
    }

    /// Lets go of all that is under way.
    pub fn cease(&mut self) {
        for place in self.busy.drain(..) {
            let peer = &mut self.peers[place];
            peer.sends.clear();
            peer.receives.clear();
            peer.current = None;
            peer.busy = false;
        }
        self.done.clear();
    }
}

fn emptied(mut spans: Vec<Span>) -> Vec<Span> {
    spans.clear();
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What 512 ranks of a host need if every rank talks to those that are neighbours on the cube, and if it talks to all.
    #[test]
    fn memory_grows_with_the_pairs_that_talk() {
        let layout = Layout::of(512, true);
        let pages = |offset: usize, bytes: usize| offset / PAGE..(offset + bytes).div_ceil(PAGE);
        let mut touched = std::collections::HashSet::new();
        touched.extend(pages(0, Board::size(512)));
        for into in 0..512usize {
            for from in (0..9).map(|port| into ^ 1 << port) {
                let [envelopes, boxes, pipe] = layout.way(from, into);
                touched.extend(pages(envelopes, Envelopes::SIZE));
                touched.extend(pages(boxes, Envelopes::BOXES));
                touched.extend(pages(pipe, Pipe::size(layout.capacity)));
            }
        }
        assert!(touched.len() * PAGE < 128 << 20, "{} MiB", (touched.len() * PAGE) >> 20);
    }

    #[test]
    fn nothing_lies_on_anything_else() {
        for ranks in [1, 2, 3, 7, 8, 9, 17] {
            let layout = Layout::of(ranks, true);
            let mut parts = vec![(0, Board::size(ranks))];
            for (from, into) in (0..ranks).flat_map(|from| (0..ranks).map(move |into| (from, into))) {
                let [envelopes, boxes, pipe] = layout.way(from, into);
                assert!(envelopes % 128 == 0 && boxes % PAGE == 0 && pipe % 128 == 0);
                parts.push((envelopes, envelopes + Envelopes::SIZE));
                parts.push((boxes, boxes + Envelopes::BOXES));
                parts.push((pipe, pipe + Pipe::size(layout.capacity)));
            }
            parts.sort_unstable();
            assert!(parts.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{ranks} ranks");
            assert!(parts.last().is_some_and(|last| last.1 <= layout.bytes()), "{ranks} ranks");
        }
    }
}
