//! The algorithms: a folder a collective, a file an algorithm, a row each in the [`registry`].
//!
//! An algorithm is a pure function that writes the [`Route`] of one node. It names intervals, neighbours and rounds, and
//! knows no rank, no buffer and no transport. Collectives that are opposites of each other share it: gather is scatter
//! backwards, reduce is broadcast backwards, reduce-scatter is all-gather backwards ([`Form`]).

pub mod registry;
pub mod verify;

mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod gather;
mod matrix_multiply;
mod permute;
mod reduce;
mod reduce_scatter;
mod scatter;
mod send;
mod transpose_rows;
mod transpose_submatrices;

mod direct;
mod exchange;
#[cfg(test)]
mod optimal_times;
#[cfg(test)]
mod sbnt_tables;
mod translated;
mod tree_scatter;

use crate::address::dimension_for;
use crate::collective::{Call, Collective, MatrixProduct};
use crate::error::{Error, Result};
use crate::schedule::{fold, place, Messages, Problem, Route, Schedule};
use crate::topology::sbnt::Variant;
use std::fmt;
use std::str::FromStr;

pub use crate::schedule::PortModel;

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
    fn groups(&self, count: usize, links: u32) -> usize {
        self.packet.map_or(1, |packet| count.div_ceil((links as usize).saturating_mul(packet).max(1)).max(1))
    }
}

/// Writes the route of one node.
pub type Write = fn(&Problem, &Parameters, usize, &mut Route);

/// How a collective is made of routes.
#[derive(Clone, Copy)]
pub enum Form {
    /// As written.
    Forward(Write),
    /// Backwards: receives become sends; for a reduction, what was copied is combined.
    Backward(Write),
    /// The first backwards, then the second forwards (all-reduce).
    BackwardForward(Write, Write),
    /// The first backwards, then the second, in which what is received is combined, then the first forwards (all-reduce).
    Between(Write, Write),
}

/// The shape of a call on a whole cube: what formulas depend on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shape {
    /// Dimension of the cube, N = 2^n.
    pub n: u32,
    /// Elements of the vector or block, as in [`Call::count`].
    pub count: usize,
    /// Dimensions that the data has to cross: between root and peer of a send or exchange; of a permutation that is a
    /// translation by XOR; else n.
    pub distance: u32,
    /// For a matrix product: its shape and distribution.
    pub product: MatrixProduct,
    /// The parameters.
    pub parameters: Parameters,
}

impl Shape {
    /// The shape of a call, on the next larger whole cube.
    pub fn new(call: &Call, parameters: &Parameters) -> Shape {
        let n = dimension_for(call.size);
        let distance = match call.collective {
            Collective::Send | Collective::Exchange => (call.root ^ call.peer).count_ones(),
            _ => call.translation().map_or(n, usize::count_ones),
        };
        Shape { n, count: call.count, distance, product: call.product(), parameters: *parameters }
    }

    /// N.
    pub fn nodes(&self) -> usize {
        1 << self.n
    }

    /// P = ceil(M / B), 0 for an empty vector.
    pub fn packets(&self) -> usize {
        self.count.div_ceil(self.packet())
    }

    /// B, at most M and at least 1.
    pub fn packet(&self) -> usize {
        self.parameters.packet.unwrap_or(self.count).clamp(1, self.count.max(1))
    }
}

/// What an algorithm costs on a whole cube: time = `rounds` tau + `elements` t_c by the paper; and what else decides where
/// ranks share a memory.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Formula {
    /// Routing steps, each with one start-up.
    pub rounds: usize,
    /// Elements that follow one another through the busiest links, round by round.
    pub elements: f64,
    /// Elements moved in all, each counted on every link that it crosses.
    pub moved: f64,
    /// Elements over the directed link that carries the most.
    pub load: f64,
    /// Messages that wait for one another, one after the other, if every message travels whole.
    pub hops: usize,
    /// About how many elements are received one after the other on the way to the last result.
    pub path: f64,
}

impl Formula {
    /// The time for a start-up `tau` and a transfer time `t_c` per element.
    pub fn time(&self, tau: f64, t_c: f64) -> f64 {
        self.rounds as f64 * tau + self.elements * t_c
    }

    /// For `factor` times as many elements.
    fn scaled(self, factor: f64) -> Formula {
        Formula {
            elements: self.elements * factor,
            moved: self.moved * factor,
            load: self.load * factor,
            path: self.path * factor,
            ..self
        }
    }

    /// One after the other, over the same links.
    fn then(self, other: Formula) -> Formula {
        Formula {
            rounds: self.rounds + other.rounds,
            elements: self.elements + other.elements,
            moved: self.moved + other.moved,
            load: self.load + other.load,
            hops: self.hops + other.hops,
            path: self.path + other.path,
        }
    }
}

/// One row of the registry.
pub struct Algorithm {
    /// The collective.
    pub collective: Collective,
    /// The name, unique within the collective.
    pub name: &'static str,
    /// What it is best at, in one line.
    pub summary: &'static str,
    /// The paper's own name with a short tag of the paper.
    pub source: &'static str,
    /// Where in the paper.
    pub section: &'static str,
    /// Every message goes over a cube edge (else between any two ranks).
    pub cube_edges: bool,
    /// Combines in rank order if the hosting is ordered, and so serves operations that do not commute.
    pub ordered: bool,
    /// Makes rounds of packets itself under these port models. Elsewhere the messages of a round are cut into packets, which
    /// follow one another within it.
    pub packets: &'static [PortModel],
    /// Has a symmetrised form, in which all dimensions are used at once, and a plain one.
    pub symmetrizes: bool,
    /// The orders of blocks among which it lets choose, the usual one first.
    pub orders: &'static [Order],
    /// Lets choose among the four spanning balanced n-trees.
    pub variants: bool,
    /// The port models for which it makes schedules.
    pub ports: &'static [PortModel],
    /// What else a call and its parameters must be.
    pub suits: fn(&Call, &Parameters) -> std::result::Result<(), Unsuited>,
    /// The formula in words.
    pub cost: &'static str,
    /// The formula, for sizes that are a power of two.
    pub formula: fn(&Shape) -> Formula,
    /// Messages that so many ranks send in all, where their number counts: signals, which carry nothing, and exchanges of whole
    /// vectors, on which both ranks wait; else 0.
    pub signals: fn(usize) -> usize,
    /// Whether the formula holds exactly for a shape, that is, nothing is rounded.
    pub exact: fn(&Shape) -> bool,
    /// The formula's time is that of nodes that do not wait for each other's rounds (else round after round).
    pub flows: bool,
    /// The paths through all nodes on which data follows one another, so that nothing contends for the one port of a node; 0 if
    /// there are none.
    pub paths: usize,
    /// The packet size in elements that takes the least time for (shape, tau, t_c), where packets are taken.
    pub best_packet: fn(&Shape, f64, f64) -> f64,
    /// How it is made.
    pub form: Form,
}

/// The parameter at fault, and why.
pub type Unsuited = (&'static str, String);

/// What a row need not say.
const DEFAULTS: Algorithm = Algorithm {
    collective: Collective::Barrier,
    name: "",
    summary: "",
    source: "",
    section: "",
    cube_edges: true,
    ordered: false,
    packets: &[],
    symmetrizes: false,
    orders: &[],
    variants: false,
    ports: &PortModel::ALL,
    suits: |_, _| Ok(()),
    cost: "",
    formula: |_| Formula { rounds: 0, elements: 0.0, moved: 0.0, load: 0.0, hops: 0, path: 0.0 },
    signals: |_| 0,
    exact: |_| true,
    flows: false,
    paths: 0,
    best_packet: |shape, _tau, _t_c| shape.count as f64,
    form: Form::Forward(|_, _, _, _| ()),
};

impl Algorithm {
    /// Whether the algorithm serves a call with these parameters.
    ///
    /// # Errors
    /// [`Error::Packet`] or [`Error::Unsuited`], naming the parameter.
    pub fn accepts(&self, call: &Call, parameters: &Parameters) -> Result<()> {
        let unsuited = |argument, why: String| {
            Err(Error::Unsuited { argument, algorithm: self.name, collective: self.collective, why })
        };
        if parameters.symmetrized && !self.symmetrizes {
            return unsuited("symmetrized", "has no symmetrised form".into());
        }
        if !self.ports.contains(&parameters.ports) {
            return unsuited("ports", format!("makes no schedule for {} nodes", parameters.ports));
        }
        if parameters.packet == Some(0) {
            return Err(Error::Packet);
        }
        if parameters.symmetrized && parameters.ports != PortModel::AllPorts {
            return unsuited(
                "symmetrized",
                format!("uses all ports at once when symmetrised, not {}", parameters.ports),
            );
        }
        if let Some(order) = parameters.order.filter(|order| !self.orders.contains(order)) {
            return unsuited("order", format!("does not send its blocks in the order {order}"));
        }
        if parameters.variant != Variant::default() && !self.variants {
            return unsuited("variant", "uses no spanning balanced n-tree that has variants".into());
        }
        if call.ordered && !self.ordered {
            return unsuited(
                "operation",
                "cannot combine in rank order, which an operation that does not commute needs".into(),
            );
        }
        if call.ordered && parameters.symmetrized {
            return unsuited("symmetrized", "combines in rank order only one dimension at a time".into());
        }
        // What goes a way round comes after what arrives in its round straight, and the order would be lost.
        let link = call.avoid.as_ref().and_then(|avoid| avoid.links().next());
        if let (true, PortModel::AllPorts, Some((a, b))) = (call.ordered, parameters.ports, link) {
            let why = format!("combines in rank order only one port at a time while the link {a}-{b} is avoided");
            return unsuited("ports", why);
        }
        (self.suits)(call, parameters).or_else(|(argument, why)| unsuited(argument, why))
    }

    /// The messages of `rank`.
    pub fn messages(&self, call: &Call, parameters: &Parameters, rank: usize) -> Messages {
        let parameters = &self.own(parameters);
        let messages = self.straight(call, parameters, rank);
        match &call.avoid {
            None => messages.flowing(self.flows),
            Some(avoid) => {
                let kind = (call.ordered, parameters.ports == PortModel::OneWay);
                avoid.detour(messages, rank, kind, &|rank| self.straight(call, parameters, rank))
            }
        }
    }

    /// The messages of `rank` before any detour.
    fn straight(&self, call: &Call, parameters: &Parameters, rank: usize) -> Messages {
        let problem = Problem::new(call);
        let run = |write: Write| {
            fold(&problem, rank, &|problem: &Problem, node: usize, route: &mut Route| {
                write(problem, parameters, node, route)
            })
        };
        match self.form {
            Form::Forward(write) => run(write),
            Form::Backward(write) => run(write).reversed(call.collective.reduces()),
            Form::BackwardForward(first, second) => run(first).reversed(true).then(run(second)),
            Form::Between(ends, middle) => run(ends).reversed(true).then(run(middle).combining()).then(run(ends)),
        }
    }

    /// The schedule of `rank`: costs time in proportion to the rank's own operations.
    pub fn schedule(&self, call: &Call, parameters: &Parameters, rank: usize) -> Schedule {
        let messages = self.messages(call, parameters, rank);
        match parameters.packet.filter(|_| self.cuts(parameters.ports)) {
            Some(packet) => place(call, rank, &messages.cut(packet)),
            None => place(call, rank, &messages),
        }
    }

    /// What the formula depends on; cutting messages into packets changes none of it.
    pub fn shape(&self, call: &Call, parameters: &Parameters) -> Shape {
        Shape::new(call, &self.own(parameters))
    }

    /// The parameters for what the algorithm makes itself.
    fn own(&self, parameters: &Parameters) -> Parameters {
        let packet = parameters.packet.filter(|_| !self.cuts(parameters.ports));
        Parameters { packet, ..*parameters }
    }

    /// Whether a packet size cuts the messages of a round, rather than making rounds of packets.
    pub fn cuts(&self, ports: PortModel) -> bool {
        !self.packets.contains(&ports)
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.collective, self.name)
    }
}
