//! Scan by doubling the reach, on any number of ranks.
//!
//! Algorithm: before step k = 0, 1, ... a rank's total is that of the up to 2^k ranks that end with it. It sends it to the rank 2^k
//! ranks above it, and adds what it gets from the rank 2^k ranks below it to its total and its prefix; in a scan these are the same.
//!
//! Reference: Hillis and Steele 1986 (Kogge and Stone 1973); as simultaneous binomial trees in Sanders and Träff 2006. P ranks,
//! q = ceil(log2 P).
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: q (M t_c + tau).
//!
//! Memory: a vector a step.
//!
//! Correctness condition: the 2^k ranks that end with r and the 2^k ranks that end with r - 2^k are neighbouring intervals.
//!
//! Example, 5 ranks, rank 4: 3's vector from 3, then 1 and 2 from 2, then 0 from 0.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS};
use crate::collective::{Call, Collective};
use crate::schedule::{PartOf, Problem};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scan,
    name: "doubling",
    summary: "short vectors, any number of ranks: fewest start-ups, one combination in each",
    source: "classic doubling",
    section: "-",
    cube_edges: false,
    ordered: true,
    ports: &[PortModel::OnePort],
    cost: "ceil(log2 P) (M t_c + tau)",
    suits,
    formula: |shape| formula(shape, false),
    form: Form::Combining(write),
    ..DEFAULTS
};

/// A rank sends what it has before it receives in the same round, from another rank. Round a link the one is later than the other.
fn suits(call: &Call, _: &Parameters) -> Result<(), Unsuited> {
    match call.avoid {
        None => Ok(()),
        Some(_) => Err(("avoid_links", "goes round no links: ranks send to others than they receive from".into())),
    }
}

/// The exclusive scan: the same route; prefix and total differ by a rank's own vector.
pub const EXCLUSIVE: Algorithm = Algorithm {
    collective: Collective::ExclusiveScan,
    summary: "short vectors, any number of ranks: fewest start-ups",
    formula: |shape| formula(shape, true),
    ..ALGORITHM
};

/// The distances of the steps.
fn distances(size: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |distance| Some(2 * distance)).take_while(move |&distance| distance < size)
}

fn formula(shape: &Shape, exclusive: bool) -> Formula {
    let (size, steps) = (shape.size, distances(shape.size).count());
    if steps == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let m = shape.count as f64;
    // Of so many vectors the first one can arrive where the result is to be. Of an exclusive scan, ranks that have yet to send a total keep
    // that besides, the last of which is P - 3; and in place, where the result is to be lies what a rank sends, the last one P - 2.
    let received = |rank: Option<usize>| rank.map_or(0, |rank| distances(rank + 1).count());
    let kept = match (exclusive, shape.in_place) {
        (false, true) => steps,
        (false, false) => steps - 1,
        (true, in_place) => (steps - 1).max(received(size.checked_sub(if in_place { 2 } else { 3 }))),
    };
    Formula {
        rounds: steps,
        elements: steps as f64 * m,
        moved: distances(size).map(|distance| size - distance).sum::<usize>() as f64 * m,
        load: m,
        scratch: kept as f64 * m,
        // What a rank is about to send in the last step has to wait for what it sends in the one before, if it is sent anything then.
        hops: if 4 * size > 3 << steps { steps } else { steps - 1 }.max(1),
        path: steps as f64 * m,
        ..Formula::NOTHING
    }
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    route.set_rounds(distances(size).count());
    for (step, distance) in distances(size).enumerate() {
        if node + distance < size {
            route.send(step, node + distance, [problem.vector()]);
        }
        if node < size && node >= distance {
            route.receive_part(PartOf::Both, step, node - distance, [problem.vector()]);
        }
    }
}
