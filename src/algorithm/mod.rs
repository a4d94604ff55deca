//! The algorithms: a folder a collective, a file an algorithm, a row each in the [`registry`].
//!
//! An algorithm is a pure function that writes the [`Route`] of one node. It names intervals, neighbours and rounds, and
//! knows no rank, no buffer and no transport. Collectives that are opposites of each other share it: gather is scatter
//! backwards, reduce is broadcast backwards, reduce-scatter is all-gather backwards ([`Form`]).
//!
//! What an algorithm does can be looked at without running it:
//! ```
//! use hypercoll::algorithm::{registry, Parameters, PortModel};
//! use hypercoll::collective::{Call, Collective};
//!
//! // 100 elements from rank 0 to 8 ranks along the binomial tree.
//! let sbt = registry::find(Collective::Broadcast, "sbt")?;
//! let call = Call::new(Collective::Broadcast, 8, 100);
//! let parameters = Parameters::new(PortModel::OnePort);
//! let formula = (sbt.formula)(&sbt.shape(&call, &parameters));
//! assert_eq!(formula.rounds, 3); // log2 8
//! // The root sends all of it three times; rank 7, a leaf, passes nothing on.
//! assert_eq!(sbt.schedule(&call, &parameters, 0).elements_sent(), 300);
//! assert_eq!(sbt.schedule(&call, &parameters, 7).elements_sent(), 0);
//! # hypercoll::Result::Ok(())
//! ```

mod formula;
mod parameters;
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

use crate::collective::{Call, Collective};
use crate::error::{Error, Result};
use crate::schedule::{fold, place, Messages, Problem, Route, Schedule};
use crate::topology::sbnt::Variant;
use std::fmt;

pub use crate::schedule::PortModel;
pub use formula::{Figure, Figures, Formula, Shape};
pub use parameters::{Order, Parameters};

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
    /// What of it is not as in the paper, or as in another row; empty if nothing is.
    pub differs: &'static str,
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
    /// The formula: see [`Formula`] for sizes that are no power of two.
    pub formula: fn(&Shape) -> Formula,
    /// Messages that so many ranks send in all, where their number counts: signals, which carry nothing, and exchanges of whole
    /// vectors, on which both ranks wait; else 0.
    pub signals: fn(usize) -> usize,
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
    differs: "",
    cube_edges: true,
    ordered: false,
    packets: &[],
    symmetrizes: false,
    orders: &[],
    variants: false,
    ports: &PortModel::ALL,
    suits: |_, _| Ok(()),
    cost: "",
    formula: |_| Formula::NOTHING,
    signals: |_| 0,
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
