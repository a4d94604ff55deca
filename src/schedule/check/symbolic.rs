//! Symbolic execution: every message, copy and combination on values that say where they come from.

use super::Violation;
use crate::collective::{Buffer, Call};
use crate::schedule::{BufferRange, Kind, Schedule, Side};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A symbolic value: an element of the space, and who contributed to it (an index into [`Execution::terms`]).
type Value = Option<(usize, u32)>;

/// Symbolic contents of a buffer: runs of consecutive elements.
#[derive(Default)]
struct Contents {
    runs: BTreeMap<usize, (usize, Value)>,
}

impl Contents {
    fn read(&self, range: std::ops::Range<usize>) -> Vec<(usize, Value)> {
        let mut values = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let (end, value) = match self.runs.range(..=at).next_back() {
                Some((&start, &(end, value))) if end > at => (end, value.map(|(s, t)| (s + at - start, t))),
                _ => (self.runs.range(at..).next().map_or(range.end, |(&start, _)| start), None),
            };
            let end = end.min(range.end);
            values.push((end - at, value));
            at = end;
        }
        values
    }

    fn write(&mut self, mut at: usize, values: impl IntoIterator<Item = (usize, Value)>) {
        for (len, value) in values {
            let end = at + len;
            if let Some((&start, &(old_end, old))) = self.runs.range(..at).next_back() {
                if old_end > at {
                    self.runs.insert(start, (at, old));
                    if old_end > end {
                        self.runs.insert(end, (old_end, old.map(|(s, t)| (s + end - start, t))));
                    }
                }
            }
            while let Some((&start, &(old_end, old))) = self.runs.range(at..end).next() {
                self.runs.remove(&start);
                if old_end > end {
                    self.runs.insert(end, (old_end, old.map(|(s, t)| (s + end - start, t))));
                }
            }
            if len > 0 {
                self.runs.insert(at, (end, value));
            }
            at = end;
        }
    }
}

struct Rank<'s> {
    schedule: &'s Schedule,
    buffers: HashMap<Buffer, Contents>,
    started: Vec<bool>,
    complete: Vec<bool>,
    head: usize,
}

pub(super) struct Execution<'s> {
    ranks: Vec<Rank<'s>>,
    /// Started sends and receives that have not met their partner, by (from, to).
    waiting: HashMap<(usize, usize), (VecDeque<usize>, VecDeque<usize>)>,
    /// Contributors in order, and the terms made of two others.
    terms: Vec<Vec<u32>>,
    combined: HashMap<(u32, u32), u32>,
}

impl<'s> Execution<'s> {
    pub fn new(call: &Call, schedules: &'s [Schedule]) -> Execution<'s> {
        // Only in a reduction do contributors matter; elsewhere every position has one source.
        let terms = (0..if call.collective.reduces() { call.size as u32 } else { 1 }).map(|t| vec![t]).collect();
        let ranks = schedules.iter().map(|schedule| {
            let mut buffers: HashMap<Buffer, Contents> = HashMap::new();
            for p in call.initial(schedule.rank) {
                let term = if call.collective.reduces() { schedule.rank as u32 } else { 0 };
                buffers.entry(p.buffer).or_default().write(p.offset, [(p.space.len(), Some((p.space.start, term)))]);
            }
            let len = schedule.operations().len();
            Rank { schedule, buffers, started: vec![false; len], complete: vec![false; len], head: 0 }
        });
        Execution { ranks: ranks.collect(), waiting: HashMap::new(), terms, combined: HashMap::new() }
    }

    pub fn run(mut self, call: &Call, violations: &mut Vec<Violation>) {
        let mut awake: VecDeque<usize> = (0..self.ranks.len()).collect();
        while let Some(rank) = awake.pop_front() {
            while let Some(index) = self.startable(rank) {
                self.ranks[rank].started[index] = true;
                let operation = &self.ranks[rank].schedule.operations()[index];
                let channel = match operation.kind {
                    Kind::Send { peer } => (rank, peer),
                    Kind::Receive { peer } => (peer, rank),
                    Kind::Copy | Kind::Combine { .. } => {
                        if !self.compute(rank, index) {
                            violations.push(Violation::Operands { rank, operation: index });
                            return;
                        }
                        self.complete(rank, index);
                        continue;
                    }
                };
                let ends = self.waiting.entry(channel).or_default();
                if channel.0 == rank {
                    ends.0.push_back(index);
                } else {
                    ends.1.push_back(index);
                }
                if let (Some(&send), Some(&receive)) = (ends.0.front(), ends.1.front()) {
                    ends.0.pop_front();
                    ends.1.pop_front();
                    self.transfer(channel, send, receive);
                    self.complete(channel.0, send);
                    self.complete(channel.1, receive);
                    awake.push_back(if channel.0 == rank { channel.1 } else { channel.0 });
                }
            }
        }
        let stuck: Vec<_> = self.ranks.iter().filter(|r| r.head < r.complete.len()).collect();
        if !stuck.is_empty() {
            violations.push(Violation::Deadlock(stuck.iter().map(|r| (r.schedule.rank, r.head)).collect()));
            return;
        }
        for rank in &self.ranks {
            self.postcondition(call, rank, violations);
        }
    }

    /// The first operation of a rank that the rule allows to start.
    fn startable(&self, rank: usize) -> Option<usize> {
        let rank = &self.ranks[rank];
        let schedule = rank.schedule;
        let end = rank.complete.len().min(rank.head + schedule.window);
        (rank.head..end).find(|&index| {
            let operation = &schedule.operations()[index];
            !rank.started[index]
                && schedule.channel_predecessor(operation).is_none_or(|before| rank.started[before as usize])
                && schedule.dependencies(operation).iter().all(|&need| rank.complete[need as usize])
        })
    }

    fn complete(&mut self, rank: usize, index: usize) {
        let rank = &mut self.ranks[rank];
        rank.complete[index] = true;
        while rank.complete.get(rank.head) == Some(&true) {
            rank.head += 1;
        }
    }

    fn read(&self, rank: usize, ranges: &[BufferRange]) -> Vec<(usize, Value)> {
        let empty = Contents::default();
        let buffers = &self.ranks[rank].buffers;
        ranges.iter().flat_map(|r| buffers.get(&r.buffer).unwrap_or(&empty).read(r.indices())).collect()
    }

    fn transfer(&mut self, (from, to): (usize, usize), send: usize, receive: usize) {
        let source = self.ranks[from].schedule;
        let mut values = VecDeque::from(self.read(from, source.ranges(&source.operations()[send])));
        let target = self.ranks[to].schedule;
        for range in target.ranges(&target.operations()[receive]) {
            let mut part = Vec::new();
            let mut room = range.len;
            while room > 0 {
                let Some((len, value)) = values.pop_front() else { break };
                if len > room {
                    values.push_front((len - room, value.map(|(s, t)| (s + room, t))));
                }
                part.push((len.min(room), value));
                room -= len.min(room);
            }
            self.ranks[to].buffers.entry(range.buffer).or_default().write(range.offset, part);
        }
    }

    /// Carries out a copy or a combination; false if the operands do not belong together.
    fn compute(&mut self, rank: usize, index: usize) -> bool {
        let schedule = self.ranks[rank].schedule;
        let operation = &schedule.operations()[index];
        let ranges = schedule.ranges(operation);
        let mut values = self.read(rank, &ranges[..1]);
        if let Kind::Combine { side } = operation.kind {
            let mut into = VecDeque::from(self.read(rank, &ranges[1..]));
            let mut results = Vec::new();
            for (mut len, from) in values {
                let Some((mut space, term)) = from else { return false };
                while len > 0 {
                    let Some((run, Some((into_space, into_term)))) = into.pop_front() else { return false };
                    if into_space != space {
                        return false;
                    }
                    let taken = run.min(len);
                    if run > taken {
                        into.push_front((run - taken, Some((into_space + taken, into_term))));
                    }
                    let (left, right) = if side == Side::Left { (term, into_term) } else { (into_term, term) };
                    results.push((taken, Some((space, self.combine(left, right)))));
                    space += taken;
                    len -= taken;
                }
            }
            values = results;
        }
        self.ranks[rank].buffers.entry(ranges[1].buffer).or_default().write(ranges[1].offset, values);
        true
    }

    fn combine(&mut self, left: u32, right: u32) -> u32 {
        if let Some(&known) = self.combined.get(&(left, right)) {
            return known;
        }
        let term = [&self.terms[left as usize][..], &self.terms[right as usize][..]].concat();
        self.terms.push(term);
        let index = self.terms.len() as u32 - 1;
        self.combined.insert((left, right), index);
        index
    }

    fn postcondition(&self, call: &Call, rank: &Rank, violations: &mut Vec<Violation>) {
        let all: Vec<u32> = (0..if call.collective.reduces() { call.size as u32 } else { 1 }).collect();
        for last in call.last(rank.schedule.rank) {
            let mut expected = last.space.start;
            let mut offset = last.offset;
            let place = BufferRange { buffer: last.buffer, offset, len: last.space.len() };
            for (len, value) in self.read(rank.schedule.rank, &[place]) {
                let right = value.is_some_and(|(space, term)| {
                    let mut contributors = self.terms[term as usize].clone();
                    if !call.ordered {
                        contributors.sort_unstable();
                    }
                    space == expected && contributors == all
                });
                if !right {
                    let found = value.map_or("nothing".into(), |(space, term)| {
                        format!("element {space} of ranks {:?}", self.terms[term as usize])
                    });
                    violations.push(Violation::Postcondition {
                        rank: rank.schedule.rank,
                        offset,
                        found,
                        expected: format!("element {expected} of ranks {all:?}"),
                    });
                }
                expected += len;
                offset += len;
            }
        }
    }
}
