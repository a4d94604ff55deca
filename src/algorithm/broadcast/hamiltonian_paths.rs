//! Broadcast along two opposite Hamiltonian paths.
//!
//! Algorithm: the Gray code is a cycle. Packets of even numbers go round it one way, those of odd numbers the other way; the two
//! paths share no directed edge, and each carries half of the data.
//!
//! Reference: Ho and Johnsson 1986, section 3.4 ("two Hamiltonian paths with opposite directions sending distinct data"); the
//! paper gives no formula. M elements, packets of B, P = ceil(M/B).
//!
//! Requirements: none. At least two packets, or the second path carries nothing.
//!
//! Cost, N >= 4: one-way 2 P + 2 N - 6 (P >= 2), one-port P + N - 2, all-ports ceil(P/2) + N - 2 rounds of tau + B t_c; one
//! packet N - 1. So only all ports gain. For N = 2, where both paths are one edge, P rounds.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet k of a path enters a node at level l in round l - 1 + k with all ports. On one port it is
//! round l - 1 + 2 k, and one more on the second path: a node at level l of the first path is at level N - l of the second, so
//! that the two differ in parity. One way at a time it is round 2 (l - 1) + 4 k, and one more on the second path: a node
//! receives and sends in four rounds that differ modulo 4.
//!
//! Example, n = 3, root 0, one port: packet 0 goes 0 1 3 2 6 7 5 4 from round 0 on, packet 1 0 4 5 7 6 2 3 1 from round 1 on.

use super::pipeline::{all, down, Pipeline};
use super::{hamiltonian_path, ALL_PACKETS};
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::schedule::Problem;
use crate::topology::{
    hamiltonian_path::{Course, HamiltonianPath},
    Tree,
};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "hamiltonian_paths",
    summary: "two opposite Hamiltonian paths: on all ports twice the rate of one",
    packets: ALL_PACKETS,
    cost: "one-way: (2 ceil(M/B) + 2N - 6) (tau + B t_c) for M > B; one-port: (ceil(M/B) + N - 2) (tau + B t_c); \
           all-ports: (ceil(M/(2 B)) + N - 2) (tau + B t_c)",
    formula,
    best_packet: |shape, tau, t_c| {
        let pairs = shape.parameters.ports == PortModel::AllPorts && shape.n > 1;
        pipeline(shape.n, shape.parameters.ports).best_packet(shape, tau, t_c)
            / f64::sqrt(if pairs { 2.0 } else { 1.0 })
    },
    form: Form::Forward(write),
    ..hamiltonian_path::ALGORITHM
};

/// All packets, or, with all ports, those of the first path.
fn pipeline(n: u32, ports: PortModel) -> Pipeline {
    let nodes = 1isize << n;
    let (per_packet, rest) = match ports {
        PortModel::OneWay if n > 1 => (2, 2 * nodes - 6),
        _ => (1, nodes - 2),
    };
    Pipeline { per_packet, rest, height: nodes as usize - 1 }
}

fn formula(shape: &Shape) -> Formula {
    let common = pipeline(shape.n, shape.parameters.ports).formula(shape);
    let (p, b) = (shape.packets(), shape.packet());
    if shape.n < 2 || p == 0 {
        return common;
    }
    let rounds = match shape.parameters.ports {
        _ if p == 1 => shape.nodes() - 1,
        PortModel::AllPorts => p.div_ceil(2) + shape.nodes() - 2,
        _ => common.rounds,
    };
    // The first path has a packet more, or the last packet, the shorter one, is the second's.
    let load = if p % 2 == 1 { shape.count - p / 2 * b } else { p / 2 * b };
    Formula { rounds, elements: (rounds * b) as f64, load: load as f64, ..common }
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let paths: &[Course] = if problem.n > 1 { &[Course::Forward, Course::Backward] } else { &[Course::Forward] };
    let all_ports = parameters.ports == PortModel::AllPorts || paths.len() == 1;
    let one_way = parameters.ports == PortModel::OneWay;
    let count = all(problem, parameters).count();
    route.set_rounds(2 * (count + problem.nodes()));
    for (number, &course) in paths.iter().enumerate() {
        let path = HamiltonianPath::new(problem.n, course);
        let round = |c: usize, q: usize| {
            let (level, k) = (path.level(c) as usize, q / paths.len());
            match (all_ports, one_way) {
                (true, _) => level - 1 + k,
                (false, false) => level - 1 + 2 * k + number,
                (false, true) => 2 * (level - 1) + 4 * k + number,
            }
        };
        let mine = || all(problem, parameters).skip(number).step_by(paths.len());
        down(problem, &path, node, route, mine, round);
    }
}
