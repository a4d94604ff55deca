//! All-to-all by shifts.
//!
//! Algorithm: in round k = 1, ..., P - 1 every rank sends to the k-th rank after it, host by host, and receives from the k-th before
//! it. Where all hosts have R ranks, in round k = h R + j every rank sends to the h-th host after its own, there to the j-th rank after
//! its own place, counted modulo R: the ranks of a host go on to the next host together. Every block goes straight to its target, from
//! the send buffer into the receive buffer.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: (P - 1) (m t_c + tau), of which R (P - R) m go into and out of each host of R ranks.
//!
//! Memory: none besides the blocks.
//!
//! Correctness condition: for each k, i -> i + k modulo P is a permutation of the places; so are the hosts' shifts and those within them.
//!
//! Example, 5 ranks, rank 3: to 4, 0, 1, 2 and from 2, 1, 0, 4. On 2 hosts of 2, rank 3: to 2, 1, 0 and from 2, 1, 0.

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
    // Where one host has more to send in a phase than to receive and another less, hosts would wait for each other: 4, 3, 2 and 1 ranks
    // reached .72 of the limit with blocks of 256 KiB, and .95 one by one (.98 since ranks run far ahead there); 3 hosts of 4 ranks .97, and .96.
    let (most, fewest) = problem.most_and_fewest();
    let ranks = if most == fewest { most } else { 1 };
    let (group, own, groups) = (node / ranks, node % ranks, size / ranks);
    for k in 1..size {
        let (phase, turn) = (k / ranks, k % ranks);
        let to = (group + phase) % groups * ranks + (own + turn) % ranks;
        let from = (group + groups - phase) % groups * ranks + (own + ranks - turn) % ranks;
        route.send(k - 1, to, [problem.block_between(node, to)]);
        route.receive(k - 1, from, [problem.block_between(from, node)]);
    }
}
