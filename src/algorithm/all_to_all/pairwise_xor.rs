//! All-to-all by direct exchange in XOR order.
//!
//! Algorithm: in round k = 1, ..., N - 1 every node exchanges blocks with the node whose address differs from its own by k.
//! Every block goes straight to its target, from the send buffer into the receive buffer.
//!
//! Reference: classic (e.g. Stout and Wagar 1990 do without; the pairing is that of every XOR exchange).
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: (N - 1) (m t_c + tau); one-way twice that.
//!
//! Memory: none besides the blocks.
//!
//! Correctness condition: for each k, v -> v XOR k pairs the nodes.
//!
//! Example, n = 2, node 1: with 0 (k = 1), with 3 (k = 2), with 2 (k = 3).

use crate::algorithm::{exchange, Algorithm, Form, Formula, Lengths, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllToAll,
    name: "pairwise_xor",
    summary: "long blocks where every pair of ranks is linked: no block is sent twice or copied",
    source: "classic XOR exchange",
    section: "-",
    cube_edges: false,
    ports: &[PortModel::OneWay, PortModel::OnePort],
    cost: "(N - 1) (m t_c + tau) (one-way: twice)",
    formula,
    // Partners on hosts of other numbers of ranks wait for each other: blocks of 64 and 256 KiB on hosts of 3, 3 and 2 ranks reached .74 of the
    // hosts' limit in packets, by `shift` .95 and .96.
    among_hosts: |_, (most, fewest)| most != fewest,
    lengths: Lengths::Own,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    if shape.n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    // Where the number of ranks is no power of two, some have no partner in some rounds.
    let (rounds, path) = (shape.nodes() - 1, ((shape.size - 1) * shape.count) as f64);
    let elements = (rounds * shape.count) as f64;
    let turns = if shape.parameters.ports == PortModel::OneWay { 2 } else { 1 };
    Formula {
        rounds: turns * rounds,
        elements: turns as f64 * elements,
        moved: path * shape.size as f64,
        load: shape.count as f64,
        hops: 1,
        path,
        ..Formula::NOTHING
    }
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    exchange::pairwise(problem, parameters, node, route, |from, to| problem.block_between(from, to));
}
