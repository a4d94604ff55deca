//! Broadcast along trees for a latency: a rank goes on sending while its first message is under way.
//!
//! Algorithm: between hosts, then within each, ranks that have the vector send it to others without a pause, so many and in such an order
//! that all others have it at the same time, as nearly as that can be. See [`postal`].
//!
//! Reference: Bar-Noy and Kipnis 1992, section 3 (BK92); Karp, Sahay, Santos and Schauser 1993. H hosts of R ranks; lambda and mu, the
//! latency between hosts and within one in start-ups; f(P) the least t such that F(t) >= P.
//!
//! Requirements: a network where every two ranks are linked, or shared memory. On a torus ([`Latency::torus`](crate::algorithm::Latency)) the
//! tree between hosts goes along its sides, see [`rings`](crate::algorithm::rings).
//!
//! Cost: the root sends f(H) - lambda + 1 messages and f(R) - mu + 1; all have it after f(H) start-ups between hosts and f(R) within them.
//! (On a torus of sides L: sum over the sides of the time of a ring, for lambda and l start-ups a link, l >= 2: lambda + l floor(L / 2), or one more.)
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: what a position gets in round s it sends from round s + lambda on, and every position but the first is the first
//! of one part.
//!
//! Example, 8 ranks on hosts of their own, root 0, lambda = 3: 0 to 6 (round 0); 0 to 4 (1); 0 to 3 (2); 0 to 2, and 6 to 7 (3); 0 to 1, and
//! 4 to 5 (4); all have it after 7 start-ups, along a binomial tree after 9.

use crate::algorithm::{postal, strides, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "postal",
    summary: "short messages: ranks go on sending while the first is under way; enters each host once",
    source: "BK92 generalized Fibonacci tree",
    section: "3",
    differs: "a tree of hosts, then one in each",
    cube_edges: false,
    ports: &[PortModel::OneWay, PortModel::OnePort],
    cost: "(f(H) - lambda + f(R) - mu + 2) (M t_c + tau), f(P) the least t such that F(t) >= P",
    formula,
    far: Some(|shape| postal::ANY.far(shape)),
    way: Some(way),
    crossing: Some(|shape| (postal::ANY.crossing(shape) * shape.count) as f64),
    strides: strides::tree,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// What follows one another on the way to the last rank.
pub fn way(shape: &Shape) -> Formula {
    postal::ANY.way(shape).with_vectors(shape, postal::ANY.children(shape))
}

/// The cost of the broadcast.
pub fn formula(shape: &Shape) -> Formula {
    postal::ANY.formula(shape).with_vectors(shape, postal::ANY.children(shape))
}

/// The cost of the reduction, which is the same backwards: to the root vectors come without a pause.
pub fn reduced(shape: &Shape) -> Formula {
    formula(shape).up(shape, postal::ANY.children(shape))
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    postal::ANY.write(problem, parameters.latency, node, route);
}
