//! Broadcast along two opposite Hamiltonian paths.
//!
//! Algorithm: the Gray code is a cycle. Packets of even numbers go round it one way, those of odd numbers the other way; the two
//! paths share no directed edge, and each carries half of the data.
//!
//! Reference: Ho and Johnsson 1986, section 3.4 ("two Hamiltonian paths with opposite directions sending distinct data"); the
//! paper gives no formula. M elements, packets of B, P = ceil(M/B).
//!
//! Requirements: nodes that send and receive at once; for one way at a time the paths would have to wait for each other at
//! every node, and one path is better. One packet takes one path only; with all ports the usual packets are the two halves.
//!
//! Cost, N >= 4: one-port P + N - 2, as of one path; all-ports ceil(P/2) + N - 2 rounds of tau + B t_c. For N = 2, where both
//! paths are one edge, P rounds.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet k of a path enters a node at level l in round l - 1 + k with all ports. On one port it is
//! round l - 1 + 2 k, and one more on the second path: a node at level l of the first path is at level N - l of the second, so
//! that the rounds of the two differ in parity, as they do at the root.
//!
//! Example, n = 3, root 0, one port: packet 0 goes 0 1 3 2 6 7 5 4 from round 0 on, packet 1 0 4 5 7 6 2 3 1 from round 1 on.

use super::hamiltonian_path;
use super::packets;
use super::pipeline::{down, Pipeline};
use crate::algorithm::{strides, Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::schedule::Problem;
use crate::topology::{
    hamiltonian_path::{Course, HamiltonianPath},
    Tree,
};

const PORTS: &[PortModel] = &[PortModel::OnePort, PortModel::AllPorts];

pub const ALGORITHM: Algorithm = Algorithm {
    name: "hamiltonian_paths",
    paths: 2,
    summary: "two opposite Hamiltonian paths: on all ports twice the rate of one",
    differs: "the paper names this variation and gives no formula",
    packets: PORTS,
    ports: PORTS,
    cost: "one-port: (ceil(M/B) + N - 2) (tau + B t_c); all-ports: (ceil(M/(2 B)) + N - 2) (tau + B t_c)",
    formula,
    best_packet: |shape, tau, t_c| {
        pipeline(shape.n).best_packet(shape, tau, t_c) / (at_once(shape.n, &shape.parameters) as f64).sqrt()
    },
    strides: strides::halving,
    form: Form::Forward(write),
    ..hamiltonian_path::ALGORITHM
};

/// The packets of one path, or, on one port, of both in turn.
fn pipeline(n: u32) -> Pipeline {
    let one = n.min(1) as usize;
    Pipeline {
        per_packet: 1,
        rest: (1 << n) - 2,
        alone: 1,
        height: (1 << n) - 1,
        received: one,
        passed: usize::from(n > 1),
    }
}

/// How many packets the root sends in a round.
fn at_once(n: u32, parameters: &Parameters) -> usize {
    1 + usize::from(n > 1 && parameters.ports == PortModel::AllPorts)
}

/// With a packet size: if none is asked for, what the root sends in one round is all of the vector.
fn with_packet(parameters: &Parameters, n: u32, count: usize) -> Parameters {
    let packet = parameters.packet.unwrap_or(count.div_ceil(at_once(n, parameters)).max(1));
    Parameters { packet: Some(packet), ..*parameters }
}

fn formula(shape: &Shape) -> Formula {
    let shape = &Shape { parameters: with_packet(&shape.parameters, shape.n, shape.count), ..*shape };
    let common = pipeline(shape.n).formula(shape);
    let (p, b) = (shape.packets(), shape.packet());
    if shape.n < 2 || p == 0 {
        return common;
    }
    let at_once = at_once(shape.n, &shape.parameters);
    let rounds = p.div_ceil(at_once) + shape.nodes() - 2;
    // The last packet, which may be shorter, is the first path's if the number of packets is odd.
    let load = if p % 2 == 1 { shape.count - p / 2 * b } else { p / 2 * b };
    let alone = match p {
        1 => rounds,
        _ => usize::from(at_once == 1 || p % 2 == 1),
    };
    let even = shape.full_packets() && (at_once == 1 || p.is_multiple_of(2));
    Formula { rounds, elements: shape.in_packets(rounds, alone), load: load as f64, ..common }
        .at_most(&[Figure::Path], even)
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if forward == Formula::NOTHING {
        return forward;
    }
    let sized = Shape { parameters: with_packet(&shape.parameters, shape.n, shape.count), ..*shape };
    let backward = pipeline(shape.n).reduced(&sized, shape.nodes() - 2);
    // Where both paths end at once the root receives one packet after the other.
    let second = if at_once(shape.n, &shape.parameters) == 2 { sized.packet() as f64 } else { 0.0 };
    Formula { scratch: backward.scratch, path: backward.path + second, ..forward }
        .at_most(&[Figure::Path], second == 0.0 && sized.full_packets())
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let courses: &[Course] = if problem.n > 1 { &[Course::Forward, Course::Backward] } else { &[Course::Forward] };
    let paths = courses.len();
    let parameters = &with_packet(parameters, problem.n, problem.vector().len());
    route.set_rounds(pipeline(problem.n).rounds(packets(problem, parameters).count()));
    for (number, &course) in courses.iter().enumerate() {
        let path = HamiltonianPath::new(problem.n, course);
        // On one port the packets leave the root one after the other.
        let turn = |q: usize| if parameters.ports == PortModel::AllPorts { q / paths } else { q };
        let mine = || packets(problem, parameters).skip(number).step_by(paths);
        down(problem, &path, node, route, mine, |c, q| path.level(c) as usize - 1 + turn(q));
    }
}
