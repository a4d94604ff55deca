//! A row of the registry.

use super::{Formula, Lengths, Order, Parameters, PortModel, Shape};
use crate::collective::{Call, Collective};
use crate::schedule::{Problem, Route};
use std::fmt;

/// Writes the route of one node.
pub type Write = fn(&Problem, &Parameters, usize, &mut Route);

/// Messages and hops between hosts.
pub type Far = fn(&Shape) -> (usize, usize);

/// How a collective is made of routes.
#[derive(Clone, Copy)]
pub enum Form {
    /// As written.
    Forward(Write),
    /// As written, and what is received is combined (prefix sums).
    Combining(Write),
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
    /// Of which blocks of unequal lengths a rank must know how long they are, where nothing is cut into packets.
    pub lengths: Lengths,
    /// Every block goes in equal parts over all links of the ranks that have it first and last, so that its length alone, beside those of
    /// others, costs nothing. Where blocks are equal others do as well, and it is not chosen.
    pub shares: bool,
    /// Goes along the ranks of each host and among hosts: whether it is not chosen on so many hosts, with so many ranks at most and at
    /// least, as others do as well there or its time is not known well enough.
    pub among_hosts: fn(usize, (usize, usize)) -> bool,
    /// What else a call and its parameters must be.
    pub suits: fn(&Call, &Parameters) -> std::result::Result<(), Unsuited>,
    /// Why it is chosen only if it is named, if so.
    pub on_request: Option<&'static str>,
    /// The formula in words.
    pub cost: &'static str,
    /// The formula: see [`Formula`] for sizes that are no power of two.
    pub formula: fn(&Shape) -> Formula,
    /// Messages that so many ranks send in all, where their number counts: signals, which carry nothing, and exchanges of whole
    /// vectors, on which both ranks wait; else 0.
    pub signals: fn(usize) -> usize,
    /// On hosts of unlike numbers of ranks, too, all hosts take the same steps, so that no rank has to run far ahead.
    pub in_step: bool,
    /// The formula's time is that of nodes that do not wait for each other's rounds (else round after round).
    pub flows: bool,
    /// The paths through all nodes on which data follows one another, so that nothing contends for the one port of a node; 0 if
    /// there are none.
    pub paths: usize,
    /// How many times as long transfers take through one port where not all dimensions are used at once, as messages that leave a rank in
    /// later rounds share it with longer ones, for which other ranks wait: as measured.
    pub shared_port: f64,
    /// Of a broadcast or a reduce in which many ranks send at once: how many places further on (on cubes, to the rank whose number differs in that
    /// bit), and the part of what a rank sends that goes so far. What is not named shares no link: it goes to the next rank, or few send.
    pub strides: fn(&Shape) -> Vec<(usize, f64)>,
    /// Elements that go into, or out of, the host through whose ports the most go, where it has been thought of; see [`Shape::on_host`].
    pub crossing: Option<fn(&Shape) -> f64>,
    /// Where hosts have leaders: the messages that one sends to other hosts one after another, and the hops between hosts.
    pub far: Option<Far>,
    /// All ranks of a host are leaders, each for some of the other hosts or of what there is to send.
    pub all_lead: bool,
    /// Where hosts are 2^n, messages between hosts go along the edges of their cube, but for some over two of them, which start two messages
    /// before the last: see `two_level`.
    pub near_hosts: bool,
    /// Where a tree is made for a latency ([`Parameters::latency`]): what follows one another on the way to the last rank, which is less
    /// than the rounds, which are the root's, and the hops together.
    pub way: Option<fn(&Shape) -> Formula>,
    /// The packet size in elements that takes the least time for (shape, tau, t_c), where packets are taken.
    pub best_packet: fn(&Shape, f64, f64) -> f64,
    /// How it is made.
    pub form: Form,
}

/// The parameter at fault, and why.
pub type Unsuited = (&'static str, String);

/// Hosts that are taken to be below one switch, for `among_hosts`: beyond it, what every two of them say to each other shares links.
pub(super) const BELOW_ONE_SWITCH: usize = 32;

/// What a row need not say.
pub(super) const DEFAULTS: Algorithm = Algorithm {
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
    lengths: Lengths::Passing,
    shares: false,
    among_hosts: |_, _| false,
    suits: |_, _| Ok(()),
    on_request: None,
    cost: "",
    formula: |_| Formula::NOTHING,
    signals: |_| 0,
    in_step: false,
    flows: false,
    paths: 0,
    shared_port: 1.0,
    strides: |_| Vec::new(),
    crossing: None,
    far: None,
    all_lead: false,
    near_hosts: false,
    way: None,
    best_packet: |shape, _tau, _t_c| shape.count as f64,
    form: Form::Forward(|_, _, _, _| ()),
};

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.collective, self.name)
    }
}
