//! The pattern behind direct algorithms: the root talks to every rank itself, the farthest rank first.
//!
//! For networks where every two ranks are linked, and for shared memory, where a copy costs the same wherever it comes
//! from. The order by distance lets a reduction, which runs it backwards, join neighbouring ranks first on either side.

use crate::schedule::{Problem, Route};
use std::ops::Range;

/// Writes the route of a node that gets, or of the root that sends, `data(rank)` for every other rank.
pub fn write(problem: &Problem, node: usize, route: &mut Route, data: impl Fn(usize) -> Range<usize>) {
    let (size, root) = (problem.call.size, problem.call.root);
    route.set_rounds(size - 1);
    let Some(rank) = problem.hosting.owner(node) else { return };
    // Ranks that are farther from the root than this one come before it; of two at one distance, the lower one.
    let round = |rank: usize| {
        let distance = rank.abs_diff(root);
        let farther = root.saturating_sub(distance) + (size - 1 - root).saturating_sub(distance);
        farther + usize::from(rank > root && distance <= root)
    };
    if rank == root {
        for to in (0..size).filter(|&to| to != root) {
            route.send(round(to), problem.hosting.node(to), [data(to)]);
        }
    } else {
        route.receive(round(rank), problem.root, [data(rank)]);
    }
}
