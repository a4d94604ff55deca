//! Hosts on a dragonfly.

use super::{dimension_for, factors};
use std::fmt;
use std::str::FromStr;

/// Groups of routers, of which every two in a group are linked, and every two groups by one link.
///
/// Hosts follow each other in the order of their ranks, those of a router and then those of a group.
///
/// ```
/// use hypercoll::address::Dragonfly;
/// let dragonfly: Dragonfly = "2x6".parse()?; // hosts on a router, routers in a group
/// assert_eq!((dragonfly.group(), dragonfly.to_string()), (12, "2x6".into()));
/// // All hosts send to the one 16 places further on: eight of each group to the next group, over one link.
/// assert_eq!(dragonfly.busiest(72, 16, false), 8);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dragonfly {
    /// Hosts on a router, routers in a group.
    of: [usize; 2],
}

impl Dragonfly {
    const MOST: usize = 1 << 10;

    /// Of so many hosts on a router and routers in a group; `None` if one is 0 or too many.
    pub fn new(router: usize, group: usize) -> Option<Dragonfly> {
        factors::sound(&[router, group], Dragonfly::MOST).map(|of| Dragonfly { of })
    }

    /// Hosts of a group.
    pub fn group(&self) -> usize {
        self.of.iter().product()
    }

    /// Links between two of so many hosts in the mean: to the router and from one, between two of a group, and between groups, where each has
    /// one router of its group that is at the link.
    pub fn links(&self, hosts: usize) -> f64 {
        let [router, routers] = self.of.map(|many| many as f64);
        let others = (hosts as f64 - 1.0).max(1.0);
        let far = (hosts as f64 - router * routers).max(0.0) / others;
        let near = ((router * routers).min(hosts as f64) - router).max(0.0) / others;
        2.0 + near + far * (1.0 + 2.0 * (routers - 1.0) / routers)
    }

    /// The same between those of so many hosts whose numbers differ in one bit, in the mean of the bits; `None` where it is another number for
    /// other hosts.
    pub fn links_by_bit(&self, hosts: usize) -> Option<f64> {
        let [router, routers] = self.of;
        let halved = |block: usize| block.is_power_of_two() || block >= hosts;
        let far = 3.0 + 2.0 * (routers as f64 - 1.0) / routers as f64;
        let links = |bit: u32| match 1 << bit {
            near if near < router => 2.0,
            near if near < self.group() => 3.0,
            _ => far,
        };
        let bits = dimension_for(hosts);
        let all: f64 = (0..bits).map(links).sum();
        (halved(router) && halved(self.group())).then(|| all / f64::from(bits.max(1)))
    }

    /// Messages over the busiest link between two groups, if each of so many hosts sends one to the host so many places further on, half of them
    /// at most; or, `by_xor`, to the one whose number differs in that bit. Partial groups count as whole.
    pub fn busiest(&self, hosts: usize, stride: usize, by_xor: bool) -> usize {
        let group = self.group();
        let (over, rest) = (stride / group, stride % group);
        // Blocks of a group change places within it.
        let stays = by_xor && stride < group && group.is_multiple_of(2 * stride);
        let most = if hosts < 2 * group { hosts.saturating_sub(group) } else { group };
        let there = if over > 0 { group - rest } else { 0 };
        if stays {
            0
        } else {
            there.max(rest).min(most)
        }
    }
}

impl fmt::Display for Dragonfly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [router, group] = self.of;
        f.pad(&format!("{router}x{group}"))
    }
}

impl FromStr for Dragonfly {
    type Err = String;

    fn from_str(text: &str) -> Result<Dragonfly, String> {
        let parsed = factors::parse(text).and_then(|of| match of[..] {
            [router, group] => Dragonfly::new(router, group),
            _ => None,
        });
        parsed.ok_or_else(|| {
            let most = Dragonfly::MOST;
            format!("'{text}' is no dragonfly; that is hosts on a router and routers in a group, 1 to {most}, as 2x6")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every message counted: as many where all groups are whole, and by XOR no more.
    #[test]
    fn links_between_groups_carry_what_is_counted() {
        let mut exact = 0;
        for (router, routers, hosts) in [
            (1, 1, 8usize),
            (2, 3, 24),
            (2, 6, 64),
            (4, 2, 64),
            (4, 2, 65),
            (2, 6, 13),
            (3, 1, 48),
            (2, 6, 72),
            (2, 8, 256),
        ] {
            let dragonfly = Dragonfly::new(router, routers).expect("a dragonfly");
            let group = dragonfly.group();
            for (stride, by_xor) in
                (0..hosts.ilog2()).flat_map(|bit| [(1 << bit, true), (1 << bit, false), (1 << bit | 1, false)])
            {
                let groups = hosts.div_ceil(group);
                let mut counted = vec![0; groups * groups];
                for from in 0..hosts {
                    let to = if by_xor { from ^ stride } else { (from + stride) % hosts };
                    if to < hosts && from / group != to / group {
                        counted[from / group * groups + to / group] += 1;
                    }
                }
                let (most, stated) = (counted.into_iter().max().unwrap_or(0), dragonfly.busiest(hosts, stride, by_xor));
                let whole = hosts.is_multiple_of(group);
                assert!(
                    most <= stated || !whole && !by_xor,
                    "{dragonfly}, {hosts}, {stride} {by_xor}: {most}, {stated}"
                );
                if whole && !by_xor {
                    assert_eq!(most, stated, "{dragonfly}, {hosts}, {stride}");
                }
                exact += usize::from(most == stated);
            }
        }
        assert!(exact > 100, "{exact}");
    }

    #[test]
    fn links_in_the_mean_are_those_of_all_pairs() {
        for (router, routers, groups) in [(1, 3, 3), (2, 3, 3), (2, 6, 6), (2, 8, 8)] {
            let hosts = router * routers * groups;
            let links = |from: usize, to: usize| {
                let [(a, i), (b, j)] = [from, to].map(|host| (host / (router * routers), host / router % routers));
                match (a == b, i == j) {
                    (true, true) => 2,
                    (true, false) => 3,
                    // As SimGrid has it: at the link to a group is the router of that group's number.
                    _ => 3 + usize::from(i != b % routers) + usize::from(j != a % routers),
                }
            };
            let pairs = (0..hosts).flat_map(|from| (0..hosts).filter(move |&to| to != from).map(move |to| (from, to)));
            let all: usize = pairs.map(|(from, to)| links(from, to)).sum();
            let mean = all as f64 / (hosts * (hosts - 1)) as f64;
            let stated = Dragonfly::new(router, routers).expect("a dragonfly").links(hosts);
            assert!((mean - stated).abs() < 1e-9, "{router} {routers}: {mean}, {stated}");
            if (router * routers * groups).is_power_of_two() {
                let bits =
                    (0..hosts.ilog2()).map(|bit| (0..hosts).map(|from| links(from, from ^ 1 << bit)).sum::<usize>());
                let mean = bits.sum::<usize>() as f64 / (hosts * hosts.ilog2() as usize) as f64;
                let stated = Dragonfly::new(router, routers).and_then(|there| there.links_by_bit(hosts));
                assert!(
                    stated.is_some_and(|stated| (mean - stated).abs() < 0.5),
                    "{router} {routers}: {mean}, {stated:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in ["", "2", "0x3", "2x3x4", "2x-1", "9999x2"] {
            assert!(text.parse::<Dragonfly>().is_err_and(|why| why.contains("no dragonfly")), "{text}");
        }
        assert_eq!("4x8".parse::<Dragonfly>().map(|there| there.to_string()), Ok("4x8".into()));
    }
}
