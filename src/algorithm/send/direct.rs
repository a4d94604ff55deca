//! Send by one message.
//!
//! Algorithm: the root sends to the peer. An exchange is two messages, one after the other if nodes work one way at a time.
//!
//! Reference: classic.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: M t_c + tau; exchange the same, one-way twice that.
//!
//! Memory: none besides the vectors.
//!
//! Correctness condition: none.
//!
//! Example, 8 ranks, 1 to 6: one message.

use super::{both_ways, journeys};
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Send,
    name: "direct",
    summary: "where every pair of ranks is linked: one message",
    source: "classic direct",
    section: "-",
    cube_edges: false,
    cost: "M t_c + tau",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Both ways.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: Collective::Exchange,
    summary: "where every pair of ranks is linked: a message each way",
    cost: "M t_c + tau (one-way: twice)",
    formula: |shape| {
        let both = both_ways(formula(shape));
        let turns = if shape.parameters.ports == PortModel::OneWay { 2 } else { 1 };
        Formula { rounds: turns * both.rounds, elements: turns as f64 * both.elements, ..both }
    },
    ..ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    if shape.distance == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let elements = shape.count as f64;
    Formula { rounds: 1, elements, moved: elements, load: elements, hops: 1, path: elements, ..Formula::NOTHING }
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let turns = usize::from(parameters.ports == PortModel::OneWay);
    route.set_rounds(1 + turns);
    for (first, journey) in journeys(problem).enumerate() {
        if node == journey.from {
            route.send(first * turns, journey.to, [journey.data]);
        } else if node == journey.to {
            route.receive(first * turns, journey.from, [journey.data]);
        }
    }
}
