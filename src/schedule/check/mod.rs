//! Proves the schedules of all ranks right, without running them on anything.
//!
//! Statically: buffers are long enough and the send buffer is not written; every two operations that touch the same
//! elements, one of them writing, are ordered by dependencies, and no others; every send has its receive, in order and of equal length;
//! peers are neighbours on the cube; links to be avoided carry nothing; no message carries data that its sender gets in the same round.
//!
//! By symbolic execution under the rule of [`crate::schedule`], with the narrowest window and no buffering at all (a send ends when
//! its receive has started): no deadlock, and the postcondition of the collective. Values are (position of the space, who
//! contributed, in which order), so a contribution that is lost, counted twice or out of order shows. A matrix product is made
//! of contributions too: of each slab of the inner side one. Because messages
//! match in order and dependencies order all conflicts, the outcome is the same for every timing: one execution stands
//! for all.

mod barrier;
mod symbolic;
mod violation;

pub use violation::Violation;

use super::{BufferRange, Kind, Operation, Problem, Schedule};
use crate::collective::{Buffer, Call};
use barrier::barrier;
use std::collections::BTreeMap;
use symbolic::Execution;

/// The outcome of a check.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Report {
    /// Cost of the schedules.
    pub cost: super::Cost,
    /// All that is wrong; empty if nothing is.
    pub violations: Vec<Violation>,
}

/// Checks the schedules of all ranks of a call; `cube_edges`: whether all messages must go over edges of the cube.
///
/// # Examples
/// ```
/// use hypercoll::collective::{Buffer, Call, Collective};
/// use hypercoll::schedule::{check, BufferRange, Builder};
///
/// // Written by hand: a broadcast of 5 elements from rank 0 to rank 1.
/// let call = Call::new(Collective::Broadcast, 2, 5);
/// let schedules = |received| {
///     let vector = |len| [BufferRange { buffer: Buffer::Receive, offset: 0, len }];
///     let (mut root, mut other) = (Builder::new(), Builder::new());
///     root.send(0, 1, &vector(5));
///     other.receive(0, 0, &vector(received));
///     [root.finish(0, 2, 0), other.finish(1, 2, 0)]
/// };
/// assert!(check(&call, &schedules(5), true).violations.is_empty());
/// assert!(!check(&call, &schedules(4), true).violations.is_empty());
/// ```
pub fn check(call: &Call, schedules: &[Schedule], cube_edges: bool) -> Report {
    let mut report = Report { cost: super::Cost::of(schedules), violations: Vec::new() };
    if !schedules.iter().map(|schedule| schedule.rank).eq(0..call.size) {
        let found = schedules.iter().map(|schedule| schedule.rank).collect();
        report.violations.push(Violation::Ranks { found, size: call.size });
        return report;
    }
    for schedule in schedules {
        bounds(call, schedule, &mut report.violations);
        hazards(schedule, &mut report.violations);
        needless(schedule, &mut report.violations);
        rounds(schedule, &mut report.violations);
    }
    matching(schedules, &mut report.violations);
    if cube_edges {
        edges(call, schedules, &mut report.violations);
    }
    if let Some(avoid) = &call.avoid {
        let over = channels(schedules).into_keys().filter(|&(from, to)| avoid.contains(from, to));
        report.violations.extend(over.map(|(from, to)| Violation::Avoided { from, to }));
    }
    if report.violations.is_empty() {
        let narrow: Vec<Schedule> = schedules.iter().cloned().map(Schedule::over_links).collect();
        Execution::new(call, &narrow).run(call, &mut report.violations);
    }
    if report.violations.is_empty() && !call.collective.has_data() {
        barrier(schedules, &mut report.violations);
    }
    report
}

/// The ranges of an operation, each with whether it is written; a combination or product also reads what it writes.
fn accesses<'s>(schedule: &'s Schedule, operation: &'s Operation) -> impl Iterator<Item = (&'s BufferRange, bool)> {
    let ranges = schedule.ranges(operation).iter().enumerate();
    ranges.map(|(position, range)| (range, operation.kind.writes(position)))
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
        let fit = match operation.kind {
            Kind::Send { .. } | Kind::Receive { .. } => true,
            Kind::Copy | Kind::Combine { .. } => lens.len() == 2 && lens[0] == lens[1],
            Kind::Multiply { inner } => factors_fit(inner, schedule.ranges(operation)),
        };
        if !fit {
            violations.push(Violation::Operands { rank: schedule.rank, operation: index });
        }
    }
}

/// Whether three ranges can be two matrices, with `inner` columns and rows, and their product. An executor has its factors
/// elsewhere than in the receive buffer, and the product there.
fn factors_fit(inner: usize, ranges: &[BufferRange]) -> bool {
    let [a, b, c] = ranges else { return false };
    inner > 0
        && a.len.is_multiple_of(inner)
        && b.len.is_multiple_of(inner)
        && c.len == a.len / inner * (b.len / inner)
        && ranges.iter().map(|r| r.buffer == Buffer::Receive).eq([false, false, true])
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

/// Every dependency has its cause: elements that both operations touch and one of them writes, or signals.
fn needless(schedule: &Schedule, violations: &mut Vec<Violation>) {
    let operations = schedule.operations();
    let meet = |a: &Operation, b: &Operation| {
        accesses(schedule, a).any(|(x, x_writes)| {
            accesses(schedule, b).any(|(y, y_writes)| {
                let (x_at, y_at) = (x.indices(), y.indices());
                let overlap = x_at.start.max(y_at.start) < x_at.end.min(y_at.end);
                x.buffer == y.buffer && (x_writes || y_writes) && overlap
            })
        })
    };
    for (index, operation) in operations.iter().enumerate() {
        for &need in schedule.dependencies(operation) {
            let before = &operations[need as usize];
            let signals = matches!((before.kind, operation.kind), (Kind::Receive { .. }, Kind::Send { .. }))
                && schedule.ranges(before).is_empty()
                && schedule.ranges(operation).is_empty();
            if !signals && !meet(before, operation) {
                violations.push(Violation::Needless { rank: schedule.rank, operation: index, needs: need as usize });
            }
        }
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
            Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => needs,
        });
    }
}

/// For every pair of ranks the messages, sent and expected, in order: length and round.
type Channels = BTreeMap<(usize, usize), (Vec<(usize, usize)>, Vec<(usize, usize)>)>;

fn channels(schedules: &[Schedule]) -> Channels {
    let mut channels = Channels::new();
    for schedule in schedules {
        for operation in schedule.operations() {
            let message = (schedule.len(operation), operation.round);
            match operation.kind {
                Kind::Send { peer } => channels.entry((schedule.rank, peer)).or_default().0.push(message),
                Kind::Receive { peer } => channels.entry((peer, schedule.rank)).or_default().1.push(message),
                Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => {}
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
            if sent.0 != expected.0 {
                violations.push(Violation::Length { from, to, message, sent: sent.0, expected: expected.0 });
            }
            if sent.1 != expected.1 {
                violations.push(Violation::Rounds { from, to, message, sent: sent.1, expected: expected.1 });
            }
        }
    }
}

fn edges(call: &Call, schedules: &[Schedule], violations: &mut Vec<Violation>) {
    let hosting = Problem::new(call).hosting;
    let nodes = |rank: usize| {
        let node = hosting.node(rank);
        std::iter::once(node).chain(hosting.twin(node))
    };
    // A peer that is no rank is a message without a partner, and has been refused as such.
    let ranks = |&(from, to): &(usize, usize)| from < call.size && to < call.size;
    for (from, to) in channels(schedules).into_keys().filter(ranks) {
        if !nodes(from).any(|a| nodes(to).any(|b| (a ^ b).is_power_of_two())) {
            violations.push(Violation::NotAnEdge { from, to });
        }
    }
}
