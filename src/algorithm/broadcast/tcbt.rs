//! Broadcast along the two-rooted complete binary tree (TCBT).
//!
//! Algorithm: packet after packet goes down the tree, in which no node has more than two children. With all ports a node sends
//! to both at once; with one port to one after the other, the second while the next packet arrives; with one way at a time a
//! packet takes a node three steps: a receive and two sends.
//!
//! Reference: Ho and Johnsson 1986, section 3.4, tables 1 to 3 (with erratum 10); Bhatt and Ipsen 1985; Deshpande and Jenevein
//! 1986. M elements, packets of B, P = ceil(M/B).
//!
//! Requirements: none.
//!
//! Cost, n >= 2: one-way 3 P + 2 n - 5, one-port 2 (P + n - 2), all-ports P + n - 1 rounds of tau + B t_c; for n = 1, P rounds.
//! For n = 2 no node has a receive and two sends, and one way at a time two steps a packet would do; the schedule keeps to the
//! three of the formula.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet q enters node c in round label(c) + s q, s = 2 or 3. A node sends one and two rounds after it
//! receives; so its sends differ modulo 2, and they and its receive differ modulo 3.
//!
//! Example, n = 3, root 0, one port, one packet: round 0: 0 to 4; round 1: 0 to 2, 4 to 5; round 2: 2 to 3, 5 to 7; round 3: 2 to
//! 6, 5 to 1.

use super::packets;
use super::pipeline::{down, Pipeline};
use super::ALL_PACKETS;
use crate::algorithm::{strides, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{tcbt::Tcbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "tcbt",
    summary: "two children at most: on one port, packets follow one another at half the rate of a link",
    source: "HJ86 TCBT",
    section: "3.4",
    differs: "the paper takes the tree from Bhatt and Ipsen; how it lies in the cube is this library's",
    packets: ALL_PACKETS,
    cost: "one-way: (3 ceil(M/B) + 2n - 5) (tau + B t_c); one-port: 2 (ceil(M/B) + n - 2) (tau + B t_c); \
           all-ports: (ceil(M/B) + n - 1) (tau + B t_c)",
    formula: |shape| pipeline(shape.n, shape.parameters.ports).formula(shape),
    best_packet: |shape, tau, t_c| pipeline(shape.n, shape.parameters.ports).best_packet(shape, tau, t_c),
    strides: strides::dimensions,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The steps of the broadcast.
pub fn pipeline(n: u32, ports: PortModel) -> Pipeline {
    let d = n as isize;
    let (per_packet, rest) = match ports {
        PortModel::OneWay if n > 1 => (3, 2 * d - 5),
        PortModel::OnePort if n > 1 => (2, 2 * d - 4),
        _ => (1, d - 1),
    };
    let children = if n > 1 { 2 } else { n as usize };
    // In the square the second root sends the last packet in its second step.
    let alone = if per_packet == 3 && n == 2 { 2 } else { per_packet };
    Pipeline {
        per_packet,
        rest,
        alone,
        height: n as usize,
        received: children,
        passed: if n > 2 { 2 } else { children.saturating_sub(1) },
    }
}

/// The cost of the reduction, which is the same backwards: at each of n - 2 levels the first packets of two children.
pub fn reduced(shape: &Shape) -> Formula {
    let waits = 2 * (shape.n as usize).saturating_sub(2);
    pipeline(shape.n, shape.parameters.ports).reduced(shape, waits)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let tree = Tcbt::new(problem.n);
    let pipeline = pipeline(problem.n, parameters.ports);
    let count = packets(problem, parameters).count();
    route.set_rounds(pipeline.rounds(count));
    let round = |c: usize, q: usize| match (pipeline.per_packet, problem.n) {
        (1, _) => tree.level(c) as usize - 1 + q,
        // Nothing else happens in the third step of a packet: in the square the second root sends in it, until the last packet.
        (3, 2) if c == 3 && q + 1 < count => 3 * q + 2,
        (steps, _) => tree.label(c).map_or(0, |label| label as usize) + steps * q,
    };
    down(problem, &tree, node, route, || packets(problem, parameters), round);
}
