//! Broadcast along trees in which no rank sends more than two messages.
//!
//! Algorithm: as in [`postal`](super::postal), between hosts, then within each, with two children at most: where messages are so long that a
//! port that sends many holds up the call, and so short that it is hops that count elsewhere. The second child, which has its message
//! later, has the smaller part. See [`postal`](crate::algorithm::postal).
//!
//! Reference: Sanders and Sibeyn 2003, "A bandwidth latency tradeoff for broadcast and reduction", section 3 (SS03: Fibonacci trees); for
//! other latencies with the recurrence of Bar-Noy and Kipnis 1992. H hosts of R ranks; lambda and mu, the latency between hosts and within
//! one in start-ups; f(P) the least t such that F(t) >= P, F(t) = 1 + F(t - lambda) + F(t - lambda - 1), where there is time for both.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: no rank sends more than 2 messages in each of the trees; all have it after f(H) start-ups between hosts and f(R) within them.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: what a position gets in round s it sends from round s + lambda on, and every position but the first is the first
//! of one part.
//!
//! Example, 7 ranks on hosts of their own, root 0, lambda = 1: 0 to 3 (round 0); 0 to 1, 3 to 5 (1); 1 to 2, 3 to 4, 5 to 6 (2).

use super::postal;
use crate::algorithm::{postal::TWO, strides};
use crate::algorithm::{Algorithm, Form, Formula, Parameters, Route, Shape};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "binary",
    summary: "rather short messages, any number of ranks: two children at most, so that no port is held up",
    source: "SS03 Fibonacci tree",
    section: "3",
    cost: "(f(H) - lambda + f(R) - mu + 2) (M t_c + tau), F(t) = 1 + F(t - lambda) + F(t - lambda - 1)",
    formula,
    far: Some(|shape| TWO.far(shape)),
    way: Some(way),
    crossing: Some(|shape| (TWO.crossing(shape) * shape.count) as f64),
    strides: strides::tree,
    form: Form::Forward(write),
    ..postal::ALGORITHM
};

/// What follows one another on the way to the last rank.
fn way(shape: &Shape) -> Formula {
    TWO.way(shape).with_vectors(shape, TWO.children(shape))
}

/// The cost of the broadcast.
pub fn formula(shape: &Shape) -> Formula {
    TWO.formula(shape).with_vectors(shape, TWO.children(shape))
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    formula(shape).up(shape, TWO.children(shape))
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    TWO.write(problem, parameters.latency, node, route);
}
