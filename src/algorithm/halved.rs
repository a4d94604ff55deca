//! A vector in one part a rank, which an exchange halves step after step and joins again, or the other way round.

use super::exchange::{self, longest_even_part, subsets, Exchange};
use super::{Figure, Formula, PortModel, Shape};
use crate::collective::{part, part_with};
use crate::schedule::Problem;
use std::ops::{Range, RangeInclusive};

/// Of a vector that is cut into slices, and each slice into a part a rank in the order in which the steps join them: the parts that the nodes
/// hold which differ from a node in none but some bits, those of the steps so far.
pub fn parts(exchange: &Exchange, problem: &Problem, slice: u32, done: usize, node: usize) -> Vec<Range<usize>> {
    let (all, size) = (exchange.slice(problem.vector(), slice), problem.call.size);
    // Where every node has a rank, the parts that are joined first are neighbours.
    let whole = size == problem.nodes();
    // Of fewer elements than nodes most parts are empty: those that are not have one each.
    if all.len() < (1 << done.count_ones()).min(size) {
        let holder = |nth: usize| match part_with(nth, all.len(), size) {
            index if whole => exchange.joining(index, slice),
            index => problem.hosting.node(index),
        };
        let known = (0..all.len()).filter(|&nth| (holder(nth) ^ node) & !done == 0);
        return known.map(|nth| all.start + nth..all.start + nth + 1).collect();
    }
    let part_of = |of: usize| {
        let rank = problem.hosting.owner(of)?;
        let index = if whole { exchange.joined(of, slice) } else { rank };
        Some(part(all.clone(), index, size))
    };
    subsets(done).filter_map(|bits| part_of(node ^ bits)).collect()
}

/// What goes into, or out of, the busiest host, there and back.
pub fn crossing(shape: &Shape) -> f64 {
    2.0 * exchange::crossing(&Shape { count: shape.count.div_ceil(shape.size), ..*shape })
}

/// Whether all parts are of the same length.
pub fn even(shape: &Shape) -> bool {
    shape.count.is_multiple_of(Exchange::of_shape(shape).slices() as usize * shape.nodes())
}

/// Elements at most of a part that some steps exchange, the first from the end being 1: of all slices together.
pub fn exchanged(shape: &Shape, steps: RangeInclusive<u32>) -> usize {
    let slices = 0..Exchange::of_shape(shape).slices();
    slices.flat_map(|slice| steps.clone().map(move |i| longest(shape, slice, i))).sum()
}

/// The longest of the parts of a slice: of one in 2, 4, ..., 2^n parts; or, if some nodes have no rank, 2^(n-i) blocks.
fn longest(shape: &Shape, slice: u32, i: u32) -> usize {
    let len = Exchange::of_shape(shape).slice(0..shape.count, slice).len();
    match shape.size == shape.nodes() {
        true => len.div_ceil(1 << i),
        false => (len.div_ceil(shape.size) << (shape.n - i)).min(len),
    }
}

/// The cost of both ways, scratch memory apart.
pub fn there_and_back(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let exchange = Exchange::of_shape(shape);
    // Over a link go, there and back, both of the parts into which a step divides one.
    let (load, _) = exchange.loads(|slice, t| longest(shape, slice, n - 1 - t));
    let (_, each) = exchange.loads(|slice, t| longest(shape, slice, n - t));
    // One way at a time the other of two parts has a round of its own, if there is anything of it.
    let one_way = parameters.ports == PortModel::OneWay;
    let others: Vec<usize> = (1..=n).map(|i| longest_even_part(count, i)).filter(|&len| one_way && len > 0).collect();
    Formula {
        rounds: 2 * (n as usize + others.len()),
        elements: (2 * (each + others.iter().sum::<usize>())) as f64,
        moved: (2 * (shape.size - 1) * count) as f64,
        load: load as f64,
        hops: 2 * n as usize,
        path: (2 * exchanged(shape, 1..=n)) as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Scratch, Figure::Path], even(shape))
    .at_most(&[Figure::Load], exchange.slices() == 1 || even(shape))
}
