//! All-gather by doubling, on any number of ranks.
//!
//! Algorithm: before step k = 0, 1, ... a rank holds the blocks of the 2^k places from its own on; it sends them to the rank 2^k places
//! before it, and receives as many from the one 2^k places behind it, in the last step only what is missing.
//!
//! Reference: Bruck, Ho, Kipnis, Upfal and Weathersby 1997, section 4, without the final rotation: every block is received where it
//! belongs. P ranks, q = ceil(log2 P).
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: (P - 1) m t_c + q tau.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: the places from i to i + 2^k - 1 and from i + 2^k on are disjoint and join, as long as they are no more than P.
//!
//! Example, 5 ranks, rank 0: 0 to 4, 1 from 1; 0 1 to 3, 2 3 from 2; 0 to 1, 4 from 4.

use super::shift;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    name: "bruck",
    summary: "short blocks, any number of ranks: fewest start-ups, nothing sent twice",
    source: "classic doubling",
    cost: "(P - 1) m t_c + ceil(log2 P) tau",
    formula,
    crossing: None,
    form: Form::Forward(write),
    ..shift::ALGORITHM
};

/// Before each step, what a rank holds, and what it sends: places, all but those of the last step powers of two.
pub fn steps(size: usize) -> impl Iterator<Item = (usize, usize)> {
    let held = std::iter::successors(Some(1), |held| Some(2 * held));
    held.take_while(move |&held| held < size).map(move |held| (held, held.min(size - held)))
}

/// The most blocks that go in one step.
pub fn most_sent(size: usize) -> usize {
    steps(size).map(|(_, sent)| sent).max().unwrap_or(0)
}

/// Messages that wait for one another: a step waits for the last one that has brought any of what it sends.
pub fn hops(size: usize) -> usize {
    let last = steps(size).last().map_or(0, |(_, sent)| 1 + steps(sent).count());
    last.max(steps(size).count().saturating_sub(1))
}

pub fn formula(shape: &Shape) -> Formula {
    let rounds = steps(shape.size).count();
    if rounds == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let path = ((shape.size - 1) * shape.count) as f64;
    Formula {
        rounds,
        elements: path,
        moved: path * shape.size as f64,
        load: (most_sent(shape.size) * shape.count) as f64,
        hops: hops(shape.size),
        path,
        ..Formula::NOTHING
    }
}

/// The cost of the reduce-scatter, which is the same backwards.
pub fn reduce_scattered(shape: &Shape) -> Formula {
    super::reduce_scattered(formula, shape)
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    route.set_rounds(steps(size).count());
    if node >= size {
        return;
    }
    let blocks = |first: usize, number: usize| (first..first + number).map(move |place| problem.block(place % size));
    for (step, (held, sent)) in steps(size).enumerate() {
        route.send(step, (node + size - held) % size, blocks(node, sent));
        route.receive(step, (node + held) % size, blocks(node + held, sent));
    }
}
