//! Send along one path.
//!
//! Algorithm: the whole vector crosses the dimensions in which the two nodes differ, from the lowest to the highest. An exchange
//! sends two vectors at once, which meet at no node but the two ends.
//!
//! Reference: Stout and Wagar 1990, section 3, O.C. SEND 1; here and in all files of this folder d is the distance (the
//! paper's d of section 3 and n of section 4), n the dimension of the cube (its d of section 4), M the elements of the
//! vector, tau the start-up (its beta) and t_c the time of an element (its tau). Its opposite corners are two nodes of any
//! distance here, in the subcube that they span.
//!
//! Requirements: none.
//!
//! Cost: d (M t_c + tau) in every port model; exchange the same, but twice that for d = 1 if one-way.
//!
//! Memory: a relay holds the vector.
//!
//! Correctness condition: the ports are those of the bits in which the nodes differ, each once. After k steps the one vector
//! has crossed the lowest k, the other has still to cross just these: for 0 < k < d they are at nodes of which neither is
//! the other's, at any two times.
//!
//! Example, n = 3, 1 to 4: 1 to 0 in round 0, 0 to 4 in round 1; back 4 to 5, 5 to 1.

use super::{both_ways, journeys, relay::Relay};
use crate::address::Ports;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Send,
    name: "oc_send_1",
    summary: "short vectors, and nodes of one port: one message over the shortest path",
    source: "SW O.C. SEND 1",
    section: "3",
    cost: "d (M t_c + tau), d the distance",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: Collective::Exchange,
    name: "oc_exchange_1",
    cost: "d (M t_c + tau), d the distance (one-way and d = 1: twice)",
    formula: |shape| {
        let both = both_ways(formula(shape));
        if takes_turns(shape.distance, &shape.parameters) {
            Formula { rounds: 2 * both.rounds, elements: 2.0 * both.elements, ..both }
        } else {
            both
        }
    },
    ..ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let d = shape.distance as usize;
    if d == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let elements = (d * shape.count) as f64;
    let scratch = if d > 1 { shape.count as f64 } else { 0.0 };
    let load = shape.count as f64;
    Formula { rounds: d, elements, moved: elements, load, scratch, hops: d, path: elements, ..Formula::NOTHING }
}

/// One way at a time, neighbours cannot exchange in one round; others have finished sending before they receive.
fn takes_turns(distance: u32, parameters: &Parameters) -> bool {
    distance == 1 && parameters.ports == PortModel::OneWay
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let d = (problem.root ^ problem.peer).count_ones();
    let turns = usize::from(takes_turns(d, parameters));
    route.set_rounds(d as usize + turns);
    for (first, journey) in journeys(problem).enumerate() {
        let mut relay = Relay::new(node);
        relay.path(first * turns, journey.from, Ports::from_mask(journey.mask()));
        relay.write(route, [(0, journey.data)]);
    }
}
