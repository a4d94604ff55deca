//! Permutation by permuted send: two complete exchanges.
//!
//! Algorithm: every node cuts its vector into a part for every node and sends the parts there by a complete exchange; as the
//! targets are a permutation, each node then holds one part for every target, and a second complete exchange, through the
//! dimensions in the opposite order, brings the parts home. All permutations take the same time.
//!
//! Reference: Stout and Wagar 1990, section 6, PERMUTED SEND. m elements a vector, parts of m / 2^n.
//!
//! Requirements: none.
//!
//! Cost: symmetrised, all-ports m t_c + 2 n tau; plain n m t_c + 2 n tau; plain, one-way twice that. Where n N (plain: N) does not
//! divide m: the parts lie in a slice of L = ceil(m/n) elements (plain: L = m) in the order in which the exchange parts them, so
//! that the messages of the steps have 2^k ceil(L/2^(k+1)) elements at most, k = 0, ..., n - 1, in either exchange.
//!
//! Memory: all that passes through a rank, n - 1 times the length of a vector, until memory is used again.
//!
//! Correctness condition: that of the complete exchange, twice.
//!
//! Example, n = 1, swap: rank 0 sends its second half to 1 and gets the first half of 1's, then sends its own first half
//! and gets 1's second half.

use crate::address::{reverse_bits, rotate_right};
use crate::algorithm::exchange::{longest_even_part, Exchange};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Permute,
    name: "permuted_send",
    summary: "any permutation in the time of the worst: no link is ever a bottleneck",
    source: "SW PERMUTED SEND",
    section: "6",
    differs: "the second exchange goes through the dimensions in the opposite order",
    symmetrizes: true,
    cost: "symmetrised, all-ports: m t_c + 2 n tau; plain: n m t_c + 2 n tau (one-way: twice)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let slices = if parameters.symmetrized { n as usize } else { 1 };
    let slice = |s: usize| part(0..count, s, slices).len();
    // In the step that parts a slice into 2^(k+1) parts; or, if some nodes have no rank, half of all parts.
    let whole = shape.size == shape.nodes();
    let half = |len: usize| shape.nodes() / 2 * len.div_ceil(shape.size);
    let message = |len: usize, k: usize| if whole { len.div_ceil(2 << k) << k } else { half(len) };
    let steps = 0..n as usize;
    // One way at a time the other of two parts has a round of its own, if there is anything of it.
    let one_way = parameters.ports == PortModel::OneWay;
    let other = |k: usize| if whole { longest_even_part(count, k as u32 + 1) << k } else { half(count) };
    let others: Vec<usize> = steps.clone().map(other).filter(|&len| one_way && len > 0).collect();
    let elements =
        steps.clone().map(|k| message(count.div_ceil(slices), k)).chain(others.iter().copied()).sum::<usize>();
    let received: usize = 2 * (0..slices).flat_map(|s| steps.clone().map(move |k| message(slice(s), k))).sum::<usize>();
    // Over a link go, in the two exchanges, both of the parts into which it divides one of 2^k; of each slice with another k.
    let carried = |s: usize, k: usize| if whole { slice(s).div_ceil(1 << k) << k } else { 2 * half(slice(s)) };
    let of_port = |port: usize| (0..slices).map(|s| carried(s, (port + n as usize - s) % n as usize)).sum();
    let load: usize = (0..n as usize).map(of_port).max().unwrap_or(0);
    // A rank that keeps its vector gets it back, but for the part that has never left it.
    let kept = if shape.moving < shape.size { slices * count.div_ceil(slices).div_ceil(shape.nodes()) } else { 0 };
    let even = count.is_multiple_of(slices * shape.nodes());
    Formula {
        rounds: 2 * (n as usize + others.len()),
        elements: (2 * elements) as f64,
        moved: (n as usize * shape.nodes() * count) as f64,
        load: load as f64,
        scratch: (received - count + kept) as f64,
        hops: 2 * n as usize,
        path: received as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Load, Figure::Path, Figure::Hops], even)
    // What passes through the rank where it is to end needs no other place.
    .at_most(&[Figure::Scratch], false)
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    let exchange = Exchange::new(n, parameters);
    route.set_rounds(2 * exchange.rounds());
    // The part of a node's vector that goes by way of another node. Where every node has a rank, those that part last are neighbours.
    let whole = problem.call.size == problem.nodes();
    let part_by = |slice: u32, from: usize, by: usize| match problem.hosting.owner(by) {
        Some(rank) => {
            let index = if whole { reverse_bits(rotate_right(by, slice, n), n) } else { rank };
            part(exchange.slice(problem.block(from), slice), index, problem.call.size)
        }
        None => 0..0,
    };
    let mut source = vec![None; problem.nodes()];
    for from in 0..problem.nodes() {
        if let Some(to) = problem.target(from) {
            source[to] = Some(from);
        }
    }
    exchange.personalised(0, node, route, part_by);
    exchange.backwards().personalised(exchange.rounds(), node, route, |slice, by, to| {
        source[to].map_or(0..0, |from| part_by(slice, from, by))
    });
}
