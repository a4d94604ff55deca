//! Scan along the dimensions of the cube, the lowest one first.
//!
//! Algorithm: in step k the nodes that differ in bit k exchange their totals, those of the blocks of 2^k ranks in which they lie. Both
//! have then the total of the block of 2^(k+1) ranks; the upper one adds what it gets to its prefix, too. A total that nobody
//! above needs, as that of the last block, is not sent down. With all ports, packet after packet goes through the
//! dimensions, so that all of them are used at once.
//!
//! Reference: classic (Hillis and Steele 1986 on the cube, with prefix and total). M elements, packets of B.
//!
//! Requirements: none. P need not be a power of two: who lacks a partner lies in the last block.
//!
//! Cost: one-port n (M t_c + tau); all-ports (ceil(M/B) + n - 1) (B t_c + tau).
//!
//! Why the dimensions are not turned, so that each of n parts of the vector starts with another one, as elsewhere to use all ports at
//! once: ranks that agree in all but the bits of some dimensions are an interval only if these are the lowest ones. Below another bit,
//! prefix and total with regard to the bits above it would both have to be sent, and n - 1 of n steps would carry twice as much; and
//! every link carries the vector once anyhow, which packets do as well.
//!
//! Memory: a vector a step, and the total of a rank whose prefix differs from it.
//!
//! Correctness condition: before step k, a rank's total, if it has yet to send it, is that of its block of 2^k ranks, and its prefix
//! that of the part of the block up to it; a block begins with a multiple of 2^k.
//!
//! Example, 3 ranks: 0 and 1 exchange, 1 has its result; 0 sends the sum of both to 2. (Nobody needs 2's vector.)

use crate::algorithm::broadcast::packets;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::{PartOf, Problem};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scan,
    name: "recursive_doubling",
    summary: "short vectors on the cube, one dimension after the other; long ones in packets through all ports",
    source: "classic recursive doubling",
    section: "-",
    ordered: true,
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::OnePort, PortModel::AllPorts],
    cost: "one-port: n (M t_c + tau); all-ports: (ceil(M/B) + n - 1) (B t_c + tau)",
    formula: |shape| formula(shape, false),
    best_packet,
    form: Form::Combining(write),
    ..DEFAULTS
};

/// The exclusive scan: the same route.
pub const EXCLUSIVE: Algorithm =
    Algorithm { collective: Collective::ExclusiveScan, formula: |shape| formula(shape, true), ..ALGORITHM };

fn formula(shape: &Shape, exclusive: bool) -> Formula {
    if shape.n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let (n, m) = (shape.n as usize, shape.count as f64);
    let rounds = shape.packets() + n - 1;
    // One vector can arrive where the result is to be, if nothing that has to stay lies there.
    let kept = if shape.in_place && !exclusive { n } else { n - 1 };
    Formula {
        rounds,
        // The last packet is alone in the last round.
        elements: shape.in_packets(rounds, 1),
        moved: (n * shape.nodes() - (shape.nodes() - 1)) as f64 * m,
        load: m,
        scratch: kept as f64 * m,
        hops: n,
        path: n as f64 * m,
        ..Formula::NOTHING
    }
}

/// The packet size for which (M/B + n - 1) (tau + B t_c) is least: sqrt(M tau / ((n - 1) t_c)).
fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    if shape.n < 2 {
        return shape.count as f64;
    }
    (shape.count as f64 * tau / (f64::from(shape.n - 1) * t_c)).sqrt()
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let (size, n) = (problem.call.size, problem.n as usize);
    let packets = || packets(problem, parameters);
    route.set_rounds((packets().count() + n).saturating_sub(1));
    if node >= size {
        return;
    }
    for k in 0..n {
        let peer = node ^ 1 << k;
        if peer >= size {
            continue;
        }
        let goes_on = sends_later(node & !(1 << k), k, problem);
        for (q, packet) in packets() {
            let round = q + k;
            if node < peer {
                route.send(round, peer, [packet.clone()]);
                if goes_on {
                    route.receive_part(PartOf::Total, round, peer, [packet]);
                }
            } else {
                if goes_on {
                    route.send(round, peer, [packet.clone()]);
                }
                route.receive_part(PartOf::Both, round, peer, [packet]);
            }
        }
    }
}

/// Whether a node's total after step k is of use: whether the node, or one below it to which it sends down later, has a node to send up to.
fn sends_later(node: usize, k: usize, problem: &Problem) -> bool {
    let unchanged = node & ((2 << k) - 1);
    (k + 1..problem.n as usize).any(|j| {
        // All bits between k and j lead down.
        let sender = node >> j << j | unchanged;
        node >> j & 1 == 0 && sender + (1 << j) < problem.call.size
    })
}
