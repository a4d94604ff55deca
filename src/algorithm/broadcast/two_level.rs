//! Broadcast along a tree of two levels: from host to host, then within each host.
//!
//! Algorithm: the root sends its vector to the leaders of other hosts, which pass it on along a 4-nomial tree; then every leader sends it
//! to the other ranks of its host. See [`two_level`].
//!
//! Reference: classic k-nomial tree, on hosts.
//!
//! Requirements: a network where every two ranks are linked.
//!
//! Cost: H hosts of R ranks: (c + R - 1) (M t_c + tau), c <= 3 ceil(log4 H) messages of the root to other hosts; at most ceil(log4 H) + 1
//! hops.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: a leader is sent the vector in an earlier round than those in which it sends it.
//!
//! Example, 6 ranks, 2 on each of 3 hosts, root 0: to 4, then 2; then 0 to 1, 2 to 3 and 4 to 5.

use crate::algorithm::{strides, two_level, Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "two_level",
    summary: "short messages, hosts with several ranks: enters each host once, few hops",
    source: "classic k-nomial tree",
    section: "-",
    cube_edges: false,
    ports: &[PortModel::OneWay, PortModel::OnePort],
    cost: "(c + R - 1) (M t_c + tau), c <= 3 ceil(log4 H)",
    formula,
    far: Some(two_level::far),
    near_hosts: true,
    crossing: Some(|shape| (two_level::far(shape).0 * shape.count) as f64),
    strides: strides::tree,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the broadcast.
pub fn formula(shape: &Shape) -> Formula {
    two_level::formula(shape).with_vectors(shape, two_level::children(shape))
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    formula(shape).up(shape, two_level::children(shape))
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    two_level::write(problem, node, route, |_| vec![problem.vector()]);
}
