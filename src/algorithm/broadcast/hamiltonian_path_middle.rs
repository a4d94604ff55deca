//! Broadcast along a Hamiltonian path with the root in its middle.
//!
//! Algorithm: the Gray code is a cycle, which the root's packets go round both ways at once, so that the last nodes, on the
//! far side, are half as far away as at the end of the path. On one port the root has to send every packet twice.
//!
//! Reference: Ho and Johnsson 1986, section 3.4 ("such that the source node is at the center of the path"); the paper gives no
//! formula. M elements, packets of B, P = ceil(M/B).
//!
//! Requirements: none.
//!
//! Cost: one-way, one-port 2 P + N/2 - 2, all-ports P + N/2 - 1 rounds of tau + B t_c; for N = 2, P rounds.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: with all ports, packet q enters the nodes at level l in round l - 1 + q. On one port, the longer
//! branch is entered in round l - 1 + 2 q, the shorter one in round l + 2 q: the root's sends fall into rounds of different
//! parity, and so do the receives and the sends of any other node.
//!
//! Example, n = 3, root 0: 0 1 3 2 6 and 0 4 5 7; packet 0 enters node 6 in round 3, and on one port node 7 as well.

use super::packets;
use super::pipeline::{down, Pipeline};
use super::{hamiltonian_path, ALL_PACKETS};
use crate::algorithm::{strides, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::schedule::Problem;
use crate::topology::{
    hamiltonian_path::{Course, HamiltonianPath},
    Tree,
};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "hamiltonian_path_middle",
    summary: "the Hamiltonian path from its middle, both ways: half the delay, on one port half the rate",
    differs: "the paper names this variation and gives no formula",
    packets: ALL_PACKETS,
    cost: "one-way, one-port: (2 ceil(M/B) + N/2 - 2) (tau + B t_c); all-ports: (ceil(M/B) + N/2 - 1) (tau + B t_c)",
    formula: |shape| pipeline(shape.n, shape.parameters.ports).formula(shape),
    best_packet: |shape, tau, t_c| pipeline(shape.n, shape.parameters.ports).best_packet(shape, tau, t_c),
    strides: strides::halving,
    form: Form::Forward(write),
    ..hamiltonian_path::ALGORITHM
};

fn pipeline(n: u32, ports: PortModel) -> Pipeline {
    let half = 1isize << n >> 1;
    let (per_packet, rest) = match ports {
        PortModel::OneWay | PortModel::OnePort if n > 1 => (2, half - 2),
        _ => (1, half - 1),
    };
    let branches = n.min(2) as usize;
    let alone = per_packet;
    Pipeline { per_packet, rest, alone, height: half as usize, received: branches, passed: usize::from(n > 1) }
}

/// The cost of the reduction, which is the same backwards: the first packet comes along the shorter branch.
pub fn reduced(shape: &Shape) -> Formula {
    pipeline(shape.n, shape.parameters.ports).reduced(shape, (shape.nodes() / 2).saturating_sub(2))
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let path = HamiltonianPath::new(problem.n, Course::Middle);
    let pipeline = pipeline(problem.n, parameters.ports);
    route.set_rounds(pipeline.rounds(packets(problem, parameters).count()));
    let second = |c: usize| usize::from(pipeline.per_packet == 2 && !path.is_forward(c));
    let round = |c: usize, q: usize| path.level(c) as usize - 1 + second(c) + pipeline.per_packet * q;
    down(problem, &path, node, route, || packets(problem, parameters), round);
}
