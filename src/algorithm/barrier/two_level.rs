//! Barrier along a tree of two levels: up to rank 0, then down from it.
//!
//! Algorithm: every rank signals the leader of its host, leaders signal theirs along a 4-nomial tree of hosts, and back down. See
//! [`two_level`](crate::algorithm::two_level).
//!
//! Reference: classic k-nomial tree, on hosts.
//!
//! Requirements: a network where every two ranks are linked.
//!
//! Cost: H hosts of R ranks: 2 (c + R - 1) start-ups of rank 0, c <= 3 ceil(log4 H) of them to and from other hosts.
//!
//! Memory: none.
//!
//! Correctness condition: a rank signals its leader when all that are below it have signalled.
//!
//! Example, 4 ranks, 2 on each of 2 hosts: 1 to 0 and 3 to 2, then 2 to 0; then 0 to 2, and 0 to 1 and 2 to 3.

use super::dissemination;
use crate::algorithm::two_level::{self, messages, Message};
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Barrier,
    name: "two_level",
    summary: "hosts with several ranks: two signals between any two of them, few hops",
    source: "classic k-nomial tree",
    ports: &[PortModel::OneWay, PortModel::OnePort],
    cost: "2 (c + R - 1) tau, c <= 3 ceil(log4 H)",
    formula,
    signals: |ranks| 2 * (ranks - 1),
    crossing: Some(|_| 0.0),
    far: Some(|shape| {
        let (messages, hops) = two_level::far(shape);
        (2 * messages, 2 * hops)
    }),
    near_hosts: true,
    form: Form::Forward(write),
    ..dissemination::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let one_way = two_level::formula(shape);
    one_way.then(one_way)
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let (rounds, messages) = messages(problem, node);
    route.set_rounds(2 * rounds);
    for Message { round, peer, sends, .. } in messages.iter().rev() {
        route.signal(rounds - 1 - round, *peer, !sends);
    }
    for Message { round, peer, sends, .. } in messages {
        route.signal(rounds + round, peer, sends);
    }
}
