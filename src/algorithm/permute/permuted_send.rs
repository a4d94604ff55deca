//! Permutation by permuted send: two complete exchanges.
//!
//! Algorithm: every node cuts its vector into a part for every node and sends the parts there by a complete exchange; as the
//! targets are a permutation, each node then holds one part for every target, and a second complete exchange brings the
//! parts home. All permutations take the same time.
//!
//! Reference: Stout and Wagar 1990, section 6, PERMUTED SEND. m elements a vector, parts of m / 2^n.
//!
//! Requirements: none.
//!
//! Cost: symmetrised, all-ports m t_c + 2 n tau; plain n m t_c + 2 n tau; plain, one-way twice that.
//!
//! Memory: one vector in scratch memory.
//!
//! Correctness condition: that of the complete exchange, twice.
//!
//! Example, n = 1, swap: rank 0 sends its second half to 1 and gets the first half of 1's, then sends its own first half
//! and gets 1's second half.

use crate::algorithm::all_to_all::complete_exchange;
use crate::algorithm::exchange::Exchange;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Permute,
    name: "permuted_send",
    summary: "any permutation in the time of the worst: no link is ever a bottleneck",
    source: "SW PERMUTED SEND",
    section: "6",
    symmetrizes: true,
    cost: "symmetrised, all-ports: m t_c + 2 n tau; plain: n m t_c + 2 n tau (one-way: twice)",
    formula,
    exact: |shape| {
        let slices = if shape.parameters.symmetrized { shape.n.max(1) as usize } else { 1 };
        shape.count % (shape.nodes() * slices) == 0
    },
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    if shape.count == 0 {
        return Formula::default();
    }
    let part = shape.count as f64 / shape.nodes() as f64;
    let half = complete_exchange::formula(&Shape { count: 1, ..*shape }).scaled(part);
    half.then(half)
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let exchange = Exchange::new(problem.n, parameters);
    route.set_rounds(2 * exchange.rounds());
    // The part of a node's vector that goes by way of another node.
    let part_by = |from: usize, by: usize| match problem.hosting.owner(by) {
        Some(index) => part(problem.block(from), index, problem.call.size),
        None => 0..0,
    };
    let mut source = vec![None; problem.nodes()];
    for from in 0..problem.nodes() {
        if let Some(to) = problem.target(from) {
            source[to] = Some(from);
        }
    }
    exchange.personalised(0, node, route, part_by);
    exchange.personalised(exchange.rounds(), node, route, |by, to| source[to].map_or(0..0, |from| part_by(from, by)));
}
