//! Ways round links that must carry nothing.
//!
//! Whatever an algorithm sends over such a link goes, by this one transformation of messages, over a shortest way of other
//! links: in a cube of dimension n >= 2 three hops, a - a^2^d - b^2^d - b. The ranks in between keep it apart from what they
//! hold themselves, so that a broadcast on its way is not stored and a partial result is not combined. Every round of the
//! algorithm makes room behind it for the hops of each link's detour, one round a hop, so the port model still holds.
//!
//! The ranks of a detour learn what to pass on from the messages of the rank that sends, which they work out themselves.

use super::fold::{Message, Messages};
use super::Hosting;
use crate::error::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Links that must carry nothing, and the way round each.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Avoided {
    /// Ranks of the cube.
    size: usize,
    /// The ranks from one end of each link to the other, both included; ascending by the link.
    natural: Arc<[Vec<usize>]>,
    /// The same for calls whose ranks are hosted in order.
    ordered: Arc<[Vec<usize>]>,
}

/// One direction of a link, and the rounds of its hops behind each round of the algorithm.
struct Detour {
    id: usize,
    way: Vec<usize>,
    first: usize,
}

impl Detour {
    fn ends(&self) -> (usize, usize) {
        (self.way[0], self.way[self.way.len() - 1])
    }
}

impl Avoided {
    /// Finds the ways round `links`, each a pair of ranks of a cube of `size` ranks; the order of links and of ranks in them is
    /// of no account.
    ///
    /// # Errors
    /// [`Error::Link`] if two ranks are no neighbours, or are joined by no other way.
    pub fn new(size: usize, links: &[(usize, usize)]) -> Result<Avoided> {
        let mut links: Vec<_> = links.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        links.sort_unstable();
        links.dedup();
        let ways = |ordered: bool| {
            let hosting = Hosting::new(size, ordered);
            let ways = links.iter().map(|&(a, b)| {
                let wrong = |why: &str| Error::Link { link: (a, b), why: why.into() };
                if b >= size {
                    return Err(wrong("no such rank"));
                }
                if !ordered && !neighbours(&hosting, a).contains(&b) {
                    return Err(wrong("the ranks are not neighbours on the cube"));
                }
                let way = shortest(a, b, |rank| {
                    let usable = |next: &usize| links.binary_search(&(rank.min(*next), rank.max(*next))).is_err();
                    neighbours(&hosting, rank).into_iter().filter(usable).collect()
                });
                way.ok_or_else(|| wrong("no other links join the ranks"))
            });
            ways.collect::<Result<Vec<_>>>()
        };
        Ok(Avoided { size, natural: ways(false)?.into(), ordered: ways(true)?.into() })
    }

    /// The number of ranks of the cube.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The links, each as (lower rank, higher rank), ascending.
    pub fn links(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.natural.iter().filter_map(|way| Some((*way.first()?, *way.last()?)))
    }

    /// Whether the link between two ranks is one of them.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.links().any(|link| link == (a.min(b), a.max(b)))
    }

    /// Both directions of every link, and how many rounds one round of the algorithm becomes. `one_way`: the two directions
    /// take turns.
    fn detours(&self, ordered: bool, one_way: bool) -> (Vec<Detour>, usize) {
        let (mut detours, mut stride) = (Vec::new(), 1);
        for way in if ordered { &self.ordered } else { &self.natural }.iter() {
            let hops = way.len() - 1;
            let forth = Detour { id: detours.len(), way: way.clone(), first: stride };
            stride += if one_way { hops } else { 0 };
            let back = Detour { id: detours.len() + 1, way: way.iter().rev().copied().collect(), first: stride };
            stride += hops;
            detours.extend([forth, back]);
        }
        (detours, stride)
    }

    /// Both directions of every link, each as the way round it with the first round of its hops among those that a round of the
    /// algorithm becomes; and how many these are.
    pub(crate) fn ways(&self, ordered: bool, one_way: bool) -> (Vec<(Vec<usize>, usize)>, usize) {
        let (detours, stride) = self.detours(ordered, one_way);
        (detours.into_iter().map(|Detour { way, first, .. }| (way, first)).collect(), stride)
    }

    /// The hops of the ways round, of both directions of every link, and the rounds that a round of the algorithm becomes.
    pub(crate) fn cost(&self, ordered: bool, one_way: bool) -> (Vec<usize>, usize) {
        let (ways, stride) = self.ways(ordered, one_way);
        (ways.into_iter().map(|(way, _)| way.len() - 1).collect(), stride)
    }

    /// The messages of `rank` after all detours. `of` gives the messages of any rank before them; `ordered`: ranks are hosted
    /// in order; `one_way`: a rank sends or receives, not both at once.
    pub fn detour(
        &self,
        messages: Messages,
        rank: usize,
        (ordered, one_way): (bool, bool),
        of: &dyn Fn(usize) -> Messages,
    ) -> Messages {
        let (detours, stride) = self.detours(ordered, one_way);
        let mut all = messages.stretched(stride);
        for message in messages.list() {
            let ends = if message.sends { (rank, message.peer) } else { (message.peer, rank) };
            let mut moved = Message { round: message.round * stride, ..message.clone() };
            if let Some(Detour { way, first, .. }) = detours.iter().find(|detour| detour.ends() == ends) {
                let hop = if message.sends { 0 } else { way.len() - 2 };
                moved.round += first + hop;
                moved.peer = way[if message.sends { 1 } else { hop }];
            }
            all.push(moved, messages.pieces(message));
        }
        for detour in &detours {
            let Detour { id, ref way, first } = *detour;
            let (from, to) = detour.ends();
            let Some(at) = way[1..way.len() - 1].iter().position(|&between| between == rank) else { continue };
            let sender = of(from);
            for message in sender.list().iter().filter(|message| message.sends && message.peer == to) {
                let round = message.round * stride + first + at;
                let passed = Message { through: Some(id), round, ..message.clone() };
                all.push(Message { sends: false, peer: way[at], ..passed.clone() }, sender.pieces(message));
                all.push(Message { peer: way[at + 2], round: round + 1, ..passed }, sender.pieces(message));
            }
        }
        all.in_order()
    }
}

/// The ranks that an edge of the cube joins with a rank, ascending.
fn neighbours(hosting: &Hosting, rank: usize) -> Vec<usize> {
    let own = hosting.node(rank);
    let nodes = std::iter::once(own).chain(hosting.twin(own));
    let across = nodes.flat_map(|node| (0..hosting.dimension()).map(move |port| node ^ 1 << port));
    let mut all: Vec<usize> = across.map(|node| hosting.host(node)).filter(|&other| other != rank).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A shortest way between two ranks, the same on every rank.
fn shortest(from: usize, to: usize, next: impl Fn(usize) -> Vec<usize>) -> Option<Vec<usize>> {
    let mut before = HashMap::from([(from, from)]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at == to {
            let mut way = vec![to];
            while let Some(&last) = way.last().filter(|&&last| last != from) {
                way.push(before[&last]);
            }
            way.reverse();
            return Some(way);
        }
        for neighbour in next(at) {
            before.entry(neighbour).or_insert_with(|| {
                queue.push_back(neighbour);
                at
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{registry, verify::schedules, Parameters, PortModel};
    use crate::collective::{Call, Collective};
    use crate::schedule::{check, Violation};

    #[test]
    fn the_way_round_one_link_has_three_hops() {
        for n in 2..8u32 {
            for a in 0..1usize << n {
                for b in (0..n).map(|port| a ^ 1 << port).filter(|&b| a < b) {
                    let avoided = Avoided::new(1 << n, &[(b, a), (a, b)]).unwrap();
                    assert_eq!(avoided.natural.len(), 1, "one link, however it is named");
                    let way = &avoided.natural[0];
                    assert_eq!((way.len(), way[0], way[3]), (4, a, b));
                    assert!(way
                        .windows(2)
                        .all(|hop| (hop[0] ^ hop[1]).is_power_of_two() && (hop[0], hop[1]) != (a, b)));
                    assert!(avoided.contains(a, b) && avoided.contains(b, a) && !avoided.contains(way[1], way[2]));
                }
            }
        }
    }

    #[test]
    fn errors_name_the_link() {
        let why = |size, links: &[(usize, usize)]| Avoided::new(size, links).unwrap_err().to_string();
        assert_eq!(why(8, &[(0, 1), (6, 5)]), "avoid_links: 5-6: the ranks are not neighbours on the cube");
        assert_eq!(why(8, &[(8, 0)]), "avoid_links: 0-8: no such rank");
        assert_eq!(why(2, &[(0, 1)]), "avoid_links: 0-1: no other links join the ranks");
        assert_eq!(why(4, &[(0, 1), (0, 2)]), "avoid_links: 0-1: no other links join the ranks");
        assert!(why(4, &[(3, 3)]).contains("3-3"));
        assert!(Avoided::new(8, &[]).is_ok());
    }

    /// The check of the check: schedules that know nothing of the link are caught.
    #[test]
    fn a_message_over_the_link_is_found() {
        let algorithm = registry::find(Collective::Broadcast, "sbt").unwrap();
        let mut call = Call::new(Collective::Broadcast, 8, 5);
        let straight = schedules(algorithm, &call, &Parameters::new(PortModel::OnePort));
        call.avoid = Some(Avoided::new(8, &[(1, 3)]).unwrap());
        assert_eq!(check(&call, &straight, true).violations, [Violation::Avoided { from: 1, to: 3 }]);
    }
}
