//! Send along d paths at once.
//!
//! Algorithm: the vector is cut into d slices, and slice i crosses the d dimensions in which the nodes differ in ascending order,
//! cyclically from the i-th one on. No two slices use a link.
//!
//! Reference: Stout and Wagar 1990, section 3, O.C. SEND 2; symbols as in [`oc_send_1`](super::oc_send_1).
//!
//! Requirements: all ports.
//!
//! Cost: M t_c + d tau, if d divides M; exchange the same.
//!
//! Memory: a relay holds a slice.
//!
//! Correctness condition: in the address relative to the sender, a slice is after k steps where k cyclically successive
//! bits of the d are 1, and these name the slice for 0 < k < d.
//!
//! Example, n = 3, 0 to 7: slice 0 by 1 and 3, slice 1 by 2 and 6, slice 2 by 4 and 5.

use super::{journeys, meeting, relay::cyclic, relay::Relay};
use crate::address::Ports;
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Send,
    name: "oc_send_2",
    summary: "all ports: slices over disjoint shortest paths, one message a port and round",
    source: "SW O.C. SEND 2",
    section: "3",
    ports: &[PortModel::AllPorts],
    cost: "M t_c + d tau, d the distance",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Both ways at once.
pub const EXCHANGE: Algorithm = Algorithm {
    collective: Collective::Exchange,
    name: "oc_exchange_2",
    formula: |shape| {
        let send = formula(shape);
        meeting(send, 2.0 * send.path - shape.count as f64)
    },
    ..ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let (d, m) = (shape.distance as usize, shape.count as f64);
    if d == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let slice = shape.count.div_ceil(d) as f64;
    Formula {
        rounds: d,
        elements: d as f64 * slice,
        moved: d as f64 * m,
        load: slice,
        scratch: if d > 1 { slice } else { 0.0 },
        hops: d,
        path: m + (d - 1) as f64 * slice,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Path], shape.count.is_multiple_of(d))
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    route.set_rounds((problem.root ^ problem.peer).count_ones() as usize);
    for journey in journeys(problem) {
        let ports = Ports::from_mask(journey.mask());
        for (slice, port) in ports.iter().enumerate() {
            let mut relay = Relay::new(node);
            relay.path(0, journey.from, cyclic(journey.mask(), port));
            relay.write(route, [(0, part(journey.data.clone(), slice, ports.len() as usize))]);
        }
    }
}
