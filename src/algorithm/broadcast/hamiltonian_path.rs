//! Broadcast along a Hamiltonian path.
//!
//! Algorithm: packet after packet goes from node to node along the binary-reflected Gray code. Every node but the last
//! receives and sends each packet once, so that packets follow one another as closely as they can on one port.
//!
//! Reference: Ho and Johnsson 1986, section 3.4, tables 1 to 3 (with erratum 1). M elements, packets of B, P = ceil(M/B).
//!
//! Requirements: none.
//!
//! Cost: one-way 2 P + N - 3, one-port and all-ports P + N - 2 rounds of tau + B t_c; for N = 2, P rounds.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet q enters the node at position i of the path in round i - 1 + q; one way at a time, in round
//! i - 1 + 2 q, and leaves it in the next, so that a node's receives and its sends fall into rounds of different parity.
//!
//! Example, n = 3, root 0: 0 1 3 2 6 7 5 4; packet 0 enters node 1 in round 0 and node 4 in round 6.

use super::packets;
use super::pipeline::{down, Pipeline};
use super::ALL_PACKETS;
use crate::algorithm::{strides, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{
    hamiltonian_path::{Course, HamiltonianPath},
    Tree,
};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "hamiltonian_path",
    paths: 1,
    summary: "very long messages on a small cube: one neighbour to receive from, one to send to",
    source: "HJ86 Hamiltonian path",
    section: "3.4",
    packets: ALL_PACKETS,
    cost: "one-way: (2 ceil(M/B) + N - 3) (tau + B t_c); one-port, all-ports: (ceil(M/B) + N - 2) (tau + B t_c)",
    formula: |shape| pipeline(shape.n, shape.parameters.ports).formula(shape),
    best_packet: |shape, tau, t_c| pipeline(shape.n, shape.parameters.ports).best_packet(shape, tau, t_c),
    strides: strides::halving,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn pipeline(n: u32, ports: PortModel) -> Pipeline {
    let nodes = 1isize << n;
    let (per_packet, rest) = match ports {
        PortModel::OneWay if n > 1 => (2, nodes - 3),
        _ => (1, nodes - 2),
    };
    let one = n.min(1) as usize;
    let alone = per_packet;
    Pipeline { per_packet, rest, alone, height: nodes as usize - 1, received: one, passed: usize::from(n > 1) }
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    pipeline(shape.n, shape.parameters.ports).reduced(shape, shape.nodes().saturating_sub(2))
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let path = HamiltonianPath::new(problem.n, Course::Forward);
    let pipeline = pipeline(problem.n, parameters.ports);
    route.set_rounds(pipeline.rounds(packets(problem, parameters).count()));
    let round = |c: usize, q: usize| path.level(c) as usize - 1 + pipeline.per_packet * q;
    down(problem, &path, node, route, || packets(problem, parameters), round);
}
