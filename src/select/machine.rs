//! What the choice takes a machine to be.

use crate::algorithm::PortModel;

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
    /// Transfer time in seconds per byte.
    pub t_c: f64,
    /// How many ports of a node work at once.
    pub ports: PortModel,
    /// Whether every two ranks are linked as well as neighbours on the cube are.
    pub pairs_linked: bool,
    /// Bytes of a packet that costs [`PACKET_COST`] besides, in a train of packets that are passed on; `None` where it has not been
    /// measured.
    pub packet: Option<usize>,
    /// Bytes that a link lets pass at once after a pause, as shapers do; 0 where they do not, or it has not been measured.
    pub burst: usize,
    /// Packets should stay below so many bytes, as MPI treats larger messages in a slower way; `None` if there is no such bound.
    pub packet_limit: Option<usize>,
    /// Where ranks share one memory: how they share the cores.
    pub shared: Option<SharedMemory>,
}

/// What a packet of [`Machine::packet`] bytes costs besides them, as a part of what they cost: headers, as a rule. Shorter packets are
/// noticeably slower; longer ones last longer at every hop, and where ranks exchange them they go farther ahead.
pub const PACKET_COST: f64 = 1.0 / 80.0;

/// What decides where ranks share one memory: receivers copy, all at once as far as there are cores.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SharedMemory {
    /// Cores that the ranks share.
    pub cores: usize,
}

impl Machine {
    /// Ranks that share one memory and `cores` cores: any two are linked. The times are typical ones.
    pub fn shared_memory(cores: usize) -> Machine {
        Machine {
            name: format!("shared memory, {cores} cores (built in)"),
            tau: 0.15e-6,
            hop: 1e-6,
            t_c: 0.1e-9,
            ports: PortModel::OnePort,
            pairs_linked: true,
            packet: None,
            burst: 0,
            packet_limit: None,
            shared: Some(SharedMemory { cores: cores.max(1) }),
        }
    }

    /// Hosts on a network that links every two of them, each with one port of about 10 Gbit/s. The times are typical ones; the
    /// limit of packets is where Open MPI's messages over TCP begin to wait for their receivers.
    pub fn network() -> Machine {
        Machine {
            name: "network (built in)".into(),
            tau: 10e-6,
            hop: 20e-6,
            t_c: 0.9e-9,
            ports: PortModel::OnePort,
            pairs_linked: true,
            packet: None,
            burst: 0,
            packet_limit: Some(64 << 10),
            shared: None,
        }
    }

    /// The built-in machine for ranks that share one memory and so many cores, or for ranks that do not.
    pub fn built_in(cores: Option<usize>) -> Machine {
        cores.map_or_else(Machine::network, Machine::shared_memory)
    }
}
