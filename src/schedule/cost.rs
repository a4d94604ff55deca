//! What the schedules of all ranks cost: rounds, messages, the load of every directed link.

use super::{Kind, Schedule, Violation};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;

/// What a node may do at once, as the papers count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum PortModel {
    /// One send or one receive at a time.
    OneWay,
    /// One send and one receive at a time.
    OnePort,
    /// A send and a receive on every port at a time.
    AllPorts,
}

impl PortModel {
    /// All port models.
    pub const ALL: [PortModel; 3] = [PortModel::OneWay, PortModel::OnePort, PortModel::AllPorts];

    /// The model of nodes that have n ports of which so many work at once: one port or all, whichever is nearer.
    pub(crate) fn nearest(ports: u32, n: u32) -> PortModel {
        if ports > n / 2 && ports > 1 {
            PortModel::AllPorts
        } else {
            PortModel::OnePort
        }
    }

    /// The name in print.
    pub fn name(self) -> &'static str {
        match self {
            PortModel::OneWay => "one-way",
            PortModel::OnePort => "one-port",
            PortModel::AllPorts => "all-ports",
        }
    }
}

impl fmt::Display for PortModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PortModel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        PortModel::ALL
            .into_iter()
            .find(|m| m.name() == text.replace('_', "-"))
            .ok_or_else(|| format!("unknown port model '{text}'; known: one-way, one-port, all-ports"))
    }
}

/// The cost of one collective call, over all ranks.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Cost {
    /// Rounds in which at least one message is under way.
    pub rounds: usize,
    /// Messages in all.
    pub messages: usize,
    /// Elements in all, each counted on every link that it crosses: the transmissions.
    pub elements: usize,
    /// The largest number of elements that one directed link carries in all.
    pub max_link_load: usize,
    /// The largest number of elements that one rank sends in all, or receives, whichever are more.
    pub max_port_load: usize,
    /// The largest number of elements on one directed link, round by round.
    pub longest: Vec<usize>,
    /// The largest scratch memory of a rank, in elements.
    pub scratch: usize,
    /// Elements that are received one after the other until the last rank has its result, if a rank receives one message at a time,
    /// round after round, within a round as they come, and nothing else takes time; `None` if some rank waits for ever.
    pub path: Option<usize>,
}

impl Cost {
    /// Adds up the schedules of all ranks.
    pub fn of(schedules: &[Schedule]) -> Cost {
        let mut rounds: BTreeMap<usize, HashMap<(usize, usize), usize>> = BTreeMap::new();
        let mut links: HashMap<(usize, usize), usize> = HashMap::new();
        let mut cost = Cost::default();
        for schedule in schedules {
            cost.scratch = cost.scratch.max(schedule.scratch);
            for operation in schedule.operations() {
                if let Kind::Send { peer } = operation.kind {
                    let len = schedule.len(operation);
                    let link = (schedule.rank, peer);
                    *rounds.entry(operation.round).or_default().entry(link).or_default() += len;
                    *links.entry(link).or_default() += len;
                    cost.messages += 1;
                    cost.elements += len;
                }
            }
        }
        let (mut sent, mut received) = (HashMap::<usize, usize>::new(), HashMap::<usize, usize>::new());
        for (&(from, to), len) in &links {
            *sent.entry(from).or_default() += len;
            *received.entry(to).or_default() += len;
        }
        cost.max_port_load = sent.into_values().chain(received.into_values()).max().unwrap_or(0);
        cost.rounds = rounds.len();
        cost.max_link_load = links.into_values().max().unwrap_or(0);
        cost.longest = rounds.into_values().map(|loads| loads.into_values().max().unwrap_or(0)).collect();
        cost.path = path(schedules);
        cost
    }

    /// The time if all nodes go from round to round together: each round takes a start-up `tau` and the transfer of its
    /// longest message at `t_c` an element.
    pub fn time(&self, tau: f64, t_c: f64) -> f64 {
        self.longest.iter().map(|&len| tau + len as f64 * t_c).sum()
    }

    /// The sum over rounds of the longest message, in elements.
    pub fn longest_sum(&self) -> usize {
        self.longest.iter().sum()
    }
}

/// [`Cost::path`].
fn path(schedules: &[Schedule]) -> Option<usize> {
    let mut ranks: Vec<Receiver> = schedules.iter().map(Receiver::new).collect();
    // By channel, when the data of each message so far was there.
    let mut sent: HashMap<(usize, usize), VecDeque<usize>> = HashMap::new();
    let mut awake: VecDeque<usize> = (0..ranks.len()).collect();
    while let Some(rank) = awake.pop_front() {
        while let Some(peers) = ranks[rank].advance(&mut sent) {
            // Wrong schedules may name ranks that there are not.
            awake.extend(peers.into_iter().filter(|&peer| peer < schedules.len()));
        }
    }
    let complete = ranks.iter().all(|rank| rank.next == rank.schedule.operations().len());
    complete.then(|| ranks.iter().map(|rank| rank.received).max().unwrap_or(0))
}

/// A rank on its way through its schedule, round by round.
struct Receiver<'s> {
    schedule: &'s Schedule,
    /// The first operation of the round at hand, and whether its sends have gone.
    next: usize,
    sends_gone: bool,
    /// When each operation was done.
    ends: Vec<usize>,
    /// When the last message was.
    received: usize,
}

impl<'s> Receiver<'s> {
    fn new(schedule: &'s Schedule) -> Receiver<'s> {
        let ends = vec![0; schedule.operations().len()];
        Receiver { schedule, next: 0, sends_gone: false, ends, received: 0 }
    }

    fn ready(&self, index: usize) -> usize {
        let needs = self.schedule.dependencies(&self.schedule.operations()[index]);
        needs.iter().map(|&need| self.ends[need as usize]).max().unwrap_or(0)
    }

    /// Sends all of a round, or receives all of it and does what follows: the ranks to which it has sent; `None` if it cannot yet.
    fn advance(&mut self, sent: &mut HashMap<(usize, usize), VecDeque<usize>>) -> Option<Vec<usize>> {
        let (rank, operations) = (self.schedule.rank, self.schedule.operations());
        let round = operations.get(self.next)?.round;
        let indices = self.next..operations.len();
        let of_round: Vec<usize> = indices.take_while(|&index| operations[index].round == round).collect();
        let mut peers = Vec::new();
        if !self.sends_gone {
            for &index in &of_round {
                if let Kind::Send { peer } = operations[index].kind {
                    self.ends[index] = self.ready(index);
                    sent.entry((rank, peer)).or_default().push_back(self.ends[index]);
                    peers.push(peer);
                }
            }
            self.sends_gone = true;
            return Some(peers);
        }
        let mut expected: HashMap<usize, usize> = HashMap::new();
        for &index in &of_round {
            if let Kind::Receive { peer } = operations[index].kind {
                *expected.entry(peer).or_default() += 1;
            }
        }
        if expected.iter().any(|(&peer, &count)| sent.get(&(peer, rank)).map_or(0, VecDeque::len) < count) {
            return None;
        }
        let mut there: Vec<(usize, usize)> = Vec::new();
        for &index in &of_round {
            if let Kind::Receive { peer } = operations[index].kind {
                let data = sent.get_mut(&(peer, rank)).and_then(VecDeque::pop_front).unwrap_or(0);
                there.push((data.max(self.ready(index)), index));
            }
        }
        // As they come.
        there.sort_unstable();
        for (data, index) in there {
            self.received = self.received.max(data) + self.schedule.len(&operations[index]);
            self.ends[index] = self.received;
        }
        for &index in &of_round {
            if !matches!(operations[index].kind, Kind::Send { .. } | Kind::Receive { .. }) {
                self.ends[index] = self.ready(index);
            }
        }
        self.next += of_round.len();
        self.sends_gone = false;
        Some(peers)
    }
}

/// Whether no rank does more in any round than its ports allow, where it plays so many `nodes` at most: on one port as much as each
/// of them may. (On all ports what goes between two ranks is one message.) Where messages are cut into packets ([`Schedule::cut`]),
/// those of a round between two ranks count as one message.
pub fn legal(schedules: &[Schedule], ports: PortModel, nodes: usize) -> Vec<Violation> {
    let mut violations = Vec::new();
    for schedule in schedules {
        // By round and what its messages would share: direction and peer of those seen.
        let mut seen: HashMap<_, Vec<(bool, usize)>> = HashMap::new();
        for operation in schedule.operations() {
            let (sends, peer) = match operation.kind {
                Kind::Send { peer } => (true, peer),
                Kind::Receive { peer } => (false, peer),
                Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => continue,
            };
            let slot = match ports {
                PortModel::OneWay => (operation.round, true, None),
                PortModel::OnePort => (operation.round, sends, None),
                PortModel::AllPorts => (operation.round, sends, Some(peer)),
            };
            let messages = seen.entry(slot).or_default();
            if schedule.cut && messages.contains(&(sends, peer)) {
                continue;
            }
            messages.push((sends, peer));
            let allowed = if ports == PortModel::AllPorts { 1 } else { nodes };
            if messages.len() == allowed + 1 {
                violations.push(Violation::Ports { rank: schedule.rank, round: operation.round, ports });
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::Buffer;
    use crate::schedule::{BufferRange, Builder};

    /// Two messages to each of some ranks in one round, as packets of one or not.
    fn sends(peers: &[usize], packets: bool) -> Vec<Schedule> {
        let mut builder = Builder::new();
        for offset in 0..2 {
            if packets && offset > 0 {
                builder.step();
            }
            for &peer in peers {
                builder.send(0, peer, &[BufferRange { buffer: Buffer::Send, offset, len: 1 }]);
            }
        }
        vec![builder.finish(0, 4, 0)]
    }

    #[test]
    fn packets_of_a_message_count_once_and_messages_each() {
        for ports in PortModel::ALL {
            assert!(legal(&sends(&[1], true), ports, 1).is_empty(), "{ports}");
            assert!(!legal(&sends(&[1], false), ports, 1).is_empty(), "{ports}");
            assert_eq!(legal(&sends(&[1, 2], true), ports, 1).is_empty(), ports == PortModel::AllPorts, "{ports}");
            assert!(legal(&sends(&[1, 2], true), ports, 2).is_empty(), "{ports}");
            assert_eq!(legal(&sends(&[1, 2, 4], true), ports, 2).is_empty(), ports == PortModel::AllPorts, "{ports}");
        }
    }
}
