//! From messages to operations, in a prefix sum: a rank has two values at a position.
//!
//! The *total* is what it sends; it begins with the rank's own contribution. The *prefix* is what it ends with; it begins with the rank's
//! own contribution, too, if that is part of the result. A message says what its values become part of ([`PartOf`]).
//!
//! As long as the two are the same, they are one value in one place. A total that nobody will be sent any more is forgotten, so that
//! nothing is computed or copied for it.

use super::fold::{Message, Messages};
use super::held::Held;
use super::place::{append, arriving, Placer};
use super::route::PartOf;
use super::{BufferRange, Side};
use crate::collective::Buffer;
use std::ops::Range;

/// Where a run of a received message goes.
pub(super) struct Arrival {
    start: usize,
    end: usize,
    /// What it is combined with, where it becomes part of it.
    total: Option<BufferRange>,
    /// The same; `Some(None)` where it is the first part of the prefix.
    prefix: Option<Option<BufferRange>>,
    /// Whether total and prefix stay one value.
    same: bool,
    /// Whether the total has to stay as it is, as it is the user's, or also the prefix, which does not change alike.
    total_stays: bool,
    /// Whether what arrives takes the place of the prefix, which has none yet, or has to stay as it is.
    replaces: bool,
    /// Where it arrives.
    place: BufferRange,
}

impl Placer<'_> {
    /// Begins a prefix sum, given the positions that will be sent.
    pub(super) fn two_values<'r>(&mut self, sent: impl Iterator<Item = &'r Range<usize>>) {
        let mut total = Held::default();
        for piece in sent {
            let mut at = piece.start;
            while at < piece.end {
                let (range, end) = held(&self.held, at, piece.end);
                range.into_iter().for_each(|range| total.insert(at, end, range.buffer, range.offset));
                at = end;
            }
        }
        self.sends = total.next(0).is_some() || total.at(0, 1).is_some();
        let own = std::mem::replace(&mut self.held, total);
        let ends = self.call.contributors(self.rank).contains(&self.rank);
        self.prefix = Some(if ends { own } else { Held::default() });
    }

    /// Receives parts of the two values.
    pub(super) fn receive_part(&mut self, message: &Message, messages: &Messages) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for piece in messages.pieces(message) {
            let mut at = piece.start;
            while at < piece.end {
                let arrival = self.arrival(at, piece.end, message.part_of);
                at = arrival.end;
                arrivals.push(arrival);
            }
        }
        let in_scratch = |arrival: &&mut Arrival| arrival.place.buffer == Buffer::Scratch;
        let passing = arrivals.iter_mut().filter(in_scratch).map(|arrival| arrival.place.len).sum();
        let mut free = self.scratch.allocate(passing, message.round);
        for arrival in arrivals.iter_mut().filter(in_scratch) {
            arrival.place.offset = free;
            free += arrival.place.len;
        }
        self.ranges.clear();
        arrivals.iter().for_each(|arrival| append(&mut self.ranges, arrival.place));
        self.builder.receive(message.round, message.peer, &self.ranges);
        arrivals.drain(..).for_each(|arrival| self.arrived(arrival, message));
        self.arrivals = arrivals;
    }

    /// What becomes of the values of a message from position `at` on, as far as it is the same for all.
    fn arrival(&mut self, at: usize, end: usize, part_of: PartOf) -> Arrival {
        let (home, run) = self.home(at);
        let (total, end) = held(&self.held, at, end.min(run));
        let (prefix, end) = held(self.prefix.as_ref().unwrap_or(&self.held), at, end);
        let [total, prefix] = [total, prefix].map(|range| range.map(|range| BufferRange { len: end - at, ..range }));
        let one = total.is_some() && total == prefix;
        let same = one && part_of == PartOf::Both;
        let is_user_s = |range: Option<BufferRange>| range.is_some_and(|range| range.buffer == Buffer::Send);
        let (of_total, of_prefix) = (part_of != PartOf::Prefix && !same, part_of != PartOf::Total);
        let prefix_stays = is_user_s(prefix) || one && !same;
        let replaces = of_prefix && (prefix.is_none() || prefix_stays);
        // The prefix's own place may be that of the total, or of what has only just been sent.
        let sent = prefix.is_none() && self.call.in_place && self.sends;
        let taken = !same && (sent || total.is_some_and(|total| total.buffer == Buffer::Receive));
        let place = arriving(home.filter(|_| replaces && !taken), end - at);
        Arrival {
            start: at,
            end,
            total: total.filter(|_| of_total),
            prefix: of_prefix.then_some(prefix),
            same,
            total_stays: is_user_s(total) || one,
            replaces,
            place,
        }
    }

    /// Combines what has arrived with the two values.
    fn arrived(&mut self, arrival: Arrival, message: &Message) {
        let Arrival { start, end, total, prefix, same, total_stays, replaces, place } = arrival;
        let lower = message.partner < self.rank;
        let (arrives, stays) = if lower { (Side::Left, Side::Right) } else { (Side::Right, Side::Left) };
        let round = message.round;
        let mut arrived = Some(place);
        if let Some(total) = total.filter(|_| !total_stays) {
            self.builder.combine(round, place, total, arrives);
        }
        if let Some(total) = total.filter(|_| total_stays && replaces) {
            // Both begin with what arrives, the total in a copy of its own, which is made while that is under way.
            let copy = BufferRange {
                buffer: Buffer::Scratch,
                offset: self.scratch.allocate(place.len, round),
                len: place.len,
            };
            self.builder.copy(round, total, copy);
            self.builder.combine(round, place, copy, arrives);
            self.held.insert(start, end, copy.buffer, copy.offset);
        }
        match prefix {
            Some(own) if replaces => {
                if let Some(own) = own {
                    self.builder.combine(round, own, place, stays);
                }
                let values = self.prefix.iter_mut().chain(same.then_some(&mut self.held));
                values.for_each(|value| value.insert(start, end, place.buffer, place.offset));
                arrived = None;
            }
            Some(Some(own)) => self.builder.combine(round, place, own, arrives),
            _ => {}
        }
        if let Some(total) = total.filter(|_| total_stays && !replaces) {
            self.builder.combine(round, total, place, stays);
            self.held.insert(start, end, place.buffer, place.offset);
            arrived = None;
        }
        if let Some(passed) = arrived {
            self.scratch.free(passed.offset, passed.len, round);
        }
    }
}

/// Where a value lies from a position on, if it is there at all, and how far that holds.
fn held(value: &Held, at: usize, limit: usize) -> (Option<BufferRange>, usize) {
    match value.at(at, limit) {
        Some((end, buffer, offset)) => (Some(BufferRange { buffer, offset, len: end - at }), end),
        None => (None, value.next(at).map_or(limit, |next| next.min(limit))),
    }
}
