//! All-gather round a ring of all hosts, however many there are.
//!
//! Algorithm: in phase k = 1, ..., H - 1 every host sends to the next one the blocks that it has received last, its own first; whoever
//! receives one passes it on to the other ranks of its host. Where every rank has a host of its own, a rank talks to two others; where one host
//! has more ranks than all others, not all of its ranks speak with those: see [`by_hosts`].
//!
//! Reference: classic; for several ranks on a host as in [`all_gather::shift`](super::shift).
//!
//! Requirements: a network where neighbours on the ring are linked, or shared memory.
//!
//! Cost: (P - 1) (m t_c + tau), of which (P - R) m go into and out of each host, even if some have more ranks than others.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: in phase k a host sends the blocks of the host k - 1 places before it.
//!
//! Example, 5 ranks on as many hosts, rank 1: to 2 the blocks 1, 0, 4, 3.

use super::shift;
use crate::algorithm::by_hosts::{self, crossing, gathered, Course};
use crate::algorithm::{Algorithm, Form, Parameters, Route};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "ring",
    summary: "long blocks, where a host had better talk to two others only, or hosts have unequal numbers of ranks",
    source: "classic ring",
    formula: |shape| gathered(Course::Ring, shape),
    crossing: Some(|shape| crossing(Course::Ring, shape)),
    form: Form::Forward(write),
    ..shift::ALGORITHM
};

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    by_hosts::write(Course::Ring, problem, node, route, |place| problem.block(place));
}
