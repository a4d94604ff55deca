//! Hosts on a tree of switches.

use super::{dimension_for, factors};
use std::fmt;
use std::str::FromStr;

/// A tree of switches: so many hosts on each of the lowest ones, so many of these on each of the next, and above them one for all.
///
/// Hosts follow each other in the order of their ranks, as those of a job do that has whole switches to itself.
///
/// ```
/// use hypercoll::address::Switches;
/// let switches: Switches = "16x8".parse()?;
/// assert_eq!(switches.to_string(), "16x8");
/// // Up to the switch and down; one more above it, for the 128 hosts there; and one more, for all.
/// assert_eq!([1, 16, 128].map(|other| switches.links_between(0, other)), [2, 4, 6]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Switches {
    /// Below each switch, level by level, the lowest first; 1 where there are fewer levels.
    below: [usize; Switches::LEVELS],
}

impl Switches {
    /// Levels that a tree may have below the switch for all, and the most that is on a switch.
    pub const LEVELS: usize = 4;
    const MOST: usize = 1 << 12;

    /// The tree with so many below each switch, the lowest first; `None` if one is 0 or too many, or there are too many levels.
    pub fn new(given: &[usize]) -> Option<Switches> {
        factors::sound(given, Switches::MOST).map(|below| Switches { below })
    }

    /// The hosts below one switch of each level, the lowest first.
    fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        factors::used(&self.below).iter().scan(1, |hosts, below| {
            *hosts *= below;
            Some(*hosts)
        })
    }

    /// Links from one host to another: up to the first switch that has both below it, and down.
    pub fn links_between(&self, from: usize, to: usize) -> usize {
        if from == to {
            return 0;
        }
        2 + 2 * self.blocks().filter(|block| from / block != to / block).count()
    }

    /// Links between two of so many hosts in the mean.
    pub fn links(&self, hosts: usize) -> f64 {
        // Two for every other host on each level whose switch it is not below.
        let square = |hosts: usize| hosts as f64 * hosts as f64;
        let others = |block: usize| {
            let whole = (hosts / block) as f64 * square(block);
            square(hosts) - whole - square(hosts % block)
        };
        let links = 2.0 * (others(1) + self.blocks().map(others).sum::<f64>());
        links / (square(hosts) - hosts as f64).max(1.0)
    }

    /// The links between hosts whose numbers differ in one bit of those that so many hosts have, the lowest first; `None` where they are not as
    /// many for all hosts.
    pub fn links_by_bit(&self, hosts: usize) -> Option<impl Iterator<Item = usize> + '_> {
        let halved = self.blocks().all(|block| block.is_power_of_two() || block >= hosts);
        // A number beyond the last host's stands for one of them.
        let last = hosts.saturating_sub(1);
        halved.then(|| (0..dimension_for(hosts)).map(move |bit| self.links_between(0, last.min(1 << bit))))
    }
}

impl fmt::Display for Switches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&factors::text(&self.below))
    }
}

impl FromStr for Switches {
    type Err = String;

    fn from_str(text: &str) -> Result<Switches, String> {
        factors::parse(text).and_then(|below| Switches::new(&below)).ok_or_else(|| {
            let (levels, most) = (Switches::LEVELS, Switches::MOST);
            format!(
                "'{text}' is no tree of switches; that is what is below each of them, on up to {levels} levels, 1 to {most}, as 16x8"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a walk up and down.
    #[test]
    fn messages_go_up_as_far_as_they_must() {
        for (below, hosts) in [(&[4][..], 10), (&[2, 3], 13), (&[3, 1, 2], 12), (&[8], 5), (&[1], 4)] {
            let switches = Switches::new(below).expect("a tree");
            let mut all = 0;
            for (from, to) in (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))) {
                let (mut a, mut b, mut walked) = (from, to, if from == to { 0 } else { 2 });
                // On every level, the switch above.
                for below in switches.to_string().split('x').map(|below| below.parse::<usize>().expect("a number")) {
                    (a, b) = (a / below, b / below);
                    walked += if a == b { 0 } else { 2 };
                }
                assert_eq!(switches.links_between(from, to), walked, "{switches}: {from} to {to}");
                all += walked;
            }
            let mean = all as f64 / (hosts * (hosts - 1)) as f64;
            assert!((switches.links(hosts) - mean).abs() < 1e-9, "{switches}: {mean}");
        }
    }

    #[test]
    fn bits_of_numbers_are_levels_where_these_are_powers_of_two() {
        let links = |below: &[usize], hosts| {
            Switches::new(below)
                .and_then(|switches| switches.links_by_bit(hosts).map(|links| links.collect::<Vec<_>>()))
        };
        assert_eq!(links(&[4, 2], 16), Some(vec![2, 2, 4, 6]));
        assert_eq!(links(&[6], 12), None);
        // Of 9 to 16 hosts, four bits.
        assert_eq!(links(&[8], 9), Some(vec![2, 2, 2, 4]));
        // All on one switch.
        assert_eq!(links(&[6], 5), Some(vec![2, 2, 2]));
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for text in ["", "0", "4x", "x4", "4x0", "-1x2", "2x2x2x2x2", "4097", "4 by 4"] {
            assert!(text.parse::<Switches>().is_err(), "{text}");
        }
        assert_eq!("4 x 1 x 2 x 1".parse::<Switches>().map(|switches| switches.to_string()), Ok("4x1x2".into()));
    }
}
