//! All-to-all by doubling, on any number of ranks.
//!
//! Algorithm: a block from rank s to rank t goes the way s + (t - s mod P) in steps of powers of two: in step k = 0, 1, ... every rank
//! sends to the rank 2^k places after it, host by host, all blocks whose way has that step, its own and those that have come.
//!
//! Reference: Bruck, Ho, Kipnis, Upfal and Weathersby 1997, section 3.2, radix 2, without the two rotations: blocks are kept by where
//! they go, and received where they belong. P ranks, q = ceil(log2 P).
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: q tau + B m t_c, where B is the number of bits that are 1 in 1, 2, ..., P - 1.
//!
//! Memory: all that is passed on, (B - P + 1) m.
//!
//! Correctness condition: before step k a rank i has the blocks whose remaining way is a multiple of 2^k, from the rank
//! (way mod 2^k) places before it.
//!
//! Example, 3 ranks, rank 0: (0 to 1) to 1, (2 to 0) from 2; then (0 to 2) to 2, (1 to 0) from 1.

use super::shift;
use crate::algorithm::{Algorithm, Form, Formula, Lengths, Parameters, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllToAll,
    name: "bruck",
    summary: "short blocks, any number of ranks: fewest start-ups",
    source: "classic doubling",
    cost: "q tau + B m t_c, q = ceil(log2 P), B bits that are 1 in 1, ..., P - 1",
    formula,
    crossing: Some(crossing),
    lengths: Lengths::Passing,
    form: Form::Forward(write),
    ..shift::ALGORITHM
};

/// The ways, 1 to P - 1, that have step k.
fn ways(size: usize, k: u32) -> impl Iterator<Item = usize> {
    (1..size).filter(move |way| way >> k & 1 == 1)
}

/// How many they are: of every 2^(k+1) numbers the upper half.
fn number_of_ways(size: usize, k: u32) -> usize {
    (size >> (k + 1) << k) + (size % (2 << k)).saturating_sub(1 << k)
}

fn formula(shape: &Shape) -> Formula {
    let Shape { n, size, count, .. } = *shape;
    if size == 1 || count == 0 {
        return Formula::NOTHING;
    }
    let blocks: usize = (0..n).map(|k| number_of_ways(size, k)).sum();
    let most = (0..n).map(|k| number_of_ways(size, k)).max().unwrap_or(0);
    // All steps but the last wait for the one before; the last one for the step before it on the longest way that has both.
    let rest = size - 1 - (1 << (n - 1));
    let last = rest.checked_ilog2().map_or(1, |step| step + 2);
    let path = (blocks * count) as f64;
    Formula {
        rounds: n as usize,
        elements: path,
        moved: path * size as f64,
        load: (most * count) as f64,
        scratch: ((blocks - (size - 1)) * count) as f64,
        hops: (n - 1).max(last) as usize,
        path,
        ..Formula::NOTHING
    }
}

/// What leaves the host with the most ranks: in step k what its ranks send that are no mates of those 2^k places after them.
fn crossing(shape: &Shape) -> f64 {
    let Shape { n, size, on_host: (most, _), .. } = *shape;
    let senders = |k: u32| most - most.saturating_sub(1 << k) - (most + (1 << k)).saturating_sub(size);
    ((0..n).map(|k| senders(k) * number_of_ways(size, k)).sum::<usize>() * shape.count) as f64
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    route.set_rounds(problem.n as usize);
    if node >= size {
        return;
    }
    for k in 0..problem.n {
        let sent = |from: usize| {
            ways(size, k).map(move |way| {
                let source = (from + size - way % (1 << k)) % size;
                problem.block_between(source, (source + way) % size)
            })
        };
        let (to, from) = ((node + (1 << k)) % size, (node + size - (1 << k)) % size);
        route.send(k as usize, to, sent(node));
        route.receive(k as usize, from, sent(from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_counted() {
        for (size, k) in (1..70).flat_map(|size| (0..7).map(move |k| (size, k))) {
            assert_eq!(number_of_ways(size, k), ways(size, k).count(), "{size} {k}");
        }
    }
}
