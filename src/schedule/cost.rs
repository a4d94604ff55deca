//! What the schedules of all ranks cost: rounds, messages, the load of every directed link.

use super::{Kind, Schedule, Violation};
use std::collections::{BTreeMap, HashMap};
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
    /// The largest number of elements on one directed link, round by round.
    pub longest: Vec<usize>,
}

impl Cost {
    /// Adds up the schedules of all ranks.
    pub fn of(schedules: &[Schedule]) -> Cost {
        let mut rounds: BTreeMap<usize, HashMap<(usize, usize), usize>> = BTreeMap::new();
        let mut links: HashMap<(usize, usize), usize> = HashMap::new();
        let mut cost = Cost::default();
        for schedule in schedules {
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
        cost.rounds = rounds.len();
        cost.max_link_load = links.into_values().max().unwrap_or(0);
        cost.longest = rounds.into_values().map(|loads| loads.into_values().max().unwrap_or(0)).collect();
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

/// Whether no rank does more in any round than its ports allow. Where messages are cut into packets ([`Schedule::cut`]), those of a
/// round between two ranks count as one message.
pub fn legal(schedules: &[Schedule], ports: PortModel) -> Vec<Violation> {
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
            if messages.len() == 2 {
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
            assert!(legal(&sends(&[1], true), ports).is_empty(), "{ports}");
            assert!(!legal(&sends(&[1], false), ports).is_empty(), "{ports}");
            assert_eq!(legal(&sends(&[1, 2], true), ports).is_empty(), ports == PortModel::AllPorts, "{ports}");
        }
    }
}
