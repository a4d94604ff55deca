//! Networks as SimGrid's platforms, and as machines for the choice.

use clap::ValueEnum;
use hypercoll::address::{Dragonfly, Switches, Torus};
use hypercoll::algorithm::PortModel;
use hypercoll::select::{Machine, OfLinks, Times, Wiring};
use std::fmt::Write;

/// Bytes a second of a link, in each direction.
pub const BANDWIDTH: f64 = 12.5e9;
/// Seconds that a link takes.
pub const LATENCY: f64 = 0.5e-6;
/// Seconds that a rank spends on starting a message, and on having received one.
pub const OVERHEAD: f64 = 0.25e-6;
/// Bytes of the longest message that does not wait for its receive.
pub const EAGER: usize = 64 << 10;
/// Between ranks of a host: bytes a second of each message, and seconds.
pub const NEAR_BANDWIDTH: f64 = 10e9;
pub const NEAR_LATENCY: f64 = 0.2e-6;
/// Messages within a host do not share anything in SimGrid. The choice is told of so many at once.
const NEAR_AT_ONCE: f64 = 8.0;
/// Bytes of a packet of a train, such that what it takes to start is little beside what it takes to pass.
const PACKET: usize = 64 << 10;
/// The same where hosts have several ranks, as what a packet takes to start passes while others go from rank to rank, and on a torus, whose
/// links packets share with those of others: the shorter they are, the sooner the first ones are through.
const SHORT_PACKET: usize = 16 << 10;
/// SimGrid prints microseconds. So a second there is a millisecond here.
pub const UNIT: f64 = 1e3;

/// A network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, ValueEnum)]
pub enum Network {
    /// Every host has a link to a switch that is never short of anything
    Star,
    /// A link an edge, messages go by the lowest differing dimension first
    Hypercube,
    /// Three dimensions, rings, messages go by one dimension after the other
    Torus,
    /// Two levels of switches, as many links up as down
    FatTree,
    /// Two levels of switches, half as many links up as down
    FatTreeHalf,
    /// Groups of routers, a link between every two groups
    Dragonfly,
}

impl Network {
    pub fn name(self) -> &'static str {
        match self {
            Network::Star => "star",
            Network::Hypercube => "hypercube",
            Network::Torus => "torus",
            Network::FatTree => "fat-tree",
            Network::FatTreeHalf => "fat-tree-half",
            Network::Dragonfly => "dragonfly",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Network::Star => "Star: every host has a link to one switch",
            Network::Hypercube => "Hypercube: a link an edge",
            Network::Torus => "Torus of three dimensions",
            Network::FatTree => "Fat tree, as many links up as down",
            Network::FatTreeHalf => "Fat tree, half as many links up as down",
            Network::Dragonfly => "Dragonfly",
        }
    }

    /// SimGrid's words for its shape, and how many hosts that has: as few as there are with at least so many.
    fn shape(self, hosts: usize) -> (String, usize) {
        match self {
            Network::Star => (String::new(), hosts),
            Network::Hypercube => {
                let dimension = hosts.next_power_of_two().trailing_zeros().max(1) as usize;
                (topology("TORUS", &vec!["2"; dimension].join(",")), 1 << dimension)
            }
            Network::Torus => {
                let [x, y, z] = box_of(hosts);
                (topology("TORUS", &format!("{x},{y},{z}")), x * y * z)
            }
            Network::FatTree | Network::FatTreeHalf => {
                let below = below(hosts);
                let leaves = hosts.div_ceil(below);
                let up = if self == Network::FatTree { below } else { below / 2 };
                (topology("FAT_TREE", &format!("2;{below},{leaves};1,{up};1,1")), below * leaves)
            }
            Network::Dragonfly => {
                let groups = groups(hosts);
                (topology("DRAGONFLY", &format!("{groups},1;1,1;{groups},1;2")), 2 * groups * groups)
            }
        }
    }

    /// The platform file: hosts `h0`, `h1`, ...
    pub fn platform(self, hosts: usize) -> String {
        let (shape, hosts) = self.shape(hosts);
        cluster(hosts, BANDWIDTH, LATENCY, &shape)
    }

    /// How hosts are linked, where the choice can be told.
    fn wiring(self, hosts: usize) -> Option<Wiring> {
        match self {
            Network::Hypercube => Some(Wiring::Cube),
            Network::Torus => Torus::new(&box_of(hosts)).map(Wiring::Torus),
            Network::FatTree | Network::FatTreeHalf => switches(hosts).map(|switches| Wiring::Tree { switches, hosts }),
            // In one group there is nothing to say.
            Network::Dragonfly => Dragonfly::new(2, groups(hosts))
                .filter(|dragonfly| hosts > dragonfly.group())
                .map(|dragonfly| Wiring::Dragonfly { dragonfly, hosts }),
            Network::Star => None,
        }
    }

    /// What the choice is told of it, with so many hosts and so many ranks on each: latency of a message between two hosts, overheads, bandwidth.
    pub fn machine(self, hosts: usize, per_host: usize) -> Machine {
        let links = match self {
            Network::Hypercube => 1.0,
            Network::Star => 2.0,
            Network::FatTree | Network::FatTreeHalf => switches(hosts).map_or(4.0, |switches| switches.links(hosts)),
            // Round each ring, a quarter of it in the mean.
            Network::Torus => box_of(hosts).iter().sum::<usize>() as f64 / 4.0,
            Network::Dragonfly => 5.0,
        };
        Machine {
            name: format!("{} (simulated)", self.name()),
            // As `tune` measures it: of an exchange, so of a message that is sent and one that is received.
            tau: 2.0 * OVERHEAD,
            hop: links * LATENCY,
            t_c: 1.0 / BANDWIDTH,
            ports: if self == Network::Hypercube { PortModel::AllPorts } else { PortModel::OnePort },
            pairs_linked: self != Network::Hypercube,
            wiring: self.wiring(hosts).map(|wiring| OfLinks { wiring, link: LATENCY }),
            packet: Some(if per_host > 1 || self == Network::Torus { SHORT_PACKET } else { PACKET }),
            packet_limit: None,
            near: Some(Times { tau: 2.0 * OVERHEAD, hop: NEAR_LATENCY, t_c: 1.0 / NEAR_BANDWIDTH / NEAR_AT_ONCE }),
            ..Machine::network()
        }
    }
}

/// A star as the papers' one-port machines: between any two nodes `tau` seconds and `t_c` a byte.
pub fn star(size: usize, tau: f64, t_c: f64) -> String {
    cluster(size, 1.0 / t_c, tau / 2.0, "")
}

fn cluster(hosts: usize, bandwidth: f64, latency: f64, shape: &str) -> String {
    let cluster = format!(
        "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\" bw=\"{}Bps\" lat=\"{}s\" \
         loopback_bw=\"{}Bps\" loopback_lat=\"{}s\" sharing_policy=\"SPLITDUPLEX\"{shape}/>\n",
        hosts - 1,
        bandwidth / UNIT,
        latency * UNIT,
        NEAR_BANDWIDTH / UNIT,
        NEAR_LATENCY * UNIT
    );
    document(&format!("<zone id=\"w\" routing=\"Full\">\n{cluster}</zone>\n"))
}

fn topology(kind: &str, parameters: &str) -> String {
    format!(" topology=\"{kind}\" topo_parameters=\"{parameters}\"")
}

/// Hosts on one switch of a fat tree.
fn below(hosts: usize) -> usize {
    (1..).map(|bit| 1 << bit).find(|below| below * below >= hosts).unwrap_or(2)
}

/// Its switches.
fn switches(hosts: usize) -> Option<Switches> {
    Switches::new(&[below(hosts)])
}

/// Groups of a dragonfly, and routers in each, of two hosts: a group's router reaches the group of its own number.
fn groups(hosts: usize) -> usize {
    (2..).find(|groups| 2 * groups * groups >= hosts).unwrap_or(2)
}

/// The sides of a box of at least so many hosts that is near to a cube: the smallest of those with sides that differ by a factor of
/// two at most.
fn box_of(hosts: usize) -> [usize; 3] {
    let most = (1..).find(|side| side * side * side >= hosts).unwrap_or(1) * 2;
    let mut best = [most; 3];
    for x in 1..=most {
        for y in x..=most.min(2 * x) {
            let z = hosts.div_ceil(x * y).max(y);
            if z <= 2 * x && (x * y * z, z - x) < (best.iter().product(), best[2] - best[0]) {
                best = [x, y, z];
            }
        }
    }
    [best[2], best[1], best[0]]
}

/// The cube as the papers have it, with every link and every route by itself: a link an edge and a direction, which takes `tau`
/// seconds and `t_c` a byte; from one node to another by the lowest differing dimension first.
pub fn cube(dimension: u32, tau: f64, t_c: f64) -> String {
    let size = 1usize << dimension;
    let mut zone = String::from("<zone id=\"w\" routing=\"Full\">\n");
    // Writing to a string does not fail.
    for node in 0..size {
        let _ = writeln!(zone, "<host id=\"h{node}\" speed=\"1Gf\"/>");
    }
    for node in 0..size {
        for port in 0..dimension {
            let (bandwidth, latency) = (1.0 / t_c / UNIT, tau * UNIT);
            let _ = writeln!(
                zone,
                "<link id=\"l{node}-{}\" bandwidth=\"{bandwidth}Bps\" latency=\"{latency}s\" sharing_policy=\"SHARED\"/>",
                node ^ 1 << port
            );
        }
    }
    for from in 0..size {
        for to in (0..size).filter(|&to| to != from) {
            let _ = write!(zone, "<route src=\"h{from}\" dst=\"h{to}\" symmetrical=\"NO\">");
            let mut at = from;
            for port in (0..dimension).filter(|port| (from ^ to) >> port & 1 == 1) {
                let next = at ^ 1 << port;
                let _ = write!(zone, "<link_ctn id=\"l{at}-{next}\"/>");
                at = next;
            }
            zone.push_str("</route>\n");
        }
    }
    zone.push_str("</zone>\n");
    document(&zone)
}

fn document(zone: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n\
         {zone}</platform>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_hold_all_hosts() {
        for network in Network::value_variants() {
            for hosts in [4, 63, 64, 257, 1000, 1024, 4096, 4097] {
                let (shape, there) = network.shape(hosts);
                assert!(there >= hosts && there <= 2 * hosts.max(64), "{network:?} {hosts}: {shape}");
            }
        }
        assert_eq!(box_of(64), [4, 4, 4]);
        assert_eq!(box_of(1000), [10, 10, 10]);
        assert_eq!(box_of(1024), [16, 8, 8]);
        assert_eq!(Network::FatTreeHalf.shape(64).0, topology("FAT_TREE", "2;8,8;1,4;1,1"));
        assert_eq!(Network::Hypercube.shape(8), (topology("TORUS", "2,2,2"), 8));
    }

    #[test]
    fn the_cube_has_its_links_and_routes() {
        let cube = cube(3, 1.0, 1e-6);
        assert_eq!((cube.matches("<link id").count(), cube.matches("<route").count()), (24, 56));
        assert!(cube.contains("src=\"h1\" dst=\"h6\" symmetrical=\"NO\"><link_ctn id=\"l1-0\"/><link_ctn id=\"l0-2\"/><link_ctn id=\"l2-6\"/>"));
    }
}
