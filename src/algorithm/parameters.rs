//! What can be asked of an algorithm besides the call.

use crate::address::Torus;
use crate::schedule::PortModel;
use crate::topology::sbnt::Variant;
use std::fmt;
use std::str::FromStr;

/// The order in which the root of a scatter sends its blocks, where an algorithm has several.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// All blocks of a subtree together, subtree after subtree.
    Subtrees,
    /// A packet to each subtree of the root in turn.
    Cyclic,
    /// Within a subtree in postorder: a node after all nodes below it.
    Postorder,
    /// The farthest nodes first.
    ReverseBreadthFirst,
    /// Descending relative addresses, so that the ports follow one another as in the binary-reflected Gray code.
    GrayCode,
}

impl Order {
    /// All orders.
    pub const ALL: [Order; 5] =
        [Order::Subtrees, Order::Cyclic, Order::Postorder, Order::ReverseBreadthFirst, Order::GrayCode];

    /// The name in print.
    pub fn name(self) -> &'static str {
        match self {
            Order::Subtrees => "subtrees",
            Order::Cyclic => "cyclic",
            Order::Postorder => "postorder",
            Order::ReverseBreadthFirst => "reverse-breadth-first",
            Order::GrayCode => "gray-code",
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Order::ALL.into_iter().find(|o| o.name() == text.replace('_', "-")).ok_or_else(|| {
            let names: Vec<_> = Order::ALL.iter().map(|o| o.name()).collect();
            format!("unknown order '{text}'; known: {}", names.join(", "))
        })
    }
}

/// How many messages a rank could start, one after the other, from when it starts one until the other rank has it: lambda of the postal
/// model. 1 where nothing else can be started meanwhile. In print 6,3, or on a torus, where each link makes it 2 longer, 6+2@4x4x8,3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Latency {
    /// Between hosts; between any two ranks where nothing is known of hosts.
    pub far: usize,
    /// Within a host.
    pub near: usize,
    /// Where hosts are on a torus, which each link makes longer; `None` where all ways between hosts are alike.
    pub torus: Option<OnTorus>,
}

/// How far hosts are from each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OnTorus {
    /// How they are linked.
    pub torus: Torus,
    /// How many messages a rank could start while one goes over a link.
    pub link: usize,
}

impl Latency {
    /// The largest that there is: more makes next to no difference.
    pub const MOST: usize = 64;
}

impl Default for Latency {
    fn default() -> Latency {
        Latency { far: 3, near: 2, torus: None }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Latency { far, near, torus } = self;
        let torus = torus.map_or(String::new(), |OnTorus { torus, link }| format!("+{link}@{torus}"));
        f.pad(&format!("{far}{torus},{near}"))
    }
}

impl FromStr for Latency {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let number = |text: &str, least| text.parse().ok().filter(|number| (least..=Latency::MOST).contains(number));
        let far = |text: &str| match text.split_once('+') {
            None => Some((number(text, 1)?, None)),
            Some((far, on)) => {
                let (link, torus) = on.split_once('@')?;
                Some((number(far, 1)?, Some(OnTorus { torus: torus.parse().ok()?, link: number(link, 0)? })))
            }
        };
        let read = text.split_once(',').and_then(|(first, near)| {
            let (far, torus) = far(first)?;
            Some(Latency { far, near: number(near, 1)?, torus })
        });
        read.ok_or_else(|| {
            let most = Latency::MOST;
            format!("'{text}' is not two numbers from 1 to {most}, as 6,3, or 6+2@4x4x8,3 on a torus")
        })
    }
}

/// The parameters of an algorithm, all decided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Parameters {
    /// Largest packet in elements; `None`: everything that travels together in one packet. Where an algorithm makes no rounds of
    /// packets itself, its messages are cut into packets.
    pub packet: Option<usize>,
    /// The port model for which the schedule is made.
    pub ports: PortModel,
    /// All dimensions at once, each for its part of the data (else one dimension at a time).
    pub symmetrized: bool,
    /// The order of the blocks; `None`: the algorithm's usual one for the port model.
    pub order: Option<Order>,
    /// Which spanning balanced n-tree, where the algorithm uses one.
    pub variant: Variant,
    /// For how much latency its tree is made, where it counts it.
    pub latency: Latency,
}

impl Parameters {
    /// No packets; symmetrised if all ports work at once; the usual order and tree.
    pub fn new(ports: PortModel) -> Parameters {
        let symmetrized = ports == PortModel::AllPorts;
        Parameters {
            packet: None,
            ports,
            symmetrized,
            order: None,
            variant: Variant::default(),
            latency: Latency::default(),
        }
    }

    /// In words, without the packet: the port model, and what is not as usual.
    pub fn form(&self) -> String {
        let Parameters { packet: _, ports, symmetrized, order, variant, latency } = *self;
        let symmetrized = if ports == PortModel::AllPorts && symmetrized { ", symmetrised" } else { "" };
        let order = order.map_or(String::new(), |order| format!(", order {order}"));
        let variant = if variant == Variant::default() { String::new() } else { format!(", variant {variant}") };
        let latency = if latency == Latency::default() { String::new() } else { format!(", latency {latency}") };
        format!("{ports}{symmetrized}{order}{variant}{latency}")
    }

    /// g of Stout and Wagar: the groups of a vector of `count` elements whose first packets, of at most B elements each, leave
    /// over `links` links; one where no packet size is given.
    pub(super) fn groups(&self, count: usize, links: u32) -> usize {
        self.packet.map_or(1, |packet| count.div_ceil((links as usize).saturating_mul(packet).max(1)).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_read_as_they_are_printed() {
        for text in ["6,3", "1,64", "6+2@4x4x8,3", "64+0@2,1"] {
            assert_eq!(text.parse::<Latency>().map(|latency| latency.to_string()), Ok(text.into()));
        }
        for text in ["6", "0,3", "6,65", "6+2,3", "6+2@,3", "6+65@4,3", "+2@4,3", "6,3+2@4"] {
            assert!(text.parse::<Latency>().is_err(), "{text}");
        }
    }
}
