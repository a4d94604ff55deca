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
use super::held::Held;
use super::intervals::Intervals;
use super::prefix::Arrival;
use super::scratch::Scratch;
use super::{BufferRange, Builder, Multiplication, Schedule, Side};
use crate::collective::{Buffer, Call};
use std::collections::HashMap;
use std::ops::Range;

/// The schedule of `rank` that carries out `messages`.
///
/// # Panics
/// If a message sends what the rank does not hold: a fault of the algorithm, not of the call.
pub fn place(call: &Call, rank: usize, messages: &Messages) -> Schedule {
    let mut placer = Placer {
        call,
        rank,
        builder: Builder::with_room(messages.operations()),
        held: Held::default(),
        prefix: None,
        sends: false,
        scratch: Scratch::of(messages.flows()),
        home: (0..0, None),
        ranges: Vec::new(),
        targets: Vec::new(),
        arrivals: Vec::new(),
        done: Vec::new(),
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
        placer.two_values(
            last_uses.iter().flat_map(|uses| (0..messages.list().len()).flat_map(|message| uses.of(message))),
        );
    }
    let mut multiplications = messages.multiplications().iter().peekable();
    let mut number = 0;
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
            let last_use = last_uses.as_ref().map(|uses| uses.of(number));
            number += 1;
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
struct LastUses {
    parts: Vec<Range<usize>>,
    /// Behind the parts of each message; those of the last one come first.
    ends: Vec<usize>,
}

impl LastUses {
    fn of(&self, message: usize) -> &[Range<usize>] {
        let nth = self.ends.len() - 1 - message;
        &self.parts[nth.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[nth]]
    }
}

/// `returns`: what a rank has sent may come back to it, as the blocks of a product do; it need not be kept till then.
fn last_uses(messages: &Messages, returns: bool) -> LastUses {
    let mut later = Intervals::<()>::default();
    let mut products = messages.multiplications().iter().rev().peekable();
    let list = messages.list();
    let mut uses = LastUses { parts: Vec::with_capacity(list.len()), ends: Vec::with_capacity(list.len()) };
    for message in list.iter().rev() {
        // The products of a round are computed with what is held before its messages.
        while let Some(product) = products.next_if(|product| product.round > message.round) {
            [&product.a, &product.b].into_iter().for_each(|operand| later.cover(operand.clone(), |_| ()));
        }
        if returns && !message.sends && message.through.is_none() {
            messages.pieces(message).iter().for_each(|piece| {
                later.remove(piece.start, piece.end);
            });
        }
        for piece in messages.pieces(message).iter().filter(|_| message.sends && message.through.is_none()) {
            later.cover(piece.clone(), |part| uses.parts.push(part));
        }
        uses.ends.push(uses.parts.len());
    }
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
    /// The last answer of [`Placer::home`]: a run of positions, and where its first one ends.
    home: (Range<usize>, Option<usize>),
    /// Of one message: its ranges, where what it brings goes, and what it is the last to send. They are here to be allocated once.
    pub(super) ranges: Vec<BufferRange>,
    targets: Vec<Target>,
    pub(super) arrivals: Vec<Arrival>,
    done: Vec<(Range<usize>, Buffer, usize)>,
    /// What passes through and has arrived, by its number.
    passing: HashMap<usize, BufferRange>,
    /// Where products need matrices in one piece: for a message that is cut into packets, by round and peer, where in scratch
    /// memory the next packet goes.
    whole: Option<HashMap<(usize, usize), usize>>,
}

/// Where a run of a received message goes.
struct Target {
    space: (usize, usize),
    /// Where it arrives: in the receive buffer, or in scratch memory.
    place: BufferRange,
    /// The rank's own contribution or partial result, to be combined with.
    own: Option<(Buffer, usize)>,
}

impl Placer<'_> {
    /// `last_use`: the positions that nothing later sends; `None`: all of the message's.
    fn send(&mut self, message: &Message, messages: &Messages, last_use: Option<&[Range<usize>]>) {
        self.ranges.clear();
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
                append(&mut self.ranges, BufferRange { buffer, offset, len: end - at });
                // Of a prefix sum, what is not sent again need not be kept apart from the result, wherever it lies.
                if buffer == Buffer::Scratch || self.prefix.is_some() {
                    match last_use {
                        None => self.done.push((at..end, buffer, offset)),
                        Some(last) => {
                            let begin = last.partition_point(|part| part.end <= at);
                            let within = last[begin..].iter().take_while(|part| part.start < end);
                            self.done.extend(within.map(|part| {
                                let part = part.start.max(at)..part.end.min(end);
                                (part.clone(), buffer, offset + part.start - at)
                            }));
                        }
                    }
                }
                at = end;
            }
        }
        for (part, buffer, offset) in self.done.drain(..) {
            self.held.remove(part.start, part.end);
            if buffer == Buffer::Scratch {
                self.scratch.free(offset, part.len(), message.round);
            }
        }
        self.builder.send(message.round, message.peer, &self.ranges);
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

    /// Where the data at a position ends in the receive buffer, if it ends on the rank, and up to where that holds.
    pub(super) fn home(&mut self, at: usize) -> (Option<usize>, usize) {
        if !self.home.0.contains(&at) {
            let (home, run) = self.call.home(self.rank, at);
            self.home = (at..at + run, home);
        }
        let (run, home) = &self.home;
        (home.map(|home| home + at - run.start), run.end)
    }

    fn receive(&mut self, message: &Message, messages: &Messages) {
        for piece in messages.pieces(message) {
            let mut at = piece.start;
            while at < piece.end {
                let (home, run) = self.home(at);
                let end = piece.end.min(run);
                self.targets.push(Target { space: (at, end), place: arriving(home, end - at), own: None });
                at = end;
            }
        }
        self.receive_targets(message, messages);
    }

    fn receive_and_combine(&mut self, message: &Message, messages: &Messages) {
        for piece in messages.pieces(message) {
            let mut at = piece.start;
            while at < piece.end {
                let (home, run) = self.home(at);
                let mut end = piece.end.min(run);
                let mut own = None;
                if let Some((held_end, buffer, offset)) = self.held.at(at, end) {
                    end = held_end;
                    own = Some((buffer, offset));
                }
                // The user's data stays as it is: the result begins with what arrives. A partial result of the rank's
                // own is added to in place, and what arrives passes through scratch memory.
                let home = home.filter(|_| own.is_none_or(|(buffer, _)| buffer == Buffer::Send));
                self.targets.push(Target { space: (at, end), place: arriving(home, end - at), own });
                at = end;
            }
        }
        self.receive_targets(message, messages);
    }

    /// Receives into the targets and combines them with what the rank has.
    fn receive_targets(&mut self, message: &Message, messages: &Messages) {
        let mut targets = std::mem::take(&mut self.targets);
        let in_scratch = |target: &&Target| target.place.buffer == Buffer::Scratch;
        let passing: usize = targets.iter().filter(in_scratch).map(|target| target.place.len).sum();
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
        self.ranges.clear();
        for Target { place, .. } in &mut targets {
            if place.buffer == Buffer::Scratch {
                place.offset = free;
                free += place.len;
            }
            append(&mut self.ranges, *place);
        }
        self.builder.receive(message.round, message.peer, &self.ranges);
        for target in &targets {
            let &Target { space: (start, end), place: range, .. } = target;
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

/// Where data of a message arrives: at its home, or in scratch memory, of which it gets its part with the others.
pub(super) fn arriving(home: Option<usize>, len: usize) -> BufferRange {
    match home {
        Some(offset) => BufferRange { buffer: Buffer::Receive, offset, len },
        None => BufferRange { buffer: Buffer::Scratch, offset: 0, len },
    }
}

/// Appends a range, joined to the last one where it continues it.
pub(super) fn append(ranges: &mut Vec<BufferRange>, range: BufferRange) {
    match ranges.last_mut() {
        Some(last) if last.buffer == range.buffer && last.offset + last.len == range.offset => last.len += range.len,
        _ => ranges.push(range),
    }
}
