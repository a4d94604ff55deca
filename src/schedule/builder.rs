//! Builds schedules: derives dependencies from the read and write hazards on ranges, and channels from peers.

use super::intervals::{Interval, Intervals, Value};
use super::{BufferRange, Kind, Operation, RunAhead, Schedule};
use crate::collective::Buffer;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Collects operations in program order.
#[derive(Default)]
pub struct Builder {
    operations: Vec<Operation>,
    ranges: Vec<BufferRange>,
    dependencies: Vec<u32>,
    receive: Hazards,
    scratch: Hazards,
    /// The last operation of each.
    channels: HashMap<Channel, u32, BuildHasherDefault<ChannelHasher>>,
    /// Receives of empty messages so far.
    signals: Vec<u32>,
    /// Where the operations begin that must be able to start together; other beginnings than those of rounds.
    steps: Vec<usize>,
}

/// A peer and a direction, as one number.
#[derive(PartialEq, Eq, Hash)]
struct Channel(usize);

/// Ranks are small numbers, which nobody chooses to be alike: one multiplication tells them apart.
#[derive(Default)]
struct ChannelHasher(u64);

impl Hasher for ChannelHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(byte.into()));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

impl Builder {
    /// An empty program.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// An empty program with room for so many operations, each of a range or a few.
    pub(super) fn with_room(operations: usize) -> Builder {
        Builder {
            operations: Vec::with_capacity(operations),
            ranges: Vec::with_capacity(operations),
            dependencies: Vec::with_capacity(operations),
            ..Builder::default()
        }
    }

    /// Appends a message to a peer. An empty one is a signal: it waits for all signals received before it.
    pub fn send(&mut self, round: usize, peer: usize, ranges: &[BufferRange]) {
        self.push(round, Kind::Send { peer }, ranges);
    }

    /// Appends a message from a peer.
    pub fn receive(&mut self, round: usize, peer: usize, ranges: &[BufferRange]) {
        self.push(round, Kind::Receive { peer }, ranges);
    }

    /// Appends a copy of one range to another of the same length.
    pub fn copy(&mut self, round: usize, from: BufferRange, to: BufferRange) {
        self.push(round, Kind::Copy, &[from, to]);
    }

    /// Appends the combination of one range into another of the same length.
    pub fn combine(&mut self, round: usize, from: BufferRange, into: BufferRange, side: super::Side) {
        self.push(round, Kind::Combine { side }, &[from, into]);
    }

    /// Appends a product: `a`, with `inner` columns, times `b`, with as many rows, is added to `c`.
    pub fn multiply(&mut self, round: usize, inner: usize, a: BufferRange, b: BufferRange, c: BufferRange) {
        self.push(round, Kind::Multiply { inner }, &[a, b, c]);
    }

    /// Begins the next packets of a round's messages: they need not be under way for those before to go on.
    pub fn step(&mut self) {
        self.steps.push(self.operations.len());
    }

    fn push(&mut self, round: usize, kind: Kind, ranges: &[BufferRange]) {
        let index = self.operations.len() as u32;
        let needs_from = self.dependencies.len();
        for (position, range) in ranges.iter().enumerate() {
            let hazards = match range.buffer {
                Buffer::Send => continue, // never written
                Buffer::Receive => &mut self.receive,
                Buffer::Scratch => &mut self.scratch,
            };
            hazards.access(
                range.offset,
                range.offset + range.len,
                index,
                kind.writes(position),
                &mut self.dependencies,
            );
        }
        match kind {
            Kind::Send { .. } if ranges.is_empty() => self.dependencies.extend(&self.signals),
            Kind::Receive { .. } if ranges.is_empty() => self.signals.push(index),
            _ => {}
        }
        self.dependencies[needs_from..].sort_unstable();
        let mut kept = needs_from;
        for at in needs_from..self.dependencies.len() {
            let need = self.dependencies[at];
            if need != index && (kept == needs_from || self.dependencies[kept - 1] != need) {
                self.dependencies[kept] = need;
                kept += 1;
            }
        }
        self.dependencies.truncate(kept);

        let channel = match kind {
            Kind::Send { peer } => Some(Channel(2 * peer)),
            Kind::Receive { peer } => Some(Channel(2 * peer + 1)),
            Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => None,
        };
        let channel_predecessor = channel.and_then(|channel| self.channels.insert(channel, index));
        if let Some(before) = channel_predecessor {
            self.operations[before as usize].channel_successor = Some(index);
        }
        let first = self.ranges.len() as u32;
        self.ranges.extend_from_slice(ranges);
        self.operations.push(Operation {
            kind,
            round,
            ranges: first..self.ranges.len() as u32,
            dependencies: needs_from as u32..self.dependencies.len() as u32,
            successors: 0..0,
            channel_predecessor,
            channel_successor: None,
        });
    }

    /// As [`Builder::finish`], after `change` has had its way with the dependencies of each operation, by its index.
    /// Nothing proves the result but [`super::check()`], whose tests need schedules that lack a dependency.
    pub fn finish_with(
        mut self,
        rank: usize,
        size: usize,
        scratch: usize,
        mut change: impl FnMut(usize, &mut Vec<u32>),
    ) -> Schedule {
        let mut all = Vec::new();
        for (index, operation) in self.operations.iter_mut().enumerate() {
            let range = operation.dependencies.start as usize..operation.dependencies.end as usize;
            let mut own = self.dependencies[range].to_vec();
            change(index, &mut own);
            let first = all.len() as u32;
            all.append(&mut own);
            operation.dependencies = first..all.len() as u32;
        }
        self.dependencies = all;
        self.finish(rank, size, scratch)
    }

    /// The finished schedule of `rank`. The window admits all operations of any one round, or of any one step of it, so that
    /// none waits for a later one.
    pub fn finish(mut self, rank: usize, size: usize, scratch: usize) -> Schedule {
        let mut counts = vec![0u32; self.operations.len() + 1];
        for &need in &self.dependencies {
            counts[need as usize + 1] += 1;
        }
        for index in 1..counts.len() {
            counts[index] += counts[index - 1];
        }
        for (index, operation) in self.operations.iter_mut().enumerate() {
            operation.successors = counts[index]..counts[index + 1];
        }
        let mut successors = vec![0u32; self.dependencies.len()];
        for (index, operation) in self.operations.iter().enumerate() {
            for &need in &self.dependencies[operation.dependencies.start as usize..operation.dependencies.end as usize]
            {
                // From here on, where the next one goes.
                let next = &mut counts[need as usize];
                successors[*next as usize] = index as u32;
                *next += 1;
            }
        }
        let cut = !self.steps.is_empty();
        let mut rounds: Vec<u32> = Vec::with_capacity(self.operations.len());
        for at in 0..self.operations.len() {
            if at == 0 || self.operations[at].round != self.operations[at - 1].round {
                rounds.push(at as u32);
                self.steps.push(at);
            } else {
                rounds.push(rounds[at - 1]);
            }
        }
        self.steps.push(self.operations.len());
        self.steps.sort_unstable();
        let run_ahead = RunAhead::of(&self.operations, &self.steps, cut);
        Schedule {
            rank,
            size,
            scratch,
            run_ahead,
            rounds,
            cut,
            operations: self.operations,
            ranges: self.ranges,
            dependencies: self.dependencies,
            successors,
        }
    }
}

/// Who last wrote, and who has read since, each part of a buffer.
#[derive(Default)]
struct Hazards {
    parts: Intervals<Part>,
    /// Readers, each with the one before it of the same part: what is read in one piece and later in several has them in common.
    readers: Vec<(u32, u32)>,
}

/// None of the operations, or readers.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Part {
    /// An operation.
    writer: u32,
    /// Where the last reader is among [`Hazards::readers`].
    reader: u32,
}

impl Value for Part {
    fn beyond(self, _: usize) -> Part {
        self
    }
}

impl Hazards {
    /// Notes an access of operation `index` to `start..end` and adds to `needs` what it has to wait for: a reader the
    /// last writer, a writer the readers since and the last writer.
    fn access(&mut self, start: usize, end: usize, index: u32, writes: bool, needs: &mut Vec<u32>) {
        if start == end {
            return;
        }
        if writes {
            self.write(start, end, index, needs);
        } else {
            self.read(start, end, index, needs);
        }
    }

    fn write(&mut self, start: usize, end: usize, index: u32, needs: &mut Vec<u32>) {
        let mut at = self.parts.find(start);
        while let Some(part) = self.parts.get(at).filter(|part| part.start < end) {
            if part.value.writer != NONE {
                needs.push(part.value.writer);
            }
            let mut reader = part.value.reader;
            while reader != NONE {
                let (operation, before) = self.readers[reader as usize];
                needs.push(operation);
                reader = before;
            }
            at = self.parts.after(at);
        }
        self.parts.put(start, end, Part { writer: index, reader: NONE });
    }

    fn read(&mut self, start: usize, end: usize, index: u32, needs: &mut Vec<u32>) {
        let mut at = self.parts.find(start);
        if self.parts.get(at).is_some_and(|part| part.start < start) {
            at = self.parts.cut(at, start);
            at = self.parts.after(at);
        }
        let mut reached = start;
        while reached < end {
            match self.parts.get(at).map(|part| (part.start, part.end)) {
                Some((from, to)) if from == reached => {
                    if to > end {
                        at = self.parts.cut(at, end);
                    }
                    reached = to.min(end);
                }
                next => {
                    // Nobody has used it.
                    let gap = next.map_or(end, |(from, _)| from.min(end));
                    let value = Part { writer: NONE, reader: NONE };
                    at = self.parts.insert(at, Interval { start: reached, end: gap, value });
                    reached = gap;
                }
            }
            if let Some(part) = self.parts.get_mut(at) {
                if part.value.writer != NONE {
                    needs.push(part.value.writer);
                }
                self.readers.push((index, part.value.reader));
                part.value.reader = self.readers.len() as u32 - 1;
            }
            at = self.parts.after(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Side;

    fn range(buffer: Buffer, offset: usize, len: usize) -> BufferRange {
        BufferRange { buffer, offset, len }
    }

    fn needs(schedule: &Schedule) -> Vec<Vec<u32>> {
        schedule.operations().iter().map(|o| schedule.dependencies(o).to_vec()).collect()
    }

    #[test]
    fn readers_wait_for_writers_and_writers_for_both() {
        let mut builder = Builder::new();
        builder.receive(0, 1, &[range(Buffer::Receive, 0, 4)]); // 0 writes 0..4
        builder.send(1, 2, &[range(Buffer::Receive, 2, 4)]); // 1 reads 2..6
        builder.send(1, 3, &[range(Buffer::Receive, 4, 2)]); // 2 reads 4..6, nobody wrote there
        builder.receive(2, 1, &[range(Buffer::Receive, 3, 2)]); // 3 writes 3..5
        builder.combine(3, range(Buffer::Receive, 0, 2), range(Buffer::Scratch, 0, 2), Side::Left); // 4
        builder.copy(3, range(Buffer::Scratch, 1, 1), range(Buffer::Receive, 4, 1)); // 5
        let schedule = builder.finish(0, 4, 2);
        assert_eq!(needs(&schedule), [vec![], vec![0], vec![], vec![0, 1, 2], vec![0], vec![3, 4]]);
        assert_eq!(schedule.successors(&schedule.operations()[0]), [1, 3, 4]);
        assert_eq!(schedule.channel_predecessor(&schedule.operations()[3]), Some(0));
        assert_eq!(schedule.channel_predecessor(&schedule.operations()[2]), None);
    }

    /// Two rounds of packets, on one port and on two.
    fn cut(ports: usize) -> Schedule {
        let mut builder = Builder::new();
        for round in 0..2 {
            for packet in 0..20 {
                builder.step();
                for port in 0..ports {
                    let peer = 1 + ports * round + port;
                    builder.receive(round, peer, &[range(Buffer::Receive, 20 * peer + packet, 1)]);
                    builder.send(round, peer, &[range(Buffer::Send, 20 * peer + packet, 1)]);
                }
            }
        }
        builder.finish(0, 8, 0)
    }

    #[test]
    fn packets_run_ahead_of_later_partners_and_on_several_ports_only_so_far() {
        let opens = |schedule: &Schedule| -> Vec<usize> { (0..80).map(|index| schedule.opens(index)).collect() };
        let (one, two) = (cut(1), cut(2));
        assert!(opens(&one)[..40].iter().all(|&complete| complete == 0));
        for index in 40..80 {
            assert_eq!(one.opens(index), (index + 1 - 8).min(40));
        }
        let within =
            |window: usize| -> Vec<usize> { (0..80).map(|index| (index + 1usize).saturating_sub(window)).collect() };
        assert_eq!(opens(&two), within(64));
        assert_eq!(opens(&two.over_links()), within(16));
        let before = opens(&one);
        assert_eq!(opens(&one.over_links()), before);
    }

    /// Against the definition: for random programs, dependencies and their closure order exactly the conflicting pairs.
    #[test]
    fn closure_orders_all_conflicts() {
        let mut seed = 7u64;
        let mut next = move |bound: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % bound
        };
        for _ in 0..200 {
            let mut builder = Builder::new();
            let mut accesses = Vec::new();
            for index in 0..24 {
                let r = range(if next(2) == 0 { Buffer::Receive } else { Buffer::Scratch }, next(12), 1 + next(6));
                if next(2) == 0 {
                    builder.send(index, 1, &[r]);
                    accesses.push((r, false));
                } else {
                    builder.receive(index, 1, &[r]);
                    accesses.push((r, true));
                }
            }
            let schedule = builder.finish(0, 2, 20);
            let mut before = vec![vec![false; 24]; 24];
            for (index, needs) in needs(&schedule).iter().enumerate() {
                for &need in needs {
                    let earlier = before[need as usize].clone();
                    before[index].iter_mut().zip(earlier).for_each(|(set, also)| *set |= also);
                    before[index][need as usize] = true;
                }
            }
            for (a, (x, x_writes)) in accesses.iter().enumerate() {
                for (b, (y, y_writes)) in accesses.iter().enumerate().skip(a + 1) {
                    let overlap = x.buffer == y.buffer && x.offset < y.offset + y.len && y.offset < x.offset + x.len;
                    if overlap && (*x_writes || *y_writes) {
                        assert!(before[b][a], "{a} {x} and {b} {y} are not ordered");
                    }
                }
            }
        }
    }
}
