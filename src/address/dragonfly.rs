//! Hosts on a dragonfly.

use super::factors;
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
/// assert_eq!(dragonfly.busiest(64, &[(16, 1.0)]), 8.0);
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

    /// What goes over the busiest link between two groups if each of so many hosts sends to others so many places further on, as much as stands
    /// with each.
    pub fn busiest(&self, hosts: usize, strides: &[(usize, f64)]) -> f64 {
        let group = self.group();
        let groups = hosts.div_ceil(group);
        let mut loads = vec![0.0; groups];
        for &(stride, sent) in strides {
            let (over, rest) = (stride / group, stride % group);
            loads[over % groups] += sent * (group - rest) as f64;
            loads[(over + 1) % groups] += sent * rest as f64;
        }
        loads.into_iter().skip(1).fold(0.0, f64::max)
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

    /// Every message counted, in groups that are all there.
    #[test]
    fn links_between_groups_carry_what_is_counted() {
        for (router, routers, groups) in [(1, 1, 5), (2, 3, 4), (2, 6, 6), (4, 2, 3), (3, 1, 2)] {
            let dragonfly = Dragonfly::new(router, routers).expect("a dragonfly");
            let (group, hosts) = (router * routers, router * routers * groups);
            for strides in
                [vec![(1, 1.0)], vec![(group, 0.5)], vec![(hosts / 2, 2.0), (hosts - 1, 1.0), (group + 1, 0.25)]]
            {
                let mut loads = vec![0.0; groups * groups];
                for (from, &(stride, sent)) in (0..hosts).flat_map(|from| strides.iter().map(move |s| (from, s))) {
                    let (a, b) = (from / group, (from + stride) % hosts / group);
                    loads[a * groups + b] += if a == b { 0.0 } else { sent };
                }
                let most = loads.into_iter().fold(0.0, f64::max);
                assert_eq!(dragonfly.busiest(hosts, &strides), most, "{dragonfly} {groups} {strides:?}");
            }
        }
    }

    #[test]
    fn links_in_the_mean_are_those_of_all_pairs() {
        for (router, routers, groups) in [(1, 3, 3), (2, 3, 3), (2, 6, 6)] {
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
