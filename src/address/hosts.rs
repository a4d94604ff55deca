//! Which ranks share a host.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// The hosts of a communicator whose ranks are on several hosts, some of them with several ranks.
///
/// Every rank has a **place**, 0 to P - 1, such that the ranks of a host lie side by side, in their order, whatever the mapping of
/// ranks to hosts. Hosts with more ranks come first, so that a host whose ranks are a power of two is a subcube: places are aligned.
///
/// ```
/// use hypercoll::address::Hosts;
/// // Ranks 0 to 5 on two hosts in turn.
/// let hosts = Hosts::of(&[7, 9, 7, 9, 7, 9]).unwrap();
/// assert_eq!(hosts.len(), 2);
/// assert_eq!((0..6).map(|place| hosts.rank(place)).collect::<Vec<_>>(), [0, 2, 4, 1, 3, 5]);
/// assert_eq!(hosts.places(hosts.place(3)), 3..6);
/// // One host, or one rank on each, is no more than ranks.
/// assert!(Hosts::of(&[7, 7, 7]).is_none() && Hosts::of(&[7, 8, 9]).is_none());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosts(Arc<Map>);

#[derive(PartialEq, Eq, Debug)]
struct Map {
    /// Of each rank.
    places: Vec<usize>,
    /// At each place.
    ranks: Vec<usize>,
    /// The host at each place.
    hosts: Vec<usize>,
    /// The first place of each host, and the number of places.
    starts: Vec<usize>,
}

/// The dimensions of a cube that are within a host, given the ranks of the one that has the most.
pub(crate) fn near_dimensions(most: usize) -> u32 {
    most.max(1).ilog2()
}

impl Hosts {
    /// The hosts, given a name of each rank's; `None` if there is one, or every rank has one of its own.
    pub fn of<N: Ord>(names: &[N]) -> Option<Hosts> {
        // By number of ranks, then by their first one.
        let mut by_name: Vec<usize> = (0..names.len()).collect();
        by_name.sort_by_key(|&rank| (&names[rank], rank));
        let mut groups: Vec<&[usize]> = by_name.chunk_by(|&a, &b| names[a] == names[b]).collect();
        if groups.len() < 2 || groups.len() == names.len() {
            return None;
        }
        groups.sort_by_key(|ranks| (std::cmp::Reverse(ranks.len()), ranks[0]));
        let mut map = Map { places: vec![0; names.len()], ranks: Vec::new(), hosts: Vec::new(), starts: vec![0] };
        for (host, ranks) in groups.into_iter().enumerate() {
            for &rank in ranks {
                map.places[rank] = map.ranks.len();
                map.ranks.push(rank);
                map.hosts.push(host);
            }
            map.starts.push(map.ranks.len());
        }
        Some(Hosts(Arc::new(map)))
    }

    /// Hosts with so many ranks each: the first ones on the first host and so on, or, `in_turn`, one rank to every host that has room,
    /// again and again.
    pub fn with_ranks(numbers: &[usize], in_turn: bool) -> Option<Hosts> {
        let turns = (0..numbers.iter().copied().max().unwrap_or(0)).flat_map(|turn| {
            let hosts = numbers.iter().enumerate();
            hosts.filter(move |(_, &ranks)| turn < ranks).map(|(host, _)| host)
        });
        let mut names: Vec<usize> = turns.collect();
        if !in_turn {
            names.sort_unstable();
        }
        Hosts::of(&names)
    }

    /// The number of hosts, at least 2.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.starts.len() - 1
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.0.ranks.len()
    }

    /// The place of a rank.
    pub fn place(&self, rank: usize) -> usize {
        self.0.places[rank]
    }

    /// Whether every rank is at its own place: the ranks of a host follow one another.
    pub fn in_order(&self) -> bool {
        self.0.places.iter().enumerate().all(|(rank, &place)| rank == place)
    }

    /// The rank at a place.
    pub fn rank(&self, place: usize) -> usize {
        self.0.ranks[place]
    }

    /// The host at a place: a number from 0 on.
    pub fn host(&self, place: usize) -> usize {
        self.0.hosts[place]
    }

    /// The places of a host, as many as it has ranks.
    pub fn places_of(&self, host: usize) -> Range<usize> {
        self.0.starts[host]..self.0.starts[host + 1]
    }

    /// The places of the host at a place.
    pub fn places(&self, place: usize) -> Range<usize> {
        self.places_of(self.host(place))
    }

    /// The dimensions of a cube of places that are within the host that has the most ranks.
    pub(crate) fn near(&self) -> u32 {
        near_dimensions(self.most_and_fewest().0)
    }

    /// Ranks of the host that has the most, and of the one that has the fewest.
    pub fn most_and_fewest(&self) -> (usize, usize) {
        (self.places_of(0).len(), self.places_of(self.len() - 1).len())
    }
}

impl Hash for Hosts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // What differs makes a difference in the first places already, as a rule; equality looks at all of it.
        self.0.starts.len().hash(state);
        self.0.ranks.iter().take(64).for_each(|rank| rank.hash(state));
        self.0.starts.iter().take(64).for_each(|start| start.hash(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_more_ranks_come_first_and_ranks_in_their_order() {
        let hosts = Hosts::of(&["b", "a", "c", "c", "a", "c", "d"]).unwrap();
        let ranks: Vec<usize> = (0..7).map(|place| hosts.rank(place)).collect();
        assert_eq!(ranks, [2, 3, 5, 1, 4, 0, 6]);
        assert!((0..7).all(|rank| hosts.rank(hosts.place(rank)) == rank));
        assert_eq!((0..4).map(|host| hosts.places_of(host)).collect::<Vec<_>>(), [0..3, 3..5, 5..6, 6..7]);
        assert_eq!((hosts.len(), hosts.most_and_fewest()), (4, (3, 1)));
    }

    #[test]
    fn ranks_are_placed_by_slot_or_in_turn() {
        assert_eq!(Hosts::with_ranks(&[2, 3, 1], false), Hosts::of(&[0, 0, 1, 1, 1, 2]));
        assert_eq!(Hosts::with_ranks(&[2, 3, 1], true), Hosts::of(&[0, 1, 2, 0, 1, 1]));
    }
}
