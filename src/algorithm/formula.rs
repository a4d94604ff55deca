//! What an algorithm costs, in closed form.

use super::Parameters;
use crate::address::{dimension_for, near_dimensions, Hosts};
use crate::collective::{Call, MatrixProduct};

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
    /// Number of ranks, P <= N.
    pub size: usize,
    /// Ranks whose vector goes to another rank, of a permutation.
    pub moving: usize,
    /// Of a permutation that swaps the halves of every address ([`Call::swapped_halves`]): positions of a half in which all ranks
    /// move, as only one of the two bits is inverted.
    pub turned: u32,
    /// Whether contributions lie where the result will be.
    pub in_place: bool,
    /// Hosts; as many as ranks where nothing is known of them, or operands keep their order.
    pub hosts: usize,
    /// Ranks of the host that has the most, and of the one that has the fewest.
    pub on_host: (usize, usize),
    /// The parameters.
    pub parameters: Parameters,
}

impl Shape {
    /// The shape of a call, on the next larger whole cube.
    pub fn new(call: &Call, parameters: &Parameters) -> Shape {
        let n = dimension_for(call.size);
        let distance = if call.collective.has_peer() {
            (call.root ^ call.peer).count_ones()
        } else {
            call.translation().map_or(n, usize::count_ones)
        };
        let hosts = call.placing();
        let fixed = call.permutation.iter().flat_map(|p| p.iter().enumerate()).filter(|(rank, to)| rank == *to).count();
        Shape {
            n,
            count: call.count,
            distance,
            product: call.product(),
            size: call.size,
            moving: call.size - fixed.min(call.size),
            turned: call.swapped_halves().map_or(0, |(v, w)| (v ^ w).count_ones()),
            in_place: call.in_place,
            hosts: hosts.map_or(call.size, Hosts::len),
            on_host: hosts.map_or((1, 1), Hosts::most_and_fewest),
            parameters: *parameters,
        }
    }

    /// k: the dimensions of the cube that are within a host.
    pub fn near(&self) -> u32 {
        near_dimensions(self.on_host.0)
    }

    /// Whether the ranks of every host are a subcube.
    pub(super) fn hosts_are_subcubes(&self) -> bool {
        self.on_host == (1 << self.near(), 1 << self.near())
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

    /// Elements of `rounds` rounds of packets of B, of which the last packet, which may be shorter, has `alone` to itself.
    pub(super) fn in_packets(&self, rounds: usize, alone: usize) -> f64 {
        let lacking = self.packets() * self.packet() - self.count;
        (rounds * self.packet() - alone * lacking) as f64
    }

    /// Whether all packets are of B elements.
    pub(super) fn full_packets(&self) -> bool {
        self.count.is_multiple_of(self.packet())
    }
}

/// A figure of a [`Formula`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Figure {
    /// [`Formula::rounds`].
    Rounds,
    /// [`Formula::elements`].
    Elements,
    /// [`Formula::moved`].
    Moved,
    /// [`Formula::load`].
    Load,
    /// [`Formula::port`].
    Port,
    /// [`Formula::scratch`].
    Scratch,
    /// [`Formula::hops`].
    Hops,
    /// [`Formula::path`].
    Path,
}

impl Figure {
    /// All figures.
    pub const ALL: [Figure; 8] = [
        Figure::Rounds,
        Figure::Elements,
        Figure::Moved,
        Figure::Load,
        Figure::Port,
        Figure::Scratch,
        Figure::Hops,
        Figure::Path,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Rounds => "rounds",
            Figure::Elements => "elements",
            Figure::Moved => "elements moved",
            Figure::Load => "largest load of a link",
            Figure::Port => "largest load of a port",
            Figure::Scratch => "scratch memory",
            Figure::Hops => "hops",
            Figure::Path => "path",
        }
    }
}

/// A set of figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figures(u8);

impl Figures {
    /// None.
    pub const NONE: Figures = Figures(0);

    /// These.
    pub fn of(figures: &[Figure]) -> Figures {
        Figures(figures.iter().fold(0, |set, &figure| set | 1 << figure as u8))
    }

    /// Whether a figure is one of them.
    pub fn contains(self, figure: Figure) -> bool {
        self.0 >> figure as u8 & 1 == 1
    }

    /// The others.
    pub fn without(self, figure: Figure) -> Figures {
        Figures(self.0 & !(1 << figure as u8))
    }

    /// Those of both sets.
    pub fn and(self, other: Figures) -> Figures {
        Figures(self.0 | other.0)
    }
}

/// What an algorithm costs: time = `rounds` tau + `elements` t_c by the paper; and what else decides where ranks share a memory.
///
/// The figures are those of a whole cube of N = 2^n nodes with equal blocks. [`super::verify`] compares each with the schedules:
/// it is equal, or a bound that the formula states as one ([`Formula::at_most`](Formula#structfield.at_most)).
///
/// Elsewhere they are bounds. Where the number of ranks is no power of two, a rank plays two nodes of the next larger cube at
/// most: it takes no more rounds and hops, moves no more, and twice the elements, load, path and scratch memory at most.
/// (Algorithms that do not go along the edges of the cube have formulas for any number of ranks.) Where blocks have unequal
/// lengths, the figures are those of the longest. Around links that are avoided, see [`crate::collective::Avoided`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Formula {
    /// Routing steps, each with one start-up.
    pub rounds: usize,
    /// Elements that follow one another through the busiest links: the sum over the rounds of the most that a link carries.
    pub elements: f64,
    /// Elements moved in all, each counted on every link that it crosses.
    pub moved: f64,
    /// Elements over the directed link that carries the most.
    pub load: f64,
    /// Elements that the busiest rank sends, or receives, whichever are more; 0 where it is not stated: then `elements` at most.
    pub port: f64,
    /// Elements of scratch memory of the rank that needs the most: all that it keeps for others, and all that it combines but what
    /// arrives first where its result is to be. (Beyond 2^15 elements memory is used again, and
    /// this is a bound; hops, path and the time of what flows by itself are then not compared, as messages wait for memory, too.)
    pub scratch: f64,
    /// Messages that wait for one another, one after the other, if every message travels whole.
    pub hops: usize,
    /// Of a tree that is made for a torus ([`OnTorus`](super::OnTorus)), the links that these messages go over between hosts; else 0.
    pub links: usize,
    /// Elements that are received one after the other on the way to the last result, if a rank receives one message at a time, round
    /// after round, within a round as they come, and nothing else takes time.
    pub path: f64,
    /// The figures that the schedule may stay below, as lengths are rounded or ranks need not wait.
    pub at_most: Figures,
}

impl Formula {
    /// Of a call that sends nothing.
    pub const NOTHING: Formula = Formula {
        rounds: 0,
        elements: 0.0,
        moved: 0.0,
        load: 0.0,
        port: 0.0,
        scratch: 0.0,
        hops: 0,
        links: 0,
        path: 0.0,
        at_most: Figures::NONE,
    };

    /// The time for a start-up `tau` and a transfer time `t_c` per element.
    pub fn time(&self, tau: f64, t_c: f64) -> f64 {
        self.rounds as f64 * tau + self.elements * t_c
    }

    /// A figure.
    pub fn figure(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Rounds => self.rounds as f64,
            Figure::Elements => self.elements,
            Figure::Moved => self.moved,
            Figure::Load => self.load,
            Figure::Port => self.port,
            Figure::Scratch => self.scratch,
            Figure::Hops => self.hops as f64,
            Figure::Path => self.path,
        }
    }

    /// The same, where some figures are bounds unless `exact`.
    pub(super) fn at_most(self, figures: &[Figure], exact: bool) -> Formula {
        let bounds = if exact { Figures::NONE } else { Figures::of(figures) };
        Formula { at_most: self.at_most.and(bounds), ..self }
    }

    /// The same with another path, equal to it if `exact`, else at most that.
    pub(super) fn with_path(self, path: f64, exact: bool) -> Formula {
        Formula { path, at_most: self.at_most.without(Figure::Path), ..self }.at_most(&[Figure::Path], exact)
    }

    /// A broadcast down a tree of which rounds and hops are known, whose messages are the vector; given the most messages that the root, and
    /// that another rank, sends.
    pub(super) fn with_vectors(self, shape: &Shape, (root, other): (usize, usize)) -> Formula {
        if shape.count == 0 || shape.size == 1 {
            return Formula::NOTHING;
        }
        let m = shape.count as f64;
        Formula {
            elements: self.rounds as f64 * m,
            moved: (shape.size - 1) as f64 * m,
            load: m,
            port: root.max(other) as f64 * m,
            path: self.hops as f64 * m,
            ..self
        }
    }

    /// Of such a broadcast, the reduction, which is the same backwards; given the most messages that the root, and that another rank, sends
    /// in the broadcast.
    pub(super) fn up(self, shape: &Shape, (root, other): (usize, usize)) -> Formula {
        if self == Formula::NOTHING {
            return self;
        }
        // The first vector that reaches the root where its result is to be needs no other place.
        let kept = if shape.in_place { root } else { root - 1 }.max(other);
        Formula { scratch: (kept * shape.count) as f64, path: self.elements, ..self }
    }

    /// The same and the broadcast, one after the other: an all-reduce.
    pub(super) fn up_and_down(self, shape: &Shape, children: (usize, usize)) -> Formula {
        // The way back uses the links in the other direction. Every rank's result is to be where it combines.
        let kept = children.0.max(children.1) - usize::from(!shape.in_place && shape.size > 1);
        let scratch = (kept * shape.count) as f64;
        Formula { load: self.load, scratch, ..self.up(shape, children).then(self) }.through_ports(shape, children)
    }

    /// Up a tree and down again, as in [`Formula::up_and_down`]: another rank than the root sends one vector up besides.
    pub(super) fn through_ports(self, shape: &Shape, (root, other): (usize, usize)) -> Formula {
        let sends = if self == Formula::NOTHING { 0 } else { root.max(other + 1) };
        Formula { port: (sends * shape.count) as f64, ..self }
    }

    /// One after the other, over the same links, in the same memory.
    pub(super) fn then(self, other: Formula) -> Formula {
        Formula {
            rounds: self.rounds + other.rounds,
            elements: self.elements + other.elements,
            moved: self.moved + other.moved,
            load: self.load + other.load,
            port: self.port + other.port,
            scratch: self.scratch.max(other.scratch),
            hops: self.hops + other.hops,
            links: self.links + other.links,
            path: self.path + other.path,
            at_most: self.at_most.and(other.at_most),
        }
    }
}
