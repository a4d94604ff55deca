//! A network of which the links are known.

use serde::{Deserialize, Serialize};

/// A network of which the links are known, and how many ranks each of its hosts has: `ranks` is empty if it is one each. A link has its
/// rate, in bits per second, in both directions at once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Fabric {
    /// 2^dimension hosts; links along the edges of the cube.
    Cube {
        dimension: usize,
        rate_bps: f64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ranks: Vec<usize>,
    },
    /// Hosts with one link each to a switch. Links of `slow` hosts have rates of their own. With an uplink there are two switches, with
    /// half of the hosts each and that link between them.
    Star {
        hosts: usize,
        rate_bps: f64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        slow: Vec<(usize, f64)>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uplink_bps: Option<f64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ranks: Vec<usize>,
    },
}

impl Fabric {
    /// Reads `cube:3:50000000` (dimension, bits per second) or `star:8:50000000` (hosts, bits per second), with slow hosts and an uplink
    /// `star:8:50000000,3=25000000,uplink=100000000`, and with the ranks of every host `star:4:50000000:4,3,2,1`.
    pub fn parse(text: &str) -> Result<Fabric, String> {
        let wrong = || {
            format!(
                "'{text}' is no fabric; fabrics are like cube:3:50000000 (dimension, bits/s), star:8:50000000, \
                 star:8:50000000,3=25000000,uplink=100000000, star:4:50000000:4,3,2,1 (ranks of every host)"
            )
        };
        let parts: Vec<&str> = text.split(':').collect();
        let (kind, number, rates, ranks) = match parts[..] {
            [kind, number, rates] => (kind, number, rates, Some(Vec::new())),
            [kind, number, rates, ranks] => {
                let some = |text: &str| text.parse().ok().filter(|ranks| *ranks > 0);
                (kind, number, rates, ranks.split(',').map(some).collect())
            }
            _ => return Err(wrong()),
        };
        let number: usize = number.parse().map_err(|_| wrong())?;
        let ranks: Vec<usize> = ranks.ok_or_else(wrong)?;
        let rate =
            |text: &str| text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0).ok_or_else(wrong);
        let mut rates = rates.split(',');
        let rate_bps = rate(rates.next().unwrap_or_default())?;
        let (mut slow, mut uplink_bps) = (Vec::new(), None);
        for other in rates {
            match other.split_once('=').ok_or_else(wrong)? {
                ("uplink", text) => uplink_bps = Some(rate(text)?),
                (host, text) => {
                    let host = host.parse().ok().filter(|host| *host < number).ok_or_else(wrong)?;
                    slow.push((host, rate(text)?));
                }
            }
        }
        match kind {
            "cube" if number <= 20 && ranks.len() <= 1 << number && slow.is_empty() && uplink_bps.is_none() => {
                Ok(Fabric::Cube { dimension: number, rate_bps, ranks })
            }
            "star" if number > 0 && ranks.len() <= number => {
                Ok(Fabric::Star { hosts: number, rate_bps, slow, uplink_bps, ranks })
            }
            _ => Err(wrong()),
        }
    }

    /// The ranks of every host, if it is said.
    pub fn ranks(&self) -> &[usize] {
        let (Fabric::Cube { ranks, .. } | Fabric::Star { ranks, .. }) = self;
        ranks
    }

    /// Whether a call of ranks of which each host has so many uses the network as it is: the whole cube, or hosts of the star.
    pub fn holds(&self, on: &[usize]) -> bool {
        let told = if self.ranks().is_empty() { on.iter().all(|&ranks| ranks == 1) } else { self.ranks() == on };
        told && match *self {
            Fabric::Cube { dimension, .. } => on.len() == 1 << dimension,
            Fabric::Star { hosts, .. } => on.len() <= hosts,
        }
    }
}

/// `cube of dimension 3, links of 50 Mbit/s, 2 ranks a host`.
impl std::fmt::Display for Fabric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fabric::Cube { dimension, rate_bps, .. } => {
                write!(f, "cube of dimension {dimension}, links of {} Mbit/s", rate_bps / 1e6)?;
            }
            Fabric::Star { hosts, rate_bps, slow, uplink_bps, .. } => {
                write!(f, "star of {hosts} hosts, links of {} Mbit/s", rate_bps / 1e6)?;
                slow.iter().try_for_each(|(host, rate)| write!(f, ", {} for host {host}", rate / 1e6))?;
                uplink_bps.iter().try_for_each(|rate| write!(f, ", {} between its halves", rate / 1e6))?;
            }
        }
        match self.ranks() {
            [] => Ok(()),
            [first, others @ ..] if others.iter().all(|ranks| ranks == first) => write!(f, ", {first} ranks a host"),
            ranks => write!(f, ", {ranks:?} ranks on the hosts"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fabrics_are_read() {
        let cube = |ranks| Fabric::Cube { dimension: 3, rate_bps: 50e6, ranks };
        let star = |slow, uplink_bps, ranks| Fabric::Star { hosts: 8, rate_bps: 50e6, slow, uplink_bps, ranks };
        for (text, fabric, shown) in [
            ("cube:3:50000000", cube(vec![]), "cube of dimension 3, links of 50 Mbit/s"),
            ("cube:3:50000000:2,2,2,2,2,2,2,2", cube(vec![2; 8]), "cube of dimension 3, links of 50 Mbit/s, 2 ranks a host"),
            ("star:8:50000000", star(vec![], None, vec![]), "star of 8 hosts, links of 50 Mbit/s"),
            (
                "star:8:50000000,3=25000000,uplink=1e8:4,3,2,1",
                star(vec![(3, 25e6)], Some(1e8), vec![4, 3, 2, 1]),
                "star of 8 hosts, links of 50 Mbit/s, 25 for host 3, 100 between its halves, [4, 3, 2, 1] ranks on the hosts",
            ),
        ] {
            assert_eq!(Fabric::parse(text).as_ref(), Ok(&fabric));
            assert_eq!(fabric.to_string(), shown);
            let json = serde_json::to_value(&fabric).expect("can be written");
            assert_eq!(serde_json::from_value::<Fabric>(json).ok(), Some(fabric));
        }
        for text in [
            "",
            "cube",
            "cube:3",
            "ring:3:5",
            "cube:x:5",
            "cube:3:0",
            "cube:3:x",
            "cube:21:5",
            "star:0:5",
            "cube:3:5:6,x",
            "cube:1:5:1,1,1",
            "cube:3:5,1=4",
            "star:2:5:1,2,3",
            "star:2:5:1,0",
            "star:2:5:1:2",
            "star:2:5,2=4",
            "star:2:5,uplink=0",
            "star:2:5,4",
        ] {
            assert!(Fabric::parse(text).is_err(), "{text}");
        }
        let json = serde_json::json!({"kind": "cube", "dimension": 3, "rate_bps": 50e6});
        assert_eq!(serde_json::to_value(cube(vec![])).ok(), Some(json));
    }

    #[test]
    fn ranks_must_be_on_the_hosts_that_it_tells_of() {
        let holds = |text: &str, on: &[usize]| Fabric::parse(text).expect("a fabric").holds(on);
        assert!(holds("cube:2:5", &[1; 4]) && !holds("cube:2:5", &[1; 3]) && !holds("cube:2:5", &[2; 4]));
        assert!(holds("star:4:5", &[1; 3]) && !holds("star:4:5", &[1; 5]) && !holds("star:4:5", &[1, 2]));
        assert!(holds("star:4:5:2,1", &[2, 1]) && !holds("star:4:5:2,1", &[1, 2]) && !holds("cube:2:5:2,1", &[2, 1]));
    }
}
