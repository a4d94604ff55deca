//! From messages to operations: finds the buffer of every interval.
//!
//! Data that ends on the rank is received where it belongs, data on its way in scratch memory, and what the rank holds
//! from the start is sent from where it lies, so nothing is copied but a rank's own block. A relay keeps only what passes
//! through it: scratch memory, once there is more than a little of it, is free again in the round after the one that sends it
//! on (not in the same round, in which a receive would have to wait for a send whose partner waits in the same way).
//!
//! Reductions combine in this order: what arrives from a lower rank is the left operand, from a higher rank the right one. Prefix sums,
//! in which a rank has two values at a position, are in [`super::prefix`].

use super::fold::{Message, Messages};
use super::{BufferRange, Builder, Multiplication, Schedule, Side};
use crate::collective::{Buffer, Call};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The schedule of `rank` that carries out `messages`.
///
/// # Panics
/// If a message sends what the rank does not hold: a fault of the algorithm, not of the call.
pub fn place(call: &Call, rank: usize, messages: &Messages) -> Schedule {
    let mut placer = Placer {
        call,
        rank,
        builder: Builder::new(),
        held: Held::default(),
        prefix: None,
        sends: false,
        scratch: Scratch { lag: if messages.flows() { FLOWING_LAG } else { 0 }, ..Scratch::default() },
        targets: Vec::new(),
        passing: HashMap::new(),
        whole: (!messages.multiplications().is_empty()).then(HashMap::new),
    };
    for placement in call.initial(rank) {
        placer.held.insert(placement.space.start, placement.space.end, placement.buffer, placement.offset);
    }
    let mut copied = call.collective.reduces();
    let relays = call.collective.relays_copies() || call.collective.is_prefix() || call.collective.multiplies();
    let last_uses = relays.then(|| last_uses(messages, call.collective.multiplies()));
    if call.collective.is_prefix() {
        placer.two_values(last_uses.iter().flatten().flatten());
    }
    let mut last_uses = last_uses.map(Vec::into_iter);
    let mut multiplications = messages.multiplications().iter().peekable();
    for round in messages.list().chunk_by(|a, b| a.round == b.round) {
        let at = round[0].round;
        // What comes before the round's messages takes what is held before them, but is done when they are under way.
        let products: Vec<_> = std::iter::from_fn(|| multiplications.next_if(|m| m.round <= at)).collect();
        let products: Vec<_> = products.into_iter().map(|product| (product, placer.operands(product))).collect();
        let mut part = 0;
        for message in round {
            if message.part != part {
                placer.builder.step();
                part = message.part;
            }
            let last_use = last_uses.as_mut().and_then(Iterator::next);
            match (message.through, message.sends, message.combines) {
                (Some(id), ..) => placer.pass(id, message, messages),
                (None, true, _) => placer.send(message, messages, last_use),
                (None, false, _) if placer.prefix.is_some() => placer.receive_part(message, messages),
                (None, false, false) => placer.receive(message, messages),
                (None, false, true) => placer.receive_and_combine(message, messages),
            }
        }
        products.into_iter().for_each(|(product, operands)| placer.multiply(product, operands));
        if !copied {
            // Once the first messages are under way there is time for the rank's own block.
            placer.copy_kept(at);
            copied = true;
        }
    }
    for product in multiplications {
        let operands = placer.operands(product);
        placer.multiply(product, operands);
    }
    if call.collective.reduces() || !copied {
        placer.copy_kept(messages.list().last().map_or(0, |m| m.round));
    }
    placer.builder.finish(rank, call.size, placer.scratch.top)
}

/// For each message the positions that no later message sends, and no later product takes: what a send is the last to need.
/// `returns`: what a rank has sent may come back to it, as the blocks of a product do; it need not be kept till then.
fn last_uses(messages: &Messages, returns: bool) -> Vec<Vec<Range<usize>>> {
    let mut later = Held::default();
    let mut products = messages.multiplications().iter().rev().peekable();
    let mut uses: Vec<_> = messages
        .list()
        .iter()
        .rev()
        .map(|message| {
            // The products of a round are computed with what is held before its messages.
            while let Some(product) = products.next_if(|product| product.round > message.round) {
                for operand in [&product.a, &product.b] {
                    later.insert(operand.start, operand.end, Buffer::Scratch, 0);
                }
            }
            if returns && !message.sends && message.through.is_none() {
                messages.pieces(message).iter().for_each(|piece| later.remove(piece.start, piece.end));
            }
            let mut last = Vec::new();
            for piece in messages.pieces(message).iter().filter(|_| message.sends && message.through.is_none()) {
                let mut at = piece.start;
                while at < piece.end {
                    match later.at(at, piece.end) {
                        Some((end, ..)) => at = end,
                        None => {
                            let end = later.next(at).map_or(piece.end, |next| next.min(piece.end));
                            last.push(at..end);
                            at = end;
                        }
                    }
                }
                later.insert(piece.start, piece.end, Buffer::Scratch, 0);
            }
            last
        })
        .collect();
    uses.reverse();
    uses
}

pub(super) struct Placer<'c> {
    pub(super) call: &'c Call,
    pub(super) rank: usize,
    pub(super) builder: Builder,
    /// What the rank can send.
    pub(super) held: Held,
    /// In a prefix sum: what it ends with; `held` is then what it has still to send.
    pub(super) prefix: Option<Held>,
    /// In a prefix sum: whether it sends anything.
    pub(super) sends: bool,
    pub(super) scratch: Scratch,
    targets: Vec<Target>,
    /// What passes through and has arrived, by its number.
    passing: HashMap<usize, BufferRange>,
    /// Where products need matrices in one piece: for a message that is cut into packets, by round and peer, where in scratch
    /// memory the next packet goes.
    whole: Option<HashMap<(usize, usize), usize>>,
}

/// Where a run of a received message goes.
struct Target {
    space: (usize, usize),
    /// In the receive buffer; `None`: scratch memory.
    home: Option<usize>,
    /// The rank's own contribution or partial result, to be combined with.
    own: Option<(Buffer, usize)>,
}

impl Placer<'_> {
    /// `last_use`: the positions that nothing later sends; `None`: all of the message's.
    fn send(&mut self, message: &Message, messages: &Messages, last_use: Option<Vec<Range<usize>>>) {
        let mut ranges = Vec::new();
        let mut done = Vec::new();
        for piece in messages.pieces(message) {
            let mut at = piece.start;
            while at < piece.end {
                let found = self.held.at(at, piece.end);
                let Some((end, buffer, offset)) = found else {
                    panic!(
                        "rank {} sends {at}..{} in round {}, which it does not hold",
                        self.rank, piece.end, message.round
                    )
                };
                append(&mut ranges, BufferRange { buffer, offset, len: end - at });
                // Of a prefix sum, what is not sent again need not be kept apart from the result, wherever it lies.
                if buffer == Buffer::Scratch || self.prefix.is_some() {
                    match &last_use {
                        None => done.push((at..end, buffer, offset)),
                        Some(last) => done.extend(last.iter().filter_map(|part| {
                            let part = part.start.max(at)..part.end.min(end);
                            (part.start < part.end).then(|| (part.clone(), buffer, offset + part.start - at))
                        })),
                    }
                }
                at = end;
            }
        }
        for (part, buffer, offset) in done {
            self.held.remove(part.start, part.end);
            if buffer == Buffer::Scratch {
                self.scratch.free(offset, part.len(), message.round);
            }
        }
        self.builder.send(message.round, message.peer, &ranges);
    }

    /// Receives what passes through, or sends it on.
    fn pass(&mut self, id: usize, message: &Message, messages: &Messages) {
        if message.sends {
            let range = self.passing.remove(&id);
            self.builder.send(message.round, message.peer, range.as_slice());
            if let Some(range) = range {
                self.scratch.free(range.offset, range.len, message.round);
            }
            return;
        }
        let len = messages.pieces(message).iter().map(Range::len).sum();
        if len == 0 {
            self.builder.receive(message.round, message.peer, &[]);
            return;
        }
        let range = BufferRange { buffer: Buffer::Scratch, offset: self.scratch.allocate(len, message.round), len };
        self.builder.receive(message.round, message.peer, &[range]);
        self.passing.insert(id, range);
    }

    fn receive(&mut self, message: &Message, messages: &Messages) {
        for piece in messages.pieces(message) {
            let mut at = piece.start;
            while at < piece.end {
                let (home, run) = self.call.home(self.rank, at);
                let end = piece.end.min(at + run);
                self.targets.push(Target { space: (at, end), home, own: None });
                at = end;
            }
        }
        self.receive_targets(message, messages);
    }

    fn receive_and_combine(&mut self, message: &Message, messages: &Messages) {
        for piece in messages.pieces(message) {
            let mut at = piece.start;
            while at < piece.end {
                let (home, run) = self.call.home(self.rank, at);
                let mut end = piece.end.min(at + run);
                let mut own = None;
                if let Some((held_end, buffer, offset)) = self.held.at(at, end) {
                    end = held_end;
                    own = Some((buffer, offset));
                }
                // The user's data stays as it is: the result begins with what arrives. A partial result of the rank's
                // own is added to in place, and what arrives passes through scratch memory.
                let home = home.filter(|_| own.is_none_or(|(buffer, _)| buffer == Buffer::Send));
                self.targets.push(Target { space: (at, end), home, own });
                at = end;
            }
        }
        self.receive_targets(message, messages);
    }

    /// Receives into the targets and combines them with what the rank has.
    fn receive_targets(&mut self, message: &Message, messages: &Messages) {
        let targets = std::mem::take(&mut self.targets);
        let len = |t: &Target| t.space.1 - t.space.0;
        let passing: usize = targets.iter().filter(|t| t.home.is_none()).map(len).sum();
        let mut free = match &mut self.whole {
            None => self.scratch.allocate(passing, message.round),
            Some(whole) => {
                let scratch = &mut self.scratch;
                let all = || scratch.allocate(messages.uncut(message), message.round);
                let next = whole.entry((message.round, message.peer)).or_insert_with(all);
                *next += passing;
                *next - passing
            }
        };
        let mut ranges = Vec::new();
        let mut arrived = Vec::new();
        for target in &targets {
            let range = match target.home {
                Some(offset) => BufferRange { buffer: Buffer::Receive, offset, len: len(target) },
                None => {
                    free += len(target);
                    BufferRange { buffer: Buffer::Scratch, offset: free - len(target), len: len(target) }
                }
            };
            append(&mut ranges, range);
            arrived.push(range);
        }
        self.builder.receive(message.round, message.peer, &ranges);
        for (target, range) in targets.iter().zip(arrived) {
            let (start, end) = target.space;
            let own = target.own.map(|(buffer, offset)| BufferRange { buffer, offset, len: range.len });
            match own {
                None => self.held.insert(start, end, range.buffer, range.offset),
                Some(own) if own.buffer == Buffer::Send => {
                    let side = if self.rank < message.partner { Side::Left } else { Side::Right };
                    self.builder.combine(message.round, own, range, side);
                    self.held.insert(start, end, range.buffer, range.offset);
                }
                Some(own) => {
                    let side = if message.partner < self.rank { Side::Left } else { Side::Right };
                    self.builder.combine(message.round, range, own, side);
                    self.scratch.free(range.offset, range.len, message.round);
                }
            }
        }
        self.targets = targets;
        self.targets.clear();
    }

    /// Where the matrices of a product lie.
    fn operands(&self, product: &Multiplication) -> [BufferRange; 3] {
        let held = |matrix: &Range<usize>| match self.held.at(matrix.start, matrix.end) {
            Some((end, buffer, offset)) if end == matrix.end => BufferRange { buffer, offset, len: matrix.len() },
            _ => panic!(
                "rank {} multiplies {matrix:?} in round {}, which it does not hold in one piece",
                self.rank, product.round
            ),
        };
        let Some(offset) = self.call.home(self.rank, product.c.start).0 else {
            panic!("rank {} computes {:?}, which does not end on it", self.rank, product.c)
        };
        let c = BufferRange { buffer: Buffer::Receive, offset, len: product.c.len() };
        [held(&product.a), held(&product.b), c]
    }

    fn multiply(&mut self, product: &Multiplication, [a, b, c]: [BufferRange; 3]) {
        self.builder.multiply(product.round, product.inner, a, b, c);
    }

    /// Copies what the rank holds and keeps to its place in the receive buffer.
    fn copy_kept(&mut self, round: usize) {
        let held = self.prefix.as_ref().unwrap_or(&self.held);
        for last in self.call.last(self.rank) {
            let mut at = last.space.start;
            while at < last.space.end {
                let Some((end, buffer, offset)) = held.at(at, last.space.end) else {
                    at = held.next(at).unwrap_or(last.space.end);
                    continue;
                };
                let to = last.offset + at - last.space.start;
                if (buffer, offset) != (Buffer::Receive, to) {
                    let from = BufferRange { buffer, offset, len: end - at };
                    self.builder.copy(round, from, BufferRange { buffer: Buffer::Receive, offset: to, len: end - at });
                }
                at = end;
            }
        }
    }
}

/// Appends a range, joined to the last one where it continues it.
pub(super) fn append(ranges: &mut Vec<BufferRange>, range: BufferRange) {
    match ranges.last_mut() {
        Some(last) if last.buffer == range.buffer && last.offset + last.len == range.offset => last.len += range.len,
        _ => ranges.push(range),
    }
}

/// Which intervals of the space the rank holds, and where.
#[derive(Default)]
pub(super) struct Held {
    map: BTreeMap<usize, (usize, Buffer, usize)>,
}

impl Held {
    /// The run from `at`, at most to `limit`: its end and where it lies.
    pub(super) fn at(&self, at: usize, limit: usize) -> Option<(usize, Buffer, usize)> {
        let (&start, &(end, buffer, offset)) = self.map.range(..=at).next_back()?;
        (end > at).then(|| (end.min(limit), buffer, offset + at - start))
    }

    /// The first held position after `at`.
    pub(super) fn next(&self, at: usize) -> Option<usize> {
        self.map.range(at + 1..).next().map(|(&start, _)| start)
    }

    pub(super) fn remove(&mut self, start: usize, end: usize) {
        if let Some((&from, &(to, buffer, offset))) = self.map.range(..start).next_back() {
            if to > start {
                self.map.insert(from, (start, buffer, offset));
                if to > end {
                    self.map.insert(end, (to, buffer, offset + end - from));
                }
            }
        }
        while let Some((&from, &(to, buffer, offset))) = self.map.range(start..end).next() {
            self.map.remove(&from);
            if to > end {
                self.map.insert(end, (to, buffer, offset + end - from));
            }
        }
    }

    pub(super) fn insert(&mut self, start: usize, end: usize, buffer: Buffer, offset: usize) {
        if start >= end {
            return;
        }
        self.remove(start, end);
        match self.map.range_mut(..start).next_back() {
            Some((&from, last)) if *last == (start, buffer, offset.wrapping_sub(start - from)) => last.0 = end,
            _ => {
                self.map.insert(start, (end, buffer, offset));
            }
        }
    }
}

/// As long as a rank's scratch memory is this small (in elements), no area is used twice, so that no receive has to wait for
/// an earlier one's data to leave.
pub(crate) const MEMORY_USED_ONCE: usize = 1 << 15;

/// Where nodes do not wait for each other's rounds, so many rounds more pass until an area is used again: a receive that is
/// early in its round must not wait for a send that is late in an earlier one.
const FLOWING_LAG: usize = 2;

/// Scratch memory: first fit among the areas that are free in the round at hand.
#[derive(Default)]
pub(super) struct Scratch {
    top: usize,
    /// Rounds beyond the next until an area that is free is used again.
    lag: usize,
    /// Offset -> (end, last round of use).
    free: BTreeMap<usize, (usize, usize)>,
}

impl Scratch {
    pub(super) fn free(&mut self, offset: usize, len: usize, round: usize) {
        if len > 0 {
            self.free.insert(offset, (offset + len, round));
        }
    }

    /// The offset of `len` elements that nothing uses in `round`.
    pub(super) fn allocate(&mut self, len: usize, round: usize) -> usize {
        if len == 0 {
            return 0;
        }
        let mut run: Option<(usize, usize)> = None;
        let reusable = (self.top + len > MEMORY_USED_ONCE).then_some(&self.free);
        for (&start, &(end, used)) in reusable.into_iter().flatten() {
            if used + self.lag >= round {
                continue;
            }
            run = match run {
                Some((from, to)) if to == start => Some((from, end)),
                _ => Some((start, end)),
            };
            if run.is_some_and(|(from, to)| to - from >= len) {
                break;
            }
        }
        // A free run at the top may grow; any other must be long enough.
        let fits = |&(from, to): &(usize, usize)| to - from >= len || to == self.top;
        let offset = run.filter(fits).map_or(self.top, |(from, _)| from);
        let end = offset + len;
        while let Some((&start, &(area_end, used))) = self.free.range(offset..end).next() {
            self.free.remove(&start);
            if area_end > end {
                self.free.insert(end, (area_end, used));
            }
        }
        self.top = self.top.max(end);
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_used_again_but_not_in_the_same_round() {
        let mut scratch = Scratch::default();
        let unit = MEMORY_USED_ONCE;
        assert_eq!(scratch.allocate(10 * unit, 0), 0);
        assert_eq!(scratch.allocate(5 * unit, 0), 10 * unit);
        scratch.free(0, 10 * unit, 1);
        assert_eq!(scratch.allocate(4 * unit, 1), 15 * unit, "still in use in round 1");
        assert_eq!(scratch.allocate(4 * unit, 2), 0);
        assert_eq!(scratch.allocate(6 * unit, 2), 4 * unit);
        scratch.free(10 * unit, 5 * unit, 2);
        scratch.free(15 * unit, 4 * unit, 2);
        assert_eq!(scratch.allocate(9 * unit, 3), 10 * unit, "neighbours are joined");
        scratch.free(10 * unit, 9 * unit, 3);
        assert_eq!(scratch.allocate(20 * unit, 4), 10 * unit, "the area at the top grows");
        assert_eq!(scratch.top, 30 * unit);
    }

    #[test]
    fn a_little_scratch_is_not_used_twice() {
        let mut scratch = Scratch::default();
        assert_eq!(scratch.allocate(100, 0), 0);
        scratch.free(0, 100, 0);
        assert_eq!(scratch.allocate(100, 5), 100);
        assert_eq!(scratch.allocate(MEMORY_USED_ONCE, 6), 200, "what is free does not suffice");
        assert_eq!(scratch.allocate(100, 7), 0, "the memory is no longer small");
    }

    #[test]
    fn held_intervals_are_cut_and_replaced() {
        let mut held = Held::default();
        held.insert(0, 10, Buffer::Send, 100);
        held.insert(4, 6, Buffer::Scratch, 0);
        assert_eq!(held.at(2, 10), Some((4, Buffer::Send, 102)));
        assert_eq!(held.at(4, 5), Some((5, Buffer::Scratch, 0)));
        assert_eq!(held.at(7, 10), Some((10, Buffer::Send, 107)));
        held.remove(1, 9);
        assert_eq!(held.at(5, 10), None);
        assert_eq!(held.next(1), Some(9));
        assert_eq!(held.at(9, 10), Some((10, Buffer::Send, 109)));
    }
}
