//! Barrier by recursive doubling.
//!
//! Algorithm: in each step the nodes that differ in one bit, the lowest one first, signal each other, so that the ranks of which a node
//! has heard double. Where the number of ranks is no power of two, the ranks beyond the largest one below it signal their neighbours
//! across the top dimension before the first step, and are signalled by them after the last.
//!
//! Reference: classic (pairwise exchange); the exchange is that of Stout and Wagar 1990, section 8, with nothing in it.
//!
//! Requirements: none. Partners are neighbours on a cube, near each other on a torus, and, hosts having their ranks side by side, on one
//! host in the first steps; those of dissemination are far from each other.
//!
//! Cost: n tau; where the number of ranks is no power of two, one step more (n the next larger power's).
//!
//! Memory: none.
//!
//! Correctness condition: after the step of bit k a node has heard, through others, of all nodes that agree with it in the bits above k.
//!
//! Example, n = 2: 0 and 1 signal each other, 2 and 3; then 0 and 2, 1 and 3. 3 ranks: 2 signals 0; 0 and 1 each other; 0 signals 2.

use super::dissemination;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Barrier,
    name: "recursive_doubling",
    summary: "powers of two: partners are neighbours, and the first ones on the same host",
    source: "classic recursive doubling",
    cube_edges: true,
    ports: &[PortModel::OnePort, PortModel::AllPorts],
    cost: "n tau",
    formula,
    signals: |ranks| {
        let inside = ranks.ilog2();
        (inside << inside) as usize + 2 * (ranks - (1 << inside))
    },
    form: Form::Forward(write),
    ..dissemination::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let rounds = rounds(shape.size);
    Formula { rounds, hops: rounds, ..Formula::NOTHING }
}

fn rounds(size: usize) -> usize {
    size.ilog2() as usize + 2 * usize::from(!size.is_power_of_two())
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    let inside = size.ilog2();
    let last = inside as usize + 1;
    route.set_rounds(rounds(size));
    if node >= size {
        return;
    }
    let before = usize::from(!size.is_power_of_two());
    let beyond = node ^ (1 << inside);
    if node >> inside != 0 {
        route.signal(0, beyond, true);
        route.signal(last, beyond, false);
        return;
    }
    if beyond < size {
        route.signal(0, beyond, false);
    }
    for k in 0..inside {
        let round = before + k as usize;
        route.signal(round, node ^ (1 << k), true);
        route.signal(round, node ^ (1 << k), false);
    }
    if beyond < size {
        route.signal(last, beyond, true);
    }
}
