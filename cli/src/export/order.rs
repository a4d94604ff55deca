//! A schedule as the steps of a program that has one thread and waits for single messages.
//!
//! A schedule says what must be complete before an operation starts; such a program says one thing after another. Sends start in the
//! order of the schedule, and so do receives. Receives are started before anything is waited for, as far ahead as the schedule allows.
//! Copies and combinations are done when something needs their results, so that none of them keeps a send waiting. A message is waited
//! for when an operation needs it, when the rank may not run further ahead, or at the end.
//!
//! All that the schedule asks for holds: an operation starts when all its dependencies are complete, and so many operations before it as
//! [`Schedule::opens`] says. A program is stricter in one thing: where a send waits, later ones wait with it.
//!
//! # Messages in flight
//! A port sends one message after the other, and so a rank has the first packet of a train early. Where a simulator lets all messages that
//! have started share a link, none of a train would be there before the last one. [`InFlight`] keeps a rank from starting more than the
//! port would have under way. It counts by turns, not by messages: a turn is a round, or, where messages of a round are cut into packets,
//! the k-th packets of a round. All messages of a turn may be under way together, so that no rank waits for one that waits for it: those
//! of the first turn need no other, and those of a later one earlier ones only.

use hypercoll::schedule::{Kind, PortModel, Schedule};
use std::collections::HashMap;

/// How many turns a port has under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InFlight {
    /// At least 1; `None`: as many as the schedule lets a rank run ahead.
    pub turns: Option<usize>,
    /// What a port is: one for what is sent and what is received, one for each, or one for each peer.
    pub ports: PortModel,
}

/// What a program does next with an operation, of which the index is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It starts a message.
    Start(usize),
    /// It waits for a message that it has started.
    Wait(usize),
    /// It copies or combines.
    Compute(usize),
    /// It waits for all that is left.
    WaitForAll,
}

/// The steps of a schedule.
pub fn steps(schedule: &Schedule, in_flight: InFlight) -> Vec<Step> {
    let len = schedule.operations().len();
    let mut program = Program {
        schedule,
        turns: turns(schedule, in_flight),
        under_way: HashMap::new(),
        states: vec![State::Open; len],
        head: 0,
        receives: 0,
        steps: Vec::new(),
    };
    for index in 0..len {
        for before in program.head..schedule.opens(index) {
            program.complete(before);
        }
        if program.is_message(index) && program.states[index] == State::Open {
            let operation = &schedule.operations()[index];
            schedule.dependencies(operation).iter().for_each(|&need| program.complete(need as usize));
            program.before_its_turn(index).into_iter().for_each(|before| program.complete(before));
            program.start(index);
        }
    }
    program.start_receives();
    for index in 0..len {
        if !program.is_message(index) {
            program.complete(index);
        }
    }
    if program.states.contains(&State::Started) {
        program.steps.push(Step::WaitForAll);
    }
    program.steps
}

/// What sends or receives one message after the other: a direction, or both, and a peer, or any.
type Port = (Option<bool>, Option<usize>);

/// A message's port, and the last turn there that must be complete before the message starts.
#[derive(Clone, Copy)]
struct Turn {
    port: Port,
    number: usize,
    after: Option<usize>,
}

/// The turns of messages; none of operations that are no messages, or where turns do not count.
fn turns(schedule: &Schedule, in_flight: InFlight) -> Vec<Option<Turn>> {
    let Some(limit) = in_flight.turns else { return vec![None; schedule.operations().len()] };
    // Messages of a channel in a round so far; and by port, the turns as (round, messages before it) with their numbers.
    let mut packets: HashMap<(bool, usize, usize), usize> = HashMap::new();
    let mut messages: Vec<Option<(Port, (usize, usize))>> = Vec::new();
    for operation in schedule.operations() {
        let (sends, peer) = match operation.kind {
            Kind::Send { peer } => (true, peer),
            Kind::Receive { peer } => (false, peer),
            Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => {
                messages.push(None);
                continue;
            }
        };
        let packet = packets.entry((sends, peer, operation.round)).or_default();
        let turn = (operation.round, if schedule.cut { *packet } else { 0 });
        *packet += 1;
        let port = match in_flight.ports {
            PortModel::OneWay => (None, None),
            PortModel::OnePort => (Some(sends), None),
            PortModel::AllPorts => (Some(sends), Some(peer)),
        };
        messages.push(Some((port, turn)));
    }
    let mut numbers: HashMap<Port, Vec<(usize, usize)>> = HashMap::new();
    for (port, turn) in messages.iter().flatten() {
        numbers.entry(*port).or_default().push(*turn);
    }
    for turns in numbers.values_mut() {
        turns.sort_unstable();
        turns.dedup();
    }
    let number = |(port, turn): (Port, (usize, usize))| {
        let number = numbers[&port].partition_point(|&other| other < turn);
        Turn { port, number, after: number.checked_sub(limit) }
    };
    messages.into_iter().map(|message| message.map(number)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Started,
    Complete,
}

struct Program<'s> {
    schedule: &'s Schedule,
    turns: Vec<Option<Turn>>,
    /// By port, the messages that have started and are not complete, in the order of their start.
    under_way: HashMap<Port, Vec<usize>>,
    states: Vec<State>,
    /// The first operation that is not complete.
    head: usize,
    /// Operations before this one have started, if they are receives.
    receives: usize,
    steps: Vec<Step>,
}

impl Program<'_> {
    fn is_message(&self, index: usize) -> bool {
        matches!(self.schedule.operations()[index].kind, Kind::Send { .. } | Kind::Receive { .. })
    }

    fn start(&mut self, index: usize) {
        self.states[index] = State::Started;
        self.steps.push(Step::Start(index));
        if let Some(turn) = &self.turns[index] {
            self.under_way.entry(turn.port).or_default().push(index);
        }
    }

    /// The messages under way that must be complete before it is a message's turn.
    fn before_its_turn(&self, index: usize) -> Vec<usize> {
        let Some(Turn { port, after: Some(after), .. }) = self.turns[index] else { return Vec::new() };
        let under_way = self.under_way.get(&port).into_iter().flatten().copied();
        under_way.filter(|&other| self.turns[other].is_some_and(|turn| turn.number <= after)).collect()
    }

    /// Starts receives in their order, up to the first one that may not start yet.
    fn start_receives(&mut self) {
        while self.receives < self.states.len() {
            let index = self.receives;
            let operation = &self.schedule.operations()[index];
            if matches!(operation.kind, Kind::Receive { .. }) && self.states[index] == State::Open {
                let dependencies = self.schedule.dependencies(operation);
                let ready = dependencies.iter().all(|&need| self.states[need as usize] == State::Complete);
                if !ready || self.schedule.opens(index) > self.head || !self.before_its_turn(index).is_empty() {
                    return;
                }
                self.start(index);
            }
            self.receives += 1;
        }
    }

    /// Comes to the end of an operation, and of what it needs: operations before one that starts, so messages among them have started.
    fn complete(&mut self, index: usize) {
        let mut pending = vec![index];
        while let Some(&index) = pending.last() {
            if self.states[index] == State::Complete {
                pending.pop();
                continue;
            }
            if self.states[index] == State::Open {
                let operation = &self.schedule.operations()[index];
                let needs = self.schedule.dependencies(operation).iter().map(|&need| need as usize);
                let known = pending.len();
                pending.extend(needs.filter(|&need| self.states[need] != State::Complete).rev());
                if pending.len() > known {
                    continue;
                }
            }
            pending.pop();
            if self.is_message(index) {
                self.start_receives();
                self.steps.push(Step::Wait(index));
                if let Some(turn) = &self.turns[index] {
                    self.under_way.entry(turn.port).or_default().retain(|&other| other != index);
                }
            } else {
                self.steps.push(Step::Compute(index));
            }
            self.states[index] = State::Complete;
            while self.states.get(self.head) == Some(&State::Complete) {
                self.head += 1;
            }
        }
    }
}
