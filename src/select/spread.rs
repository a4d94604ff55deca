//! How ranks are spread over hosts.

use crate::address::Hosts;
use std::fmt;
use std::str::FromStr;

/// How many hosts have how many ranks: what a measurement of calls is for. As text `4 x 2` is 4 hosts of 2 ranks, and `1 x 4 + 2 x 3` a host
/// of 4 and two of 3. Which rank is on which host makes no difference, as ranks are placed host by host.
///
/// ```
/// use hypercoll::address::Hosts;
/// use hypercoll::select::Spread;
///
/// let hosts = Hosts::with_ranks(&[3, 4, 3], true);
/// let spread = Spread::of(10, hosts.as_ref(), false);
/// assert_eq!(spread.to_string(), "1 x 4 + 2 x 3");
/// assert_eq!("1 x 4 + 2 x 3".parse(), Ok(spread));
/// // All on one host, and each on a host of its own.
/// assert_eq!((Spread::of(8, None, true).to_string(), Spread::of(8, None, false).to_string()), ("1 x 8".into(), "8 x 1".into()));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spread(Vec<Group>);

/// Hosts with as many ranks each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Group {
    hosts: usize,
    ranks: usize,
}

impl Spread {
    /// That of a communicator: of its ranks, of their hosts where several have several, and, where `hosts` tells nothing, whether all are on
    /// one.
    pub fn of(ranks: usize, hosts: Option<&Hosts>, on_one_host: bool) -> Spread {
        let Some(hosts) = hosts else {
            return Spread(vec![match on_one_host {
                true => Group { hosts: 1, ranks },
                false => Group { hosts: ranks, ranks: 1 },
            }]);
        };
        let mut groups: Vec<Group> = Vec::new();
        // The hosts with more ranks come first.
        for ranks in (0..hosts.len()).map(|host| hosts.places_of(host).len()) {
            match groups.last_mut() {
                Some(group) if group.ranks == ranks => group.hosts += 1,
                _ => groups.push(Group { hosts: 1, ranks }),
            }
        }
        Spread(groups)
    }

    /// The number of hosts.
    pub fn hosts(&self) -> usize {
        self.0.iter().map(|group| group.hosts).sum()
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.0.iter().map(|group| group.hosts * group.ranks).sum()
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<String> = self.0.iter().map(|Group { hosts, ranks }| format!("{hosts} x {ranks}")).collect();
        f.write_str(&groups.join(" + "))
    }
}

impl FromStr for Spread {
    type Err = String;

    fn from_str(text: &str) -> Result<Spread, String> {
        let group = |text: &str| {
            let (hosts, ranks) = text.split_once('x')?;
            let (hosts, ranks) = (hosts.trim().parse().ok()?, ranks.trim().parse().ok()?);
            (hosts > 0 && ranks > 0 && hosts <= 1 << 30 && ranks <= 1 << 30).then_some(Group { hosts, ranks })
        };
        let groups: Option<Vec<Group>> = text.split('+').map(group).collect();
        let falls = |groups: &Vec<Group>| groups.windows(2).all(|pair| pair[0].ranks > pair[1].ranks);
        let counts = |groups: &Vec<Group>| {
            groups
                .iter()
                .try_fold(0usize, |ranks, group| ranks.checked_add(group.hosts.checked_mul(group.ranks)?))
                .is_some()
        };
        groups.filter(|groups| groups.len() <= 1 << 10 && falls(groups) && counts(groups)).map(Spread).ok_or_else(|| {
            format!("'{text}' does not say how ranks are spread; that is like '4 x 2', or '1 x 4 + 2 x 3': hosts x ranks, the most first")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_spread_is_refused() {
        for text in ["", "4", "4 x", "x 4", "0 x 4", "4 x 0", "4 x 2 +", "2 x 3 + 1 x 4", "1 x 4 + 1 x 4", "-1 x 2"] {
            assert!(text.parse::<Spread>().is_err(), "{text}");
        }
        // Ranks that cannot be counted together: each group has nearly 2^60.
        let groups: Vec<String> = (0..17).map(|less| format!("{} x {}", 1 << 30, (1 << 30) - less)).collect();
        assert!(groups.join(" + ").parse::<Spread>().is_err());
        assert!(groups[..15].join(" + ").parse::<Spread>().is_ok());
        let spread: Spread = "2x3+1x1".parse().expect("a spread");
        assert_eq!((spread.hosts(), spread.ranks(), spread.to_string()), (3, 7, "2 x 3 + 1 x 1".into()));
    }
}
