//! The simulator: schedules in virtual time.
//!
//! Every message takes a start-up tau (for each internal packet, if the machine has a largest one) and t_c an element. It
//! starts when its send and its receive may start by the rule of [`crate::schedule`] and the ports of both ranks are free;
//! ports serve messages in program order. There is no barrier between rounds: a rank is as early as its data and ports
//! allow. Copies, combinations and products take no time, as in the papers.
//!
//! On some machines the end of one communication overlaps with the beginning of the next one on another port
//! ([`Machine::overlap`]; Ho & Johnsson 1986, section 5.2, saw 20 % on the Intel iPSC).
//!
//! ```
//! use hypercoll::algorithm::{registry, verify, Parameters, PortModel};
//! use hypercoll::collective::{Call, Collective};
//! use hypercoll::executor::simulator::{simulate, Machine};
//!
//! // 96 elements to 8 nodes: whole along the binomial tree, or in packets of 12 along three edge-disjoint trees?
//! let call = Call::new(Collective::Broadcast, 8, 96);
//! let machine = Machine::new(10.0, 1.0, PortModel::OnePort);
//! let time = |name, packet| {
//!     let algorithm = registry::find(Collective::Broadcast, name).unwrap();
//!     let parameters = Parameters { packet, ..Parameters::new(PortModel::OnePort) };
//!     simulate(&verify::schedules(algorithm, &call, &parameters), &machine).unwrap().time
//! };
//! assert_eq!(time("sbt", None), 3.0 * (10.0 + 96.0));
//! assert_eq!(time("msbt", Some(12)), (96.0 / 12.0 + 3.0) * (10.0 + 12.0));
//! ```

use crate::schedule::{legal, Kind, PortModel, Schedule, Violation};
use std::collections::{HashMap, VecDeque};

/// A machine in virtual time. Units are the user's: any unit of time, per message and per element.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Machine {
    /// Start-up time of a packet.
    pub tau: f64,
    /// Transfer time of an element.
    pub t_c: f64,
    /// What a node does at once.
    pub ports: PortModel,
    /// Largest internal packet in elements, if the machine has one: a longer message pays a start-up for each.
    pub max_packet: Option<usize>,
    /// The part of an operation's time, from 0 to 1, at the end of which the next one on another port may already be under
    /// way, where a node does not use all ports at once anyway.
    pub overlap: f64,
}

impl Machine {
    /// A machine without internal packets and without overlap.
    pub fn new(tau: f64, t_c: f64, ports: PortModel) -> Machine {
        Machine { tau, t_c, ports, max_packet: None, overlap: 0.0 }
    }

    /// The Intel iPSC (1985; the iPSC/d7 has 128 nodes): elements are bytes, times are seconds.
    ///
    /// Internal packets of at most 1 KiB, and 20 % overlap of communications on different ports, are what Ho & Johnsson 1986
    /// say in section 5. The two times are not in their papers: 1 us a byte is the nominal 10 Mbit/s of a channel, and 5 ms a
    /// start-up is the order of magnitude of the machine's first system software, a round figure (later releases came
    /// down to about 1 ms). What is measured in start-ups, as most of the papers' curves, does not depend on it.
    pub fn ipsc() -> Machine {
        Machine { tau: 5e-3, t_c: 1e-6, ports: PortModel::OnePort, max_packet: Some(1024), overlap: 0.2 }
    }

    /// The time of one message.
    pub fn duration(&self, elements: usize) -> f64 {
        let packets = self.max_packet.map_or(1, |packet| elements.div_ceil(packet.max(1)).max(1));
        packets as f64 * self.tau + elements as f64 * self.t_c
    }
}

/// When each rank was done, and each operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Timeline {
    /// The time at which the last rank was done.
    pub time: f64,
    /// By rank and operation: start and end.
    pub operations: Vec<Vec<(f64, f64)>>,
}

/// Runs the schedules of all ranks in virtual time.
///
/// # Errors
/// The violations, if the schedules are not one for each rank, in order, if one does more in a round than the ports of the machine
/// allow, or if one never comes to its end.
pub fn simulate(schedules: &[Schedule], machine: &Machine) -> Result<Timeline, Vec<Violation>> {
    let size = schedules.first().map_or(0, |schedule| schedule.size);
    if !schedules.iter().map(|schedule| schedule.rank).eq(0..size) {
        let found = schedules.iter().map(|schedule| schedule.rank).collect();
        return Err(vec![Violation::Ranks { found, size }]);
    }
    let illegal = legal(schedules, machine.ports, 1);
    if !illegal.is_empty() {
        return Err(illegal);
    }
    let mut simulation = Simulation::new(schedules, machine);
    simulation.run();
    let stuck: Vec<_> =
        simulation.ranks.iter().enumerate().filter(|(_, r)| r.head < r.times.len()).map(|(i, r)| (i, r.head)).collect();
    if !stuck.is_empty() {
        return Err(vec![Violation::Deadlock(stuck)]);
    }
    let operations: Vec<Vec<(f64, f64)>> =
        simulation.ranks.into_iter().map(|r| r.times.into_iter().flatten().collect()).collect();
    let time = operations.iter().flatten().map(|t| t.1).fold(0.0, f64::max);
    Ok(Timeline { time, operations })
}

struct Rank<'s> {
    schedule: &'s Schedule,
    /// Start and end of the operations that have been given a time.
    times: Vec<Option<(f64, f64)>>,
    head: usize,
    /// `done[i]`: when the operations before i are all complete.
    done: Vec<f64>,
    /// The partner of each message: the index of the operation on the peer.
    partner: Vec<usize>,
    /// What keeps the ports busy before each message.
    before: Vec<Before>,
    /// The part of an operation's time that may overlap with the next one on another port.
    overlap: f64,
}

/// The last message before another one that uses the same resource, and the last one that uses the same port as well.
#[derive(Clone, Copy, Default)]
struct Before {
    any: Option<usize>,
    same_port: Option<usize>,
}

struct Simulation<'s> {
    ranks: Vec<Rank<'s>>,
    machine: &'s Machine,
}

impl<'s> Simulation<'s> {
    fn new(schedules: &'s [Schedule], machine: &'s Machine) -> Simulation<'s> {
        let mut ends: HashMap<(usize, usize, bool), Vec<usize>> = HashMap::new();
        let mut ordinals: Vec<Vec<usize>> = Vec::new();
        for schedule in schedules {
            let mut own = Vec::new();
            for (index, operation) in schedule.operations().iter().enumerate() {
                let key = match operation.kind {
                    Kind::Send { peer } => (schedule.rank, peer, true),
                    Kind::Receive { peer } => (peer, schedule.rank, false),
                    Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => {
                        own.push(0);
                        continue;
                    }
                };
                let list = ends.entry(key).or_default();
                own.push(list.len());
                list.push(index);
            }
            ordinals.push(own);
        }
        let ranks = schedules.iter().map(|schedule| {
            let mut partner = Vec::new();
            let mut before = Vec::new();
            let mut last: HashMap<(bool, Option<usize>), usize> = HashMap::new();
            let mut last_on_port: HashMap<(bool, usize), usize> = HashMap::new();
            for (index, operation) in schedule.operations().iter().enumerate() {
                let (sends, peer) = match operation.kind {
                    Kind::Send { peer } => (true, peer),
                    Kind::Receive { peer } => (false, peer),
                    Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => {
                        partner.push(usize::MAX);
                        before.push(Before::default());
                        continue;
                    }
                };
                let other = if sends { (schedule.rank, peer, false) } else { (peer, schedule.rank, true) };
                let ordinal = ordinals[schedule.rank][index];
                partner.push(ends.get(&other).and_then(|list| list.get(ordinal)).copied().unwrap_or(usize::MAX));
                let resource = match machine.ports {
                    PortModel::OneWay => (true, None),
                    PortModel::OnePort => (sends, None),
                    PortModel::AllPorts => (sends, Some(peer)),
                };
                let same_port = last_on_port.insert((resource.0, peer), index);
                before.push(Before { any: last.insert(resource, index), same_port });
            }
            let len = schedule.operations().len();
            let overlap = machine.overlap.clamp(0.0, 1.0);
            Rank { schedule, times: vec![None; len], head: 0, done: vec![0.0; len + 1], partner, before, overlap }
        });
        Simulation { ranks: ranks.collect(), machine }
    }

    fn run(&mut self) {
        let mut awake: VecDeque<usize> = (0..self.ranks.len()).collect();
        while let Some(rank) = awake.pop_front() {
            while let Some((index, peer)) = self.next(rank) {
                awake.extend(peer);
                self.assign_times(rank, index, peer);
            }
        }
    }

    /// An operation of a rank whose time can be told, with its peer if it is a message.
    fn next(&self, at: usize) -> Option<(usize, Option<usize>)> {
        let rank = &self.ranks[at];
        rank.opened().filter(|&index| rank.times[index].is_none()).find_map(|index| {
            rank.ready(index)?;
            match rank.schedule.operations()[index].kind {
                Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => Some((index, None)),
                Kind::Send { peer } | Kind::Receive { peer } => {
                    let other = self.ranks.get(peer)?;
                    let partner = rank.partner[index];
                    let known = partner < other.times.len() && other.schedule.opens(partner) <= other.head;
                    (known && other.ready(partner).is_some()).then_some((index, Some(peer)))
                }
            }
        })
    }

    /// Gives an operation, and its partner, their time.
    fn assign_times(&mut self, at: usize, index: usize, peer: Option<usize>) {
        let rank = &self.ranks[at];
        let mut start = rank.ready(index).unwrap_or(0.0);
        let mut end = start;
        if let Some(peer) = peer {
            let partner = rank.partner[index];
            start = start.max(self.ranks[peer].ready(partner).unwrap_or(0.0));
            end = start + self.machine.duration(rank.schedule.len(&rank.schedule.operations()[index]));
            self.ranks[peer].set(partner, start, end);
        }
        self.ranks[at].set(index, start, end);
    }
}

impl Rank<'_> {
    /// The operations from the first incomplete one that are not too far ahead of it.
    fn opened(&self) -> impl Iterator<Item = usize> + '_ {
        (self.head..self.times.len()).take_while(|&index| self.schedule.opens(index) <= self.head)
    }

    /// The earliest start of an operation, if all that it waits for has its time.
    fn ready(&self, index: usize) -> Option<f64> {
        let operation = &self.schedule.operations()[index];
        let mut time = self.done[self.schedule.opens(index)];
        for &need in self.schedule.dependencies(operation) {
            time = time.max(self.times[need as usize]?.1);
        }
        if let Some(before) = self.schedule.channel_predecessor(operation) {
            time = time.max(self.times[before as usize]?.0);
        }
        let Before { any, same_port } = self.before[index];
        if let Some(before) = any {
            let (start, end) = self.times[before]?;
            time = time.max(end - self.overlap * (end - start));
        }
        if let Some(before) = same_port {
            time = time.max(self.times[before]?.1);
        }
        Some(time)
    }

    fn set(&mut self, index: usize, start: f64, end: f64) {
        self.times[index] = Some((start, end));
        while let Some(Some((_, end))) = self.times.get(self.head) {
            self.done[self.head + 1] = self.done[self.head].max(*end);
            self.head += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{
        registry::ALGORITHMS,
        verify::{self, schedules},
        Parameters, Shape,
    };
    use crate::collective::{Call, Collective};

    /// Without barriers no rank is later than round by round; where nothing is rounded the papers' algorithms have no slack,
    /// so the time is the formula's. (The permutation is one that moves every part twice.)
    #[test]
    fn times_are_the_formulas() {
        let mut equal = 0;
        for algorithm in ALGORITHMS {
            for n in 1..=5u32 {
                for ports in PortModel::ALL {
                    for (packet, symmetrized) in [(None, false), (None, true), (Some(96), false)] {
                        let count = 96 * 60;
                        let mut call = Call::new(algorithm.collective, 1 << n, count);
                        if call.collective == Collective::Permute {
                            call.permutation = Some((0..1 << n).rev().collect());
                        }
                        let parameters = Parameters { packet, symmetrized, ..Parameters::new(ports) };
                        // A start-up as dear as this cannot hide behind other messages; see `verify` for what flows.
                        let cut = packet.is_some() && algorithm.cuts(ports);
                        if algorithm.flows || cut || algorithm.accepts(&call, &parameters).is_err() {
                            continue;
                        }
                        let (tau, t_c) = (1000.0, 1.0);
                        let machine = Machine::new(tau, t_c, ports);
                        let time = simulate(&schedules(algorithm, &call, &parameters), &machine).unwrap().time;
                        let formula = (algorithm.formula)(&Shape::new(&call, &parameters)).time(tau, t_c);
                        let case = format!("{algorithm:?} n = {n} {parameters:?}: {time} for {formula}");
                        assert!(time <= formula * (1.0 + 1e-9), "{case}");
                        let slack = match algorithm.source {
                            // One port, a subtree need not wait for the longest message of the round before.
                            "HJ88 SBnT" | "HJ86 BST" => ports != PortModel::AllPorts,
                            // In the square no node needs the third step of a packet.
                            "HJ86 TCBT" => ports == PortModel::OneWay && n == 2,
                            // Where the grid is not square, the shorter operand's steps need not wait for the longer one's.
                            "HJE all-to-all broadcasts" => n % 2 == 1,
                            // What goes down to a rank need not wait for what comes up from there.
                            "classic k-nomial tree" => {
                                matches!(call.collective, Collective::AllGather | Collective::ReduceScatter)
                            }
                            // With two children at most nothing starts in some units of the latency that it is made for.
                            "SS03 Fibonacci tree" => n > 1,
                            _ => false,
                        };
                        if !slack {
                            assert!(time >= formula * (1.0 - 1e-9), "{case}");
                            equal += 1;
                        }
                    }
                }
            }
        }
        assert!(equal > 100);
    }

    #[test]
    fn internal_packets_each_pay_a_start_up() {
        let call = Call::new(Collective::Broadcast, 2, 10);
        let parameters = Parameters::new(PortModel::OnePort);
        let schedules = schedules(&ALGORITHMS[0], &call, &parameters);
        let machine = Machine { max_packet: Some(4), ..Machine::new(5.0, 1.0, PortModel::OnePort) };
        assert_eq!(simulate(&schedules, &machine).unwrap().time, 3.0 * 5.0 + 10.0);
    }

    /// The root of the 2-cube's SBT sends over port 0, then over port 1; node 1 sends on to node 3 as soon as it has all.
    #[test]
    fn ports_overlap_partly() {
        let call = Call::new(Collective::Broadcast, 4, 10);
        let schedules = schedules(&ALGORITHMS[0], &call, &Parameters::new(PortModel::OnePort));
        let starts = |overlap: f64| {
            let machine = Machine { overlap, ..Machine::new(0.0, 1.0, PortModel::OnePort) };
            let timeline = simulate(&schedules, &machine).unwrap();
            let mut starts: Vec<f64> = timeline.operations[0].iter().map(|t| t.0).collect();
            starts.sort_by(f64::total_cmp);
            (starts, timeline.time)
        };
        assert_eq!(starts(0.0), (vec![0.0, 10.0], 20.0));
        assert_eq!(starts(0.25), (vec![0.0, 7.5], 20.0));
        // One port only, in packets: nothing overlaps.
        let call = Call::new(Collective::Broadcast, 2, 12);
        let parameters = Parameters { packet: Some(4), ..Parameters::new(PortModel::OnePort) };
        let schedules = verify::schedules(&ALGORITHMS[0], &call, &parameters);
        let machine = Machine { overlap: 0.5, ..Machine::new(1.0, 1.0, PortModel::OnePort) };
        assert_eq!(simulate(&schedules, &machine).unwrap().time, 15.0);
    }

    #[test]
    fn more_than_the_ports_allow_is_refused() {
        let call = Call::new(Collective::AllGather, 8, 12);
        let schedules = schedules(
            crate::algorithm::registry::find(Collective::AllGather, "complete_broadcast").unwrap(),
            &call,
            &Parameters::new(PortModel::AllPorts),
        );
        let machine = Machine::new(1.0, 1.0, PortModel::OnePort);
        assert!(matches!(simulate(&schedules, &machine).unwrap_err()[0], Violation::Ports { .. }));
    }

    #[test]
    fn schedules_of_some_ranks_only_are_refused() {
        let call = Call::new(Collective::Broadcast, 4, 10);
        let all = schedules(&ALGORITHMS[0], &call, &Parameters::new(PortModel::OnePort));
        let machine = Machine::new(1.0, 1.0, PortModel::OnePort);
        let reversed: Vec<Schedule> = all.iter().rev().cloned().collect();
        let some = [(&all[1..], vec![1, 2, 3]), (&all[..3], vec![0, 1, 2]), (&reversed[..], vec![3, 2, 1, 0])];
        for (schedules, found) in some {
            assert_eq!(simulate(schedules, &machine), Err(vec![Violation::Ranks { found, size: 4 }]));
        }
        assert!(simulate(&all, &machine).is_ok() && simulate(&[], &machine).is_ok());
    }
}
