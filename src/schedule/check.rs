//! Proves the schedules of all ranks right, without running them on anything.
//!
//! Statically: buffers are long enough and the send buffer is not written; every two operations that touch the same
//! elements, one of them writing, are ordered by dependencies; every send has its receive, in order and of equal length;
//! peers are neighbours on the cube; no message carries data that its sender gets in the same round.
//!
//! By symbolic execution under the rule of [the module above](super), with no buffering at all (a send ends when its
//! receive has started): no deadlock, and the postcondition of the collective. Values are (position of the space, who
//! contributed, in which order), so a contribution that is lost, counted twice or out of order shows. Because messages
//! match in order and dependencies order all conflicts, the outcome is the same for every timing: one execution stands
//! for all.

use super::{BufferRange, Hosting, Kind, Operation, PortModel, Schedule, Side};
use crate::collective::{Buffer, Call, Collective};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// What is wrong with a set of schedules.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// An operation reaches beyond a buffer or writes the send buffer.
    #[error("rank {rank}, operation {operation}: {range} is out of bounds or not writable")]
    Bounds {
        /// The rank.
        rank: usize,
        /// Index of the operation.
        operation: usize,
        /// The range.
        range: String,
    },
    /// Two conflicting operations that no dependency orders.
    #[error("rank {rank}: operations {first} and {second} touch the same elements and are not ordered")]
    Hazard {
        /// The rank.
        rank: usize,
        /// The earlier operation.
        first: usize,
        /// The later one.
        second: usize,
    },
    /// Unequal numbers of sends and receives between two ranks.
    #[error("{from} to {to}: {sends} sends, {receives} receives")]
    Unmatched {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// Sends.
        sends: usize,
        /// Receives.
        receives: usize,
    },
    /// A send and its receive differ in length.
    #[error("{from} to {to}, message {message}: {sent} elements sent, {expected} expected")]
    Length {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// Which message between them.
        message: usize,
        /// Elements sent.
        sent: usize,
        /// Elements expected.
        expected: usize,
    },
    /// A message between ranks that are no neighbours.
    #[error("{from} to {to}: not a cube edge")]
    NotAnEdge {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// A send waits for data that arrive in its own round or later, so the round numbers mean nothing.
    #[error("rank {rank}, operation {operation}: sent in round {round}, but waits for data of round {needs}")]
    Round {
        /// The rank.
        rank: usize,
        /// Index of the send.
        operation: usize,
        /// Its round.
        round: usize,
        /// The round of what it waits for.
        needs: usize,
    },
    /// More in one round than the ports allow.
    #[error("rank {rank}, round {round}: more messages than {ports} allows")]
    Ports {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The port model.
        ports: PortModel,
    },
    /// Without buffering some ranks wait for ever.
    #[error("deadlock: {0:?} (rank, operation) wait for ever")]
    Deadlock(Vec<(usize, usize)>),
    /// Two operands of a reduction are different elements of the vector, or one is undefined.
    #[error("rank {rank}, operation {operation}: combines values that do not belong together")]
    Operands {
        /// The rank.
        rank: usize,
        /// Index of the operation.
        operation: usize,
    },
    /// The result is not what the collective means.
    #[error("rank {rank}: receive buffer at {offset} holds {found}, not {expected}")]
    Postcondition {
        /// The rank.
        rank: usize,
        /// Offset in the receive buffer.
        offset: usize,
        /// What is there.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// A rank may leave a barrier before another has entered it.
    #[error("rank {rank} may leave the barrier before ranks {missing:?} have entered")]
    Barrier {
        /// The rank that may leave.
        rank: usize,
        /// The ranks that it has not heard of.
        missing: Vec<usize>,
    },
    /// The cost is not the paper's.
    #[error("{what}: {found}, the formula says {expected}")]
    Formula {
        /// Which figure.
        what: &'static str,
        /// The schedule's.
        found: String,
        /// The paper's.
        expected: String,
    },
}

/// The outcome of a check.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Report {
    /// Cost of the schedules.
    pub cost: super::Cost,
    /// All that is wrong; empty if nothing is.
    pub violations: Vec<Violation>,
}

/// Checks the schedules of all ranks of a call; `cube_edges`: whether all messages must go over edges of the cube.
pub fn check(call: &Call, schedules: &[Schedule], cube_edges: bool) -> Report {
    let mut report = Report { cost: super::Cost::of(schedules), violations: Vec::new() };
    for schedule in schedules {
        bounds(call, schedule, &mut report.violations);
        hazards(schedule, &mut report.violations);
        rounds(schedule, &mut report.violations);
    }
    matching(schedules, &mut report.violations);
    if cube_edges {
        edges(call, schedules, &mut report.violations);
    }
    if report.violations.is_empty() {
        Execution::new(call, schedules).run(call, &mut report.violations);
    }
    if report.violations.is_empty() && call.collective == Collective::Barrier {
        barrier(schedules, &mut report.violations);
    }
    report
}

/// A message tells of its sender, and of all that the messages told which its send depends on. In the end every rank must
/// have been told of every other.
fn barrier(schedules: &[Schedule], violations: &mut Vec<Violation>) {
    let mut sends: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for schedule in schedules {
        for (index, operation) in schedule.operations().iter().enumerate() {
            if let Kind::Send { peer } = operation.kind {
                sends.entry((schedule.rank, peer)).or_default().push(index);
            }
        }
    }
    let before: Vec<Vec<Vec<u64>>> = schedules.iter().map(closure).collect();
    // told[rank][operation]: the ranks that a receive tells of, or a send may pass on.
    let mut told: Vec<Vec<BTreeSet<usize>>> =
        schedules.iter().map(|s| vec![BTreeSet::new(); s.operations().len()]).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for schedule in schedules {
            let rank = schedule.rank;
            let mut received: HashMap<usize, usize> = HashMap::new();
            for (index, operation) in schedule.operations().iter().enumerate() {
                let news: BTreeSet<usize> = match operation.kind {
                    Kind::Send { .. } => {
                        let needs = (0..index).filter(|&i| before[rank][index][i / 64] >> (i % 64) & 1 == 1);
                        needs.flat_map(|i| told[rank][i].iter().copied()).chain([rank]).collect()
                    }
                    Kind::Receive { peer } => {
                        let ordinal = received.entry(peer).or_default();
                        *ordinal += 1;
                        told[peer][sends[&(peer, rank)][*ordinal - 1]].clone()
                    }
                    Kind::Copy | Kind::Combine { .. } => BTreeSet::new(),
                };
                changed |= news.len() > told[rank][index].len();
                told[rank][index] = news;
            }
        }
    }
    for schedule in schedules {
        let rank = schedule.rank;
        let heard: BTreeSet<usize> = told[rank].iter().flatten().copied().chain([rank]).collect();
        let missing: Vec<usize> = (0..schedules.len()).filter(|r| !heard.contains(r)).collect();
        if !missing.is_empty() {
            violations.push(Violation::Barrier { rank, missing });
        }
    }
}

/// The ranges of an operation, each with whether it is written; a combination also reads what it writes.
fn accesses<'s>(schedule: &'s Schedule, operation: &'s Operation) -> impl Iterator<Item = (&'s BufferRange, bool)> {
    schedule.ranges(operation).iter().enumerate().map(|(position, range)| {
        let writes = match operation.kind {
            Kind::Send { .. } => false,
            Kind::Receive { .. } => true,
            Kind::Copy | Kind::Combine { .. } => position == 1,
        };
        (range, writes)
    })
}

fn bounds(call: &Call, schedule: &Schedule, violations: &mut Vec<Violation>) {
    let (send, receive) = (call.send_len(schedule.rank), call.receive_len(schedule.rank));
    for (index, operation) in schedule.operations().iter().enumerate() {
        for (range, writes) in accesses(schedule, operation) {
            let len = match range.buffer {
                Buffer::Send => send,
                Buffer::Receive => receive,
                Buffer::Scratch => schedule.scratch,
            };
            if range.indices().end > len || range.buffer == Buffer::Send && writes {
                let (rank, range) = (schedule.rank, range.to_string());
                violations.push(Violation::Bounds { rank, operation: index, range });
            }
        }
        let lens: Vec<usize> = schedule.ranges(operation).iter().map(|r| r.len).collect();
        if matches!(operation.kind, Kind::Copy | Kind::Combine { .. }) && (lens.len() != 2 || lens[0] != lens[1]) {
            violations.push(Violation::Operands { rank: schedule.rank, operation: index });
        }
    }
}

/// For every operation the set of those that dependencies put before it, as bits.
fn closure(schedule: &Schedule) -> Vec<Vec<u64>> {
    let words = schedule.operations().len().div_ceil(64);
    let mut before: Vec<Vec<u64>> = Vec::with_capacity(schedule.operations().len());
    for operation in schedule.operations() {
        let mut set = vec![0u64; words];
        for &need in schedule.dependencies(operation) {
            set[need as usize / 64] |= 1 << (need % 64);
            for (word, earlier) in set.iter_mut().zip(&before[need as usize]) {
                *word |= earlier;
            }
        }
        before.push(set);
    }
    before
}

fn hazards(schedule: &Schedule, violations: &mut Vec<Violation>) {
    let mut touched: Vec<(Buffer, usize, usize, usize, bool)> = Vec::new();
    for (index, operation) in schedule.operations().iter().enumerate() {
        for (range, writes) in accesses(schedule, operation).filter(|(r, _)| r.buffer != Buffer::Send && r.len > 0) {
            touched.push((range.buffer, range.offset, range.indices().end, index, writes));
        }
    }
    touched.sort_unstable();
    let before = closure(schedule);
    let mut active: Vec<&(Buffer, usize, usize, usize, bool)> = Vec::new();
    for access in &touched {
        active.retain(|a| a.0 == access.0 && a.2 > access.1);
        for other in &active {
            let (first, second) = (other.3.min(access.3), other.3.max(access.3));
            if first != second && (other.4 || access.4) && before[second][first / 64] >> (first % 64) & 1 == 0 {
                violations.push(Violation::Hazard { rank: schedule.rank, first, second });
            }
        }
        active.push(access);
    }
}

/// A send in round t may wait, directly or through copies and combinations, for messages of earlier rounds only.
fn rounds(schedule: &Schedule, violations: &mut Vec<Violation>) {
    // The round from which on the result of an operation may be sent.
    let mut known: Vec<usize> = Vec::with_capacity(schedule.operations().len());
    for (index, operation) in schedule.operations().iter().enumerate() {
        let needs = schedule.dependencies(operation).iter().map(|&d| known[d as usize]).max().unwrap_or(0);
        known.push(match operation.kind {
            Kind::Send { .. } if needs > operation.round => {
                let (rank, round) = (schedule.rank, operation.round);
                violations.push(Violation::Round { rank, operation: index, round, needs: needs - 1 });
                needs
            }
            // Memory that a send has read is free from its round on; only receives bring data.
            Kind::Send { .. } => 0,
            Kind::Receive { .. } => operation.round + 1,
            Kind::Copy | Kind::Combine { .. } => needs,
        });
    }
}

/// For every pair of ranks the lengths of the messages, in order.
fn channels(schedules: &[Schedule]) -> BTreeMap<(usize, usize), (Vec<usize>, Vec<usize>)> {
    let mut channels: BTreeMap<(usize, usize), (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for schedule in schedules {
        for operation in schedule.operations() {
            let len = schedule.len(operation);
            match operation.kind {
                Kind::Send { peer } => channels.entry((schedule.rank, peer)).or_default().0.push(len),
                Kind::Receive { peer } => channels.entry((peer, schedule.rank)).or_default().1.push(len),
                Kind::Copy | Kind::Combine { .. } => {}
            }
        }
    }
    channels
}

fn matching(schedules: &[Schedule], violations: &mut Vec<Violation>) {
    for ((from, to), (sent, expected)) in channels(schedules) {
        if sent.len() != expected.len() || to >= schedules.len() || from >= schedules.len() {
            violations.push(Violation::Unmatched { from, to, sends: sent.len(), receives: expected.len() });
            continue;
        }
        for (message, (sent, expected)) in sent.into_iter().zip(expected).enumerate() {
            if sent != expected {
                violations.push(Violation::Length { from, to, message, sent, expected });
            }
        }
    }
}

fn edges(call: &Call, schedules: &[Schedule], violations: &mut Vec<Violation>) {
    let hosting = Hosting::new(call.size, call.ordered);
    let nodes = |rank: usize| {
        let node = hosting.node(rank);
        std::iter::once(node).chain(hosting.twin(node))
    };
    for (from, to) in channels(schedules).into_keys() {
        if !nodes(from).any(|a| nodes(to).any(|b| (a ^ b).is_power_of_two())) {
            violations.push(Violation::NotAnEdge { from, to });
        }
    }
}

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

struct Execution<'s> {
    ranks: Vec<Rank<'s>>,
    /// Started sends and receives that have not met their partner, by (from, to).
    waiting: HashMap<(usize, usize), (VecDeque<usize>, VecDeque<usize>)>,
    /// Contributors in order, and the terms made of two others.
    terms: Vec<Vec<u32>>,
    combined: HashMap<(u32, u32), u32>,
}

impl<'s> Execution<'s> {
    fn new(call: &Call, schedules: &'s [Schedule]) -> Execution<'s> {
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

    fn run(mut self, call: &Call, violations: &mut Vec<Violation>) {
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
