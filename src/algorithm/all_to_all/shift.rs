//! All-to-all by shifts.
//!
//! Algorithm: in round k = 1, ..., P - 1 every rank sends to the k-th rank after it, host by host, and receives from the k-th before
//! it. Every block goes straight to its target, from the send buffer into the receive buffer.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: (P - 1) (m t_c + tau), of which R (P - R) m go into and out of each host of R ranks.
//!
//! Memory: none besides the blocks.
//!
//! Correctness condition: for each k, i -> i + k modulo P is a permutation of the places.
//!
//! Example, 5 ranks, rank 3: to 4, 0, 1, 2 and from 2, 1, 0, 4.

use crate::algorithm::{Algorithm, Form, Formula, Lengths, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllToAll,
    name: "shift",
    summary: "long blocks, any number of ranks: no block is sent twice or copied",
    source: "classic shifts",
    section: "-",
    cube_edges: false,
    ports: &[PortModel::OnePort],
    cost: "(P - 1) (m t_c + tau)",
    formula,
    crossing: Some(|shape| {
        let busiest = |ranks: usize| ranks * (shape.size - ranks);
        (busiest(shape.on_host.0).max(busiest(shape.on_host.1)) * shape.count) as f64
    }),
    lengths: Lengths::Own,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    let rounds = shape.size - 1;
    if rounds == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let path = (rounds * shape.count) as f64;
    Formula {
        rounds,
        elements: path,
        moved: path * shape.size as f64,
        load: shape.count as f64,
        hops: 1,
        path,
        ..Formula::NOTHING
    }
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    route.set_rounds(size - 1);
    if node >= size {
        return;
    }
    for k in 1..size {
        let (to, from) = ((node + k) % size, (node + size - k) % size);
        route.send(k - 1, to, [problem.block_between(node, to)]);
        route.receive(k - 1, from, [problem.block_between(from, node)]);
    }
}
