//! Symbolic execution: every message, copy, combination and product on values that say where they come from.

use super::Violation;
use crate::collective::{Buffer, Call, MatrixProduct};
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
    /// The terms of every result, in order, where they are the same for all ranks: not in a reduction.
    same: Vec<u32>,
    slabs: Slabs,
}

/// The slabs of the factors of a matrix product, by their positions in the space.
#[derive(Default)]
struct Slabs {
    /// Row of the grid, term.
    of_a: HashMap<(usize, usize), (usize, u32)>,
    /// Column of the grid, term.
    of_b: HashMap<(usize, usize), (usize, u32)>,
    /// What the third operand must be: the positions of C, by row and column of the grid.
    of_c: HashMap<(usize, usize), (usize, usize)>,
}

/// The term of a product to which nothing has been added; those of the slabs follow.
const NOTHING: u32 = 0;

impl Slabs {
    fn of(product: &MatrixProduct) -> Slabs {
        let mut slabs = Slabs::default();
        let ends = |positions: std::ops::Range<usize>| (positions.start, positions.end);
        for (term, (key, panel)) in (NOTHING + 1..).zip(product.slabs()) {
            for k in 0..product.grid_rows {
                slabs.of_a.insert(ends(product.a_slab(k, key, panel)), (k, term));
            }
            for l in 0..product.grid_columns {
                slabs.of_b.insert(ends(product.b_slab(key, panel, l)), (l, term));
            }
        }
        for rank in 0..product.grid_rows * product.grid_columns {
            slabs.of_c.insert(product.position(rank), ends(product.c_block(rank)));
        }
        slabs
    }

    /// The term that the product of two slabs contributes to C, if these are slabs that meet there.
    fn contribution(&self, [a, b, c]: [(usize, usize); 3]) -> Option<u32> {
        let (&(k, term), &(l, other)) = (self.of_a.get(&a)?, self.of_b.get(&b)?);
        (term == other && self.of_c.get(&(k, l)) == Some(&c)).then_some(term)
    }
}

impl<'s> Execution<'s> {
    pub fn new(call: &Call, schedules: &'s [Schedule]) -> Execution<'s> {
        // Only in a reduction and in a product do contributors matter; elsewhere every position has one source.
        let multiplies = call.collective.multiplies();
        let slabs = if multiplies { Slabs::of(&call.product()) } else { Slabs::default() };
        let (terms, same): (Vec<_>, Vec<_>) = if multiplies {
            let contributions: Vec<u32> = (NOTHING + 1..).zip(call.product().slabs()).map(|(term, _)| term).collect();
            (std::iter::once(Vec::new()).chain(contributions.iter().map(|&t| vec![t])).collect(), contributions)
        } else {
            let contributors = 0..if call.collective.reduces() { call.size as u32 } else { 1 };
            (contributors.clone().map(|t| vec![t]).collect(), contributors.collect())
        };
        let ranks = schedules.iter().map(|schedule| {
            let mut buffers: HashMap<Buffer, Contents> = HashMap::new();
            for p in call.initial(schedule.rank) {
                let term = if call.collective.reduces() { schedule.rank as u32 } else { 0 };
                buffers.entry(p.buffer).or_default().write(p.offset, [(p.space.len(), Some((p.space.start, term)))]);
            }
            for p in call.last(schedule.rank).into_iter().filter(|_| multiplies) {
                let nothing = Some((p.space.start, NOTHING));
                buffers.entry(p.buffer).or_default().write(p.offset, [(p.space.len(), nothing)]);
            }
            let len = schedule.operations().len();
            Rank { schedule, buffers, started: vec![false; len], complete: vec![false; len], head: 0 }
        });
        Execution { ranks: ranks.collect(), waiting: HashMap::new(), terms, combined: HashMap::new(), same, slabs }
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
                    Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => {
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
        let mut open = (rank.head..rank.complete.len()).take_while(|&index| schedule.opens(index) <= rank.head);
        open.find(|&index| {
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

    /// Positions of the space of which a range holds the values, one after another, and their term.
    fn matrix(&self, rank: usize, range: &BufferRange) -> Option<((usize, usize), u32)> {
        let mut values = self.read(rank, std::slice::from_ref(range)).into_iter();
        let (len, value) = values.next()?;
        let (start, term) = value?;
        let mut end = start + len;
        for (len, value) in values {
            if value != Some((end, term)) {
                return None;
            }
            end += len;
        }
        Some(((start, end), term))
    }

    /// Adds a product to a matrix; false if the operands do not belong together.
    fn multiply(&mut self, rank: usize, ranges: &[BufferRange]) -> bool {
        let mut operands = ranges.iter().map(|range| self.matrix(rank, range));
        let (Some(Some(a)), Some(Some(b)), Some(Some(c))) = (operands.next(), operands.next(), operands.next()) else {
            return false;
        };
        drop(operands);
        let Some(contribution) = self.slabs.contribution([a.0, b.0, c.0]) else { return false };
        let sum = self.combine(c.1, contribution);
        let value = Some((c.0 .0, sum));
        self.ranks[rank].buffers.entry(ranges[2].buffer).or_default().write(ranges[2].offset, [(ranges[2].len, value)]);
        true
    }

    /// Carries out a copy, a combination or a product; false if the operands do not belong together.
    fn compute(&mut self, rank: usize, index: usize) -> bool {
        let schedule = self.ranks[rank].schedule;
        let operation = &schedule.operations()[index];
        let ranges = schedule.ranges(operation);
        if matches!(operation.kind, Kind::Multiply { .. }) {
            return self.multiply(rank, ranges);
        }
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
        let all: Vec<u32> = match call.collective.reduces() {
            true => call.contributors(rank.schedule.rank).map(|from| from as u32).collect(),
            false => self.same.clone(),
        };
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
