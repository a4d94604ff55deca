//! What can be asked of an algorithm besides the call.

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
}

impl Parameters {
    /// No packets; symmetrised if all ports work at once; the usual order and tree.
    pub fn new(ports: PortModel) -> Parameters {
        let symmetrized = ports == PortModel::AllPorts;
        Parameters { packet: None, ports, symmetrized, order: None, variant: Variant::default() }
    }

    /// In words, without the packet: the port model, and what is not as usual.
    pub fn form(&self) -> String {
        let Parameters { packet: _, ports, symmetrized, order, variant } = *self;
        let symmetrized = if ports == PortModel::AllPorts && symmetrized { ", symmetrised" } else { "" };
        let order = order.map_or(String::new(), |order| format!(", order {order}"));
        let variant = if variant == Variant::default() { String::new() } else { format!(", variant {variant}") };
        format!("{ports}{symmetrized}{order}{variant}")
    }

    /// g of Stout and Wagar: the groups of a vector of `count` elements whose first packets, of at most B elements each, leave
    /// over `links` links; one where no packet size is given.
    pub(super) fn groups(&self, count: usize, links: u32) -> usize {
        self.packet.map_or(1, |packet| count.div_ceil((links as usize).saturating_mul(packet).max(1)).max(1))
    }
}
