//! What the choice takes a machine to be.

use super::{Checked, OfLinks, Wiring};
use crate::algorithm::PortModel;
use std::fmt;
use std::sync::Arc;

/// What the choice needs to know of a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Its name in explanations.
    pub name: String,
    /// Start-up time of a message, in seconds: what each of several adds that are sent one after the other.
    pub tau: f64,
    /// Time in seconds until a rank that waits sees what another has sent, beyond the start-up; where ranks share cores, if each had
    /// one of its own.
    pub hop: f64,
    /// Where hosts have several ranks: the same while all ranks of each host send to others.
    pub together: Together,
    /// What messages between hosts take where no rank sends and receives at once, as in trees and to or from a root; `None` where it has not
    /// been measured: then half a start-up is the sender's.
    pub alone: Option<Alone>,
    /// Transfer time in seconds per byte.
    pub t_c: f64,
    /// How many ports of a node work at once.
    pub ports: PortModel,
    /// Whether every two ranks are linked as well as neighbours on the cube are.
    pub pairs_linked: bool,
    /// How hosts are linked and what a link takes, where hosts are not all alike to each other; `None` where they are, or nothing is known of
    /// that. (On a cube links after the first then take nothing beside what ranks take.)
    pub wiring: Option<OfLinks>,
    /// Bytes of a packet that costs [`PACKET_COST`] besides, in a train of packets that are passed on; `None` where it has not been
    /// measured.
    pub packet: Option<usize>,
    /// Bytes that a link lets pass at once after a pause, as shapers do; 0 where they do not, or it has not been measured.
    pub burst: usize,
    /// Packets should stay below so many bytes, as MPI treats larger messages in a slower way; `None` if there is no such bound.
    pub packet_limit: Option<usize>,
    /// Where ranks share one memory: how they share the cores.
    pub shared: Option<SharedMemory>,
    /// Where ranks share one memory: seconds per byte of messages too short to be copied at once, out of the sender's memory, as packets that
    /// follow one another take; `None` where it has not been measured.
    pub piped: Option<f64>,
    /// Between ranks of one host: bytes from which on a message is there sooner if its receiver copies it out of the sender's memory than
    /// through memory of both; `usize::MAX` if none is, or none may be copied so, `None` where it has not been measured.
    pub single_copy_from: Option<usize>,
    /// Between ranks of one host, where ranks are on several; `None` where it has not been measured.
    pub near: Option<Times>,
    /// What calls took there, which corrects what is predicted of such calls; `None` if none was measured.
    pub checked: Option<Arc<Checked>>,
}

/// What messages between two ranks take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times {
    /// As [`Machine::tau`].
    pub tau: f64,
    /// As [`Machine::hop`].
    pub hop: f64,
    /// As [`Machine::t_c`].
    pub t_c: f64,
}

impl Times {
    /// Typical ones between ranks that share a memory.
    pub const NEAR: Times = Times { tau: 0.15e-6, hop: 1e-6, t_c: 0.1e-9 };
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Times { tau, hop, t_c } = self;
        write!(f, "tau {:.3} us, hop {:.3} us, t_c {:.4} ns a byte", tau * 1e6, hop * 1e6, t_c * 1e9)
    }
}

/// What a message between hosts takes while all ranks of each send to others, which may share its cores and its port; `None` where it has
/// not been measured.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Together {
    /// As [`Machine::tau`]. Not measured, it is the same as that of one rank.
    pub tau: Option<f64>,
    /// As [`Machine::hop`]; the same.
    pub hop: Option<f64>,
}

impl Together {
    /// With what another one has in place of what this one has not.
    pub(crate) fn or(self, other: Together) -> Together {
        Together { tau: self.tau.or(other.tau), hop: self.hop.or(other.hop) }
    }
}

/// What messages between hosts take where no rank sends and receives at once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Alone {
    /// As [`Machine::tau`].
    pub tau: f64,
    /// As [`Machine::hop`].
    pub hop: f64,
}

/// What has been measured of a machine for which there is no tuning file.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Measurement {
    /// Between ranks of different hosts, or, if all share one memory, between any two.
    pub times: Option<Times>,
    /// As [`Machine::together`].
    pub together: Together,
    /// As [`Machine::alone`].
    pub alone: Option<Alone>,
    /// As [`Machine::burst`].
    pub burst: Option<usize>,
    /// As [`Machine::piped`].
    pub piped: Option<f64>,
    /// As [`Machine::single_copy_from`].
    pub single_copy_from: Option<usize>,
    /// As [`Machine::near`].
    pub near: Option<Times>,
    /// Between hosts.
    pub links: Option<Links>,
}

impl Measurement {
    /// Whether it tells of links only what can be told soon: others tell what links let pass at once.
    pub fn is_brief(&self) -> bool {
        self.burst.is_none()
    }
}

#[cfg(feature = "mpi")]
impl Measurement {
    /// With what another one has in place of what this one has not.
    pub(crate) fn or(self, other: &Measurement) -> Measurement {
        Measurement {
            times: self.times.or(other.times),
            together: self.together.or(other.together),
            alone: self.alone.or(other.alone),
            burst: self.burst.or(other.burst),
            piped: self.piped.or(other.piped),
            single_copy_from: self.single_copy_from.or(other.single_copy_from),
            near: self.near.or(other.near),
            links: self.links.or(other.links),
        }
    }
}

/// What the links between hosts can do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Links {
    /// As [`Machine::ports`].
    pub ports: PortModel,
    /// As [`Machine::pairs_linked`].
    pub pairs_linked: bool,
}

/// What a packet of [`Machine::packet`] bytes costs besides them, as a part of what they cost: headers, as a rule. Shorter packets are
/// noticeably slower; longer ones last longer at every hop, and where ranks exchange them they go farther ahead.
pub const PACKET_COST: f64 = 1.0 / 80.0;

/// What decides where ranks share one memory: receivers copy, all at once as far as there are cores.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SharedMemory {
    /// Cores that the ranks share.
    pub cores: usize,
    /// Bytes of a cache that a core has for itself; `None` where that is not known.
    pub cache: Option<usize>,
}

impl Machine {
    /// Ranks that share one memory and `cores` cores: any two are linked. The times are typical ones.
    pub fn shared_memory(cores: usize) -> Machine {
        Machine {
            name: format!("shared memory, {cores} cores (built in)"),
            tau: Times::NEAR.tau,
            hop: Times::NEAR.hop,
            together: Together::default(),
            alone: None,
            t_c: Times::NEAR.t_c,
            ports: PortModel::OnePort,
            pairs_linked: true,
            wiring: None,
            packet: None,
            burst: 0,
            packet_limit: None,
            shared: Some(SharedMemory { cores: cores.max(1), cache: None }),
            piped: None,
            single_copy_from: None,
            near: None,
            checked: None,
        }
    }

    /// Hosts on a network that links every two of them, each with one port of about 10 Gbit/s. The times are typical ones; the
    /// packet is the one that was best over TCP on links of 10 to 100 Mbit/s, of one port and of several; the limit of packets is where
    /// Open MPI's messages over TCP begin to wait for their receivers.
    pub fn network() -> Machine {
        Machine {
            name: "network (built in)".into(),
            tau: 10e-6,
            hop: 20e-6,
            together: Together::default(),
            alone: None,
            t_c: 0.9e-9,
            ports: PortModel::OnePort,
            pairs_linked: true,
            wiring: None,
            packet: Some(4 << 10),
            burst: 0,
            packet_limit: Some(64 << 10),
            shared: None,
            piped: None,
            single_copy_from: None,
            near: None,
            checked: None,
        }
    }

    /// The built-in machine for ranks that share one memory and so many cores, or for ranks that do not.
    pub fn built_in(cores: Option<usize>) -> Machine {
        cores.map_or_else(Machine::network, Machine::shared_memory)
    }

    /// Its times in words, and what its links can do besides a message between any two hosts at a time.
    pub fn times(&self) -> String {
        let Machine { tau, hop, together, alone, t_c, ports, pairs_linked, burst, piped, near, .. } = *self;
        let piped = piped.map(|piped| format!(", of short messages {:.4}", piped * 1e9)).unwrap_or_default();
        let near = near.map(|near| format!("; within a host {near}")).unwrap_or_default();
        let of_all = |name: &str, time: Option<f64>| {
            time.map(|time| format!(", {name} of all ranks of a host {:.3} us", time * 1e6)).unwrap_or_default()
        };
        let together = of_all("tau", together.tau) + &of_all("hop", together.hop);
        let alone =
            alone.map(|Alone { tau, hop }| format!(", one way only: tau {:.3} us, hop {:.3} us", tau * 1e6, hop * 1e6));
        let together = together + &alone.unwrap_or_default();
        let burst = if burst > 0 { format!(", {burst} bytes pass a link at once") } else { String::new() };
        let ports = if ports == PortModel::AllPorts { ", all ports at once" } else { "" };
        let linked = if pairs_linked { "" } else { ", neighbours linked" };
        let wiring = self.wiring.map(|OfLinks { wiring, link }| {
            let after = if wiring == Wiring::Cube { " after the first" } else { "" };
            format!(", {wiring}, {:.3} us a link{after}", link * 1e6)
        });
        let linked = linked.to_string() + &wiring.unwrap_or_default();
        format!("{}{}{ports}{linked}{burst}{piped}{near}", Times { tau, hop, t_c }, together)
    }

    /// With what has been measured in place of what was not known.
    pub fn with(self, measurement: &Measurement) -> Machine {
        let Measurement { together, alone, piped, single_copy_from, near, links, .. } = *measurement;
        let Links { ports, pairs_linked } =
            links.unwrap_or(Links { ports: self.ports, pairs_linked: self.pairs_linked });
        let machine = Machine {
            ports,
            pairs_linked,
            near: near.or(self.near),
            piped: piped.or(self.piped),
            // What a file says is not measured again where only something else is lacking.
            together: self.together.or(together),
            alone: self.alone.or(alone),
            single_copy_from: self.single_copy_from.or(single_copy_from),
            ..self
        };
        match measurement.times {
            None => machine,
            Some(Times { tau, hop, t_c }) => {
                let how = match machine.shared.is_none() && measurement.is_brief() {
                    true => "(measured briefly when it was first used",
                    false => "(measured when it was first used",
                };
                let name =
                    machine.name.replace("(built in", how).replace("(measured briefly when it was first used", how);
                Machine { name, tau, hop, t_c, burst: measurement.burst.unwrap_or(0), ..machine }
            }
        }
    }
}
