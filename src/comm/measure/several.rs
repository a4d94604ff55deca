//! The start-up of messages over links: ranks send one each to several of the others. Those of a train to one and the same rank are taken
//! from the network together, and take less than in any call.

use super::messages::Messages;
use super::{agree, first_of, of_one_more, ROUNDS, SHORT, TURNS};
use crate::address::Hosts;
use crate::comm::Hypercube;
use crate::error::Result;
use crate::operation::SystemOperation;
use std::slice;

/// Ranks of other hosts to each of which a rank sends, at most: each takes a connection.
pub(super) const MOST: usize = 8;

/// Ranks in a ring, each of which sends to those on other hosts.
pub(super) struct Senders {
    ranks: Vec<usize>,
    /// How far the next one is that is on another host, for whichever rank.
    first: usize,
}

impl Senders {
    /// The first rank of every host.
    pub(super) fn leaders(hosts: Option<&Hosts>, size: usize) -> Senders {
        let ranks = (0..hosts.map_or(size, Hosts::len)).map(|host| first_of(hosts, host)).collect();
        Senders { ranks, first: 1 }
    }

    /// All ranks, host by host.
    pub(super) fn all(hosts: &Hosts) -> Senders {
        let ranks = (0..hosts.ranks()).map(|place| hosts.rank(place)).collect();
        Senders { ranks, first: hosts.most_and_fewest().0 }
    }

    /// To how many others each can send, if to as many as any, of so many at most: those from as far before it as after it.
    fn others(&self, most: usize) -> usize {
        (self.ranks.len() + 1).saturating_sub(2 * self.first).min(most)
    }

    /// The seconds that one message takes while all of these send one, and the start-up of one more, if each sends to so many others at most;
    /// `None` if a rank has not two others to send to. All ranks call this together.
    pub(super) fn start_up(&self, cube: &Hypercube, most: usize) -> Result<Option<(f64, f64)>> {
        let others = self.others(most);
        if others < 2 {
            return Ok(None);
        }
        // In turns, as what disturbs a machine lasts.
        let both = [self.messages(cube, 1), self.messages(cube, others)];
        for messages in &both {
            // The first messages between two ranks open their connection.
            Messages::send(cube, slice::from_ref(messages), 1)?;
        }
        let mut times = [[0.0; TURNS]; 2];
        for turn in 0..TURNS {
            for (times, messages) in times.iter_mut().zip(&both) {
                times[turn] = Messages::send(cube, slice::from_ref(messages), ROUNDS)?;
            }
        }
        let sends = self.ranks.contains(&cube.rank);
        let mut sums = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            if sends {
                times[TURNS / 4]
            } else {
                0.0
            }
        });
        agree(cube, &mut sums, SystemOperation::sum())?;
        let [one, all] = sums.map(|sum| sum / self.ranks.len() as f64);
        Ok(Some((one, of_one_more(one, all, others))))
    }

    /// The ranks to which the one at a place of the ring sends, and those from which it receives, if it is in so many messages each.
    fn peers(&self, at: usize, others: usize) -> [Vec<usize>; 2] {
        let len = self.ranks.len();
        let far = self.first..self.first + others;
        [
            far.clone().map(|k| self.ranks[(at + k) % len]).collect(),
            far.map(|k| self.ranks[(at + len - k) % len]).collect(),
        ]
    }

    /// The call in which each sends so many short messages.
    fn messages(&self, cube: &Hypercube, others: usize) -> Messages {
        let at = self.ranks.iter().position(|&rank| rank == cube.rank);
        let [to, from] = at.map(|at| self.peers(at, others)).unwrap_or_default();
        Messages::of(cube, SHORT, &to, &from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whom each gets a message from sends it one, and is on another host.
    #[test]
    fn ranks_send_to_others_on_other_hosts() {
        for ranks in [&[2, 2, 2][..], &[4, 4, 4, 4], &[4, 3, 2, 1], &[3, 3, 1], &[1, 5, 4], &[2, 2]] {
            for in_turn in [false, true] {
                let hosts = Hosts::with_ranks(ranks, in_turn).expect("several hosts with several ranks");
                for senders in [Senders::leaders(Some(&hosts), hosts.ranks()), Senders::all(&hosts)] {
                    let others = senders.others(MOST);
                    let mut all: [Vec<(usize, usize)>; 2] = Default::default();
                    for (at, &rank) in senders.ranks.iter().enumerate() {
                        let [to, from] = senders.peers(at, others);
                        assert!(to
                            .iter()
                            .chain(&from)
                            .all(|&peer| hosts.host(hosts.place(peer)) != hosts.host(hosts.place(rank))));
                        all[0].extend(to.iter().map(|&to| (rank, to)));
                        all[1].extend(from.iter().map(|&from| (from, rank)));
                    }
                    all.iter_mut().for_each(|pairs| pairs.sort_unstable());
                    assert_eq!(all[0], all[1], "{ranks:?}");
                    all[0].dedup();
                    assert_eq!(all[0].len(), others * senders.ranks.len(), "{ranks:?}");
                }
            }
        }
        assert_eq!([MOST, 3].map(|most| Senders::leaders(None, 8).others(most)), [7, 3]);
        assert_eq!(Senders::leaders(None, 2).others(MOST), 1);
    }
}
