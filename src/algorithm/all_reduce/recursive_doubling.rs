//! All-reduce by recursive doubling.
//!
//! Algorithm: in each step the nodes that differ in one bit, the top one first, exchange all that they have, and both combine it with
//! their own, so that the contributions that a node has double. Where the number of ranks is no power of two, the ranks beyond the
//! largest one below it give their vectors to their neighbours across the top dimension before the first step, and get the result
//! after the last.
//!
//! Reference: classic; the exchange is that of Stout and Wagar 1990, section 8, with whole vectors.
//!
//! Requirements: none. It uses one port at a time under every port model, so all ports gain nothing.
//!
//! Cost: n (M t_c + tau); where the number of ranks is no power of two, one step more (n the next larger power's).
//!
//! Memory: a vector.
//!
//! Correctness condition: after the steps down to bit k the nodes that agree in all bits below k have the same: the combination of
//! their contributions. All ranks get the same bits, as on both sides of an exchange the lower rank's operand is the left one.
//!
//! Example, n = 2: 0 and 2 exchange, 1 and 3; then 0 and 1, 2 and 3. 3 ranks: 2 sends to 0; 0 and 1 exchange; 0 sends to 2.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    name: "recursive_doubling",
    summary: "short vectors: half the start-ups of a reduction and a broadcast",
    source: "classic recursive doubling",
    section: "-",
    ordered: true,
    ports: &[PortModel::OnePort, PortModel::AllPorts],
    cost: "n (M t_c + tau)",
    formula,
    signals: |ranks| {
        let inside = ranks.ilog2();
        (inside << inside) as usize + 2 * (ranks - (1 << inside))
    },
    form: Form::Between(end, exchange),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    if shape.n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let (m, inside) = (shape.count as f64, shape.size.ilog2() as usize);
    let beyond = shape.size - (1 << inside);
    let rounds = inside + 2 * beyond.min(1);
    // What comes first is combined with a rank's own vector where the result is to be.
    let received = inside + beyond.min(1);
    let scratch = if shape.in_place { received } else { received - 1 };
    Formula {
        rounds,
        elements: rounds as f64 * m,
        moved: ((inside << inside) + 2 * beyond) as f64 * m,
        load: m,
        scratch: scratch as f64 * m,
        hops: rounds,
        path: rounds as f64 * m,
        ..Formula::NOTHING
    }
}

/// The dimensions of the largest cube of which every node has a rank of its own.
fn dimensions(problem: &Problem) -> u32 {
    problem.call.size.ilog2()
}

/// The ranks beyond the largest whole cube get what their neighbours in it have; before, the other way round.
fn end(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let inside = dimensions(problem);
    if inside == problem.n {
        return;
    }
    route.set_rounds(1);
    let peer = node ^ (1 << inside);
    if node < peer {
        route.send(0, peer, [problem.vector()]);
    } else {
        route.receive(0, peer, [problem.vector()]);
    }
}

fn exchange(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let inside = dimensions(problem);
    route.set_rounds(inside as usize);
    if node >> inside != 0 {
        return;
    }
    // From the top dimension down neighbouring intervals of ranks are joined, where the order matters.
    for (round, k) in (0..inside).rev().enumerate() {
        route.send(round, node ^ (1 << k), [problem.vector()]);
        route.receive(round, node ^ (1 << k), [problem.vector()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::verify;
    use crate::collective::Call;

    /// What the formula, for whole cubes, leaves open: one step more elsewhere.
    #[test]
    fn as_many_steps_as_dimensions_or_one_more() {
        for size in 1..=33usize {
            let report =
                verify(&ALGORITHM, &Call::new(Collective::AllReduce, size, 5), &Parameters::new(PortModel::OnePort));
            assert!(report.violations.is_empty(), "{size}: {:?}", report.violations);
            let n = size.next_power_of_two().ilog2() as usize;
            assert_eq!(report.cost.rounds, n + usize::from(!size.is_power_of_two()), "{size}");
        }
    }
}
