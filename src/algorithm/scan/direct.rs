//! Scan in which every rank sends its vector to all ranks above it.
//!
//! Algorithm: a rank sends to the nearest rank above it first, and adds what it gets, from the nearest rank below it first, to its prefix.
//! Nothing that is sent waits for anything.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory; few ranks.
//!
//! Cost: (P - 1) (M t_c + tau); one hop.
//!
//! Memory: the vectors of the ranks below, but for the first one that arrives.
//!
//! Correctness condition: in round d - 1 rank r sends to r + d, and the prefix of r + d, which reaches down to r + 1, is joined by r.
//!
//! Example, 3 ranks: 0 to 1 and 1 to 2; then 0 to 2, which combines it with what it has of 1 and itself.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::{PartOf, Problem};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scan,
    name: "direct",
    summary: "short vectors of few ranks that share a memory: one hop",
    source: "classic direct",
    section: "-",
    cube_edges: false,
    ordered: true,
    ports: &[PortModel::OnePort],
    cost: "(P - 1) (M t_c + tau)",
    formula: |shape| formula(shape, false),
    form: Form::Combining(write),
    ..DEFAULTS
};

/// The exclusive scan: the same route.
pub const EXCLUSIVE: Algorithm =
    Algorithm { collective: Collective::ExclusiveScan, formula: |shape| formula(shape, true), ..ALGORITHM };

fn formula(shape: &Shape, exclusive: bool) -> Formula {
    let others = shape.size - 1;
    if others == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let m = shape.count as f64;
    let kept = if shape.in_place && !exclusive { others } else { others - 1 };
    Formula {
        rounds: others,
        elements: others as f64 * m,
        moved: (shape.size * others / 2) as f64 * m,
        load: m,
        scratch: kept as f64 * m,
        hops: 1,
        path: others as f64 * m,
        ..Formula::NOTHING
    }
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let size = problem.call.size;
    route.set_rounds(size - 1);
    if node >= size {
        return;
    }
    for distance in 1..size {
        if node + distance < size {
            route.send(distance - 1, node + distance, [problem.vector()]);
        }
        if node >= distance {
            route.receive_part(PartOf::Prefix, distance - 1, node - distance, [problem.vector()]);
        }
    }
}
