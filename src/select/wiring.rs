//! How hosts are linked, where that is more than a link for every two of them.

use crate::address::{dimension_for, Dragonfly, Switches, Torus};
use std::fmt;

/// How hosts are linked, in the order of their ranks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Wiring {
    /// Neighbours on a cube; where [`Machine::pairs_linked`](super::Machine::pairs_linked) is false.
    Cube,
    /// Neighbours on a torus.
    Torus(Torus),
    /// By a tree of switches.
    Tree {
        /// The switches.
        switches: Switches,
        /// Hosts below them all. Of calls on others it is not known where they are.
        hosts: usize,
    },
    /// By groups of routers.
    Dragonfly {
        /// The routers.
        dragonfly: Dragonfly,
        /// Hosts on them all.
        hosts: usize,
    },
}

/// What messages between hosts take for the links that they go over.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OfLinks {
    /// How hosts are linked.
    pub wiring: Wiring,
    /// Seconds for each link. [`Machine::hop`](super::Machine::hop) is that of neighbours on a cube, and elsewhere that of two hosts that are as
    /// far from each other as hosts are in the mean.
    pub link: f64,
}

impl Wiring {
    /// The torus, if there is one of so many hosts.
    pub(super) fn torus(&self, hosts: usize) -> Option<Torus> {
        match self {
            Wiring::Torus(torus) if torus.hosts() == hosts => Some(*torus),
            _ => None,
        }
    }

    /// How many times as long messages take that share links, where each of so many hosts sends parts of what it sends so many places further on,
    /// `by_xor` to the host whose number differs in that bit, one stride after the other; 1 where that is not known. (On a torus it is not
    /// counted: `circulant` is then predicted well, but `chain`, which shares no link, was slower there in packets of 16 KiB.)
    pub(super) fn sharing(&self, hosts: usize, by_xor: bool, strides: impl FnOnce() -> Vec<(usize, f64)>) -> f64 {
        let dragonfly = match self {
            Wiring::Dragonfly { dragonfly, hosts: all } if *all == hosts => dragonfly,
            _ => return 1.0,
        };
        let waits =
            |(stride, part): (usize, f64)| part * dragonfly.busiest(hosts, stride, by_xor).saturating_sub(1) as f64;
        1.0 + strides().into_iter().map(waits).sum::<f64>()
    }

    /// Links between two of so many hosts in the mean, beyond those that [`Machine::hop`](super::Machine::hop) has: on a cube a message
    /// goes over (n + 1)/2 of them.
    pub(super) fn beyond(&self, hosts: usize) -> f64 {
        match self {
            Wiring::Cube => f64::from(dimension_for(hosts).max(1) - 1) / 2.0,
            Wiring::Torus(_) | Wiring::Tree { .. } | Wiring::Dragonfly { .. } => 0.0,
        }
    }

    /// Links between two hosts in the mean, which [`Machine::hop`](super::Machine::hop) has.
    pub(super) fn links(&self) -> f64 {
        match self {
            Wiring::Cube => 0.0,
            Wiring::Torus(torus) => torus.links(),
            Wiring::Tree { switches, hosts } => switches.links(*hosts),
            Wiring::Dragonfly { dragonfly, hosts } => dragonfly.links(*hosts),
        }
    }

    /// The same between those of so many hosts whose numbers differ in one bit; `None` where that is not known, or another number for
    /// other hosts.
    pub(super) fn links_by_bit(&self, hosts: usize) -> Option<f64> {
        let links = match self {
            Wiring::Torus(torus)
                if torus.hosts() == hosts && torus.sides().iter().all(|side| side.is_power_of_two()) =>
            {
                torus.links_by_bit().sum::<usize>()
            }
            Wiring::Tree { switches, hosts: all } if *all == hosts => switches.links_by_bit(hosts)?.sum(),
            Wiring::Dragonfly { dragonfly, hosts: all } if *all == hosts => return dragonfly.links_by_bit(hosts),
            _ => return None,
        };
        Some(links as f64 / f64::from(dimension_for(hosts).max(1)))
    }
}

/// As a tuning file has it.
impl fmt::Display for Wiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wiring::Cube => f.pad("cube"),
            Wiring::Torus(torus) => write!(f, "torus {torus}"),
            Wiring::Tree { switches, .. } => write!(f, "tree {switches}"),
            Wiring::Dragonfly { dragonfly, .. } => write!(f, "dragonfly {dragonfly}"),
        }
    }
}
