//! Links that must carry nothing, and the ways round them.

use crate::address::Hosting;
use crate::error::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Links that must carry nothing, and the way round each.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Avoided(Arc<Ways>);

#[derive(PartialEq, Eq, Hash, Debug)]
struct Ways {
    /// Ranks of the cube.
    size: usize,
    /// The ranks from one end of each link to the other, both included; ascending by the link.
    natural: Vec<Vec<usize>>,
    /// The same for calls whose ranks are hosted in order.
    ordered: Vec<Vec<usize>>,
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
        Ok(Avoided(Arc::new(Ways { size, natural: ways(false)?, ordered: ways(true)? })))
    }

    /// The number of ranks of the cube.
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// The links, each as (lower rank, higher rank), ascending.
    pub fn links(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.0.natural.iter().filter_map(|way| Some((*way.first()?, *way.last()?)))
    }

    /// Whether the link between two ranks is one of them.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.links().any(|link| link == (a.min(b), a.max(b)))
    }

    /// Both directions of every link, each as the way round it with the first round of its hops among those that a round of the
    /// algorithm becomes; and how many these are. `ordered`: ranks are hosted in order; `one_way`: the two directions take turns.
    pub(crate) fn ways(&self, ordered: bool, one_way: bool) -> (Vec<(Vec<usize>, usize)>, usize) {
        let (mut ways, mut stride) = (Vec::new(), 1);
        for way in if ordered { &self.0.ordered } else { &self.0.natural }.iter() {
            let hops = way.len() - 1;
            ways.push((way.clone(), stride));
            stride += if one_way { hops } else { 0 };
            ways.push((way.iter().rev().copied().collect(), stride));
            stride += hops;
        }
        (ways, stride)
    }

    /// The hops of the ways round, of both directions of every link, and the rounds that a round of the algorithm becomes.
    pub(crate) fn cost(&self, ordered: bool, one_way: bool) -> (Vec<usize>, usize) {
        let (ways, stride) = self.ways(ordered, one_way);
        (ways.into_iter().map(|(way, _)| way.len() - 1).collect(), stride)
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

    #[test]
    fn the_way_round_one_link_has_three_hops() {
        for n in 2..8u32 {
            for a in 0..1usize << n {
                for b in (0..n).map(|port| a ^ 1 << port).filter(|&b| a < b) {
                    let avoided = Avoided::new(1 << n, &[(b, a), (a, b)]).unwrap();
                    assert_eq!(avoided.0.natural.len(), 1, "one link, however it is named");
                    let way = &avoided.0.natural[0];
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
}
