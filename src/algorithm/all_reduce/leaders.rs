//! All-reduce by recursive doubling among hosts.
//!
//! Algorithm: the ranks of every host combine their vectors at its leader, along a tree for the latency there; the leaders do as all ranks do
//! in [`recursive_doubling`](super::recursive_doubling); then they send the result down the same trees. Where the number of hosts is no
//! power of two, the hosts beyond the largest one below it give what they have to others before, and get the result after.
//!
//! Reference: classic; the trees are those of Bar-Noy and Kipnis 1992, section 3. H hosts of R ranks; mu, the latency within one in start-ups;
//! f(P) the least t such that F(t) >= P, see [`postal`].
//!
//! Requirements: a network where every two ranks are linked.
//!
//! Cost: L = floor(log2 H) exchanges, one message more before and after them if H is no power of two, and f(R) - mu + 1 messages up and as many
//! down, each of the vector.
//!
//! Memory: for a leader a vector for each message that it gets before the way down, but the first one; in place, for that one as well.
//!
//! Correctness condition: after the trees a leader has what its host contributes; after an exchange the hosts that agree in all lower bits
//! have the same. All ranks get the same bits.
//!
//! Example, 4 ranks, 2 on each of 2 hosts: 1 to 0 and 3 to 2; 0 and 2 exchange; 0 to 1 and 2 to 3.

use crate::algorithm::{postal, Algorithm, Form, Formula, OnTorus, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    name: "leaders",
    summary: "short vectors, hosts with several ranks, or not 2^n: one of each host exchanges with those of others",
    source: "classic recursive doubling",
    section: "-",
    differs: "of hosts, with a tree in each; with one rank on each of 2^n hosts, `recursive_doubling`",
    cube_edges: false,
    ports: &[PortModel::OnePort],
    cost: "(2 (f(R) - mu + 1) + L) (M t_c + tau), L = floor(log2 H), 2 more if H > 2^L",
    formula,
    far: Some(|shape| (between(shape), between(shape))),
    way: Some(|shape| figures(shape, postal::ANY.way_within(shape))),
    among_hosts: |hosts, (most, _)| most == 1 && hosts.is_power_of_two(),
    crossing: Some(|shape| ((between(shape) - usize::from(beyond(shape.hosts) > 0)) * shape.count) as f64),
    form: Form::Between(ends, exchange),
    ..DEFAULTS
};

/// Hosts beyond the largest power of two.
fn beyond(hosts: usize) -> usize {
    hosts - (1 << hosts.ilog2())
}

/// Messages between hosts that follow one another.
fn between(shape: &Shape) -> usize {
    shape.hosts.ilog2() as usize + 2 * beyond(shape.hosts).min(1)
}

fn formula(shape: &Shape) -> Formula {
    figures(shape, postal::ANY.within(shape))
}

/// The exchanges, with so much of the way up and of the way down.
fn figures(shape: &Shape, tree: Formula) -> Formula {
    if shape.count == 0 || shape.size == 1 {
        return Formula::NOTHING;
    }
    let (m, inside) = (shape.count as f64, shape.hosts.ilog2() as usize);
    let beyond = beyond(shape.hosts);
    let rounds = 2 * tree.rounds + between(shape);
    // What comes first is combined with the leader's own vector where the result is to be.
    let received = tree.rounds + inside + beyond.min(1) - usize::from(!shape.in_place);
    // One of the leaders that exchange sends to one beyond besides, which sends down what comes back.
    let port = tree.rounds + if inside == 0 { 1 } else { inside + beyond.min(1) };
    let messages = 2 * (shape.size - shape.hosts + beyond) + (inside << inside);
    Formula {
        rounds,
        elements: rounds as f64 * m,
        moved: messages as f64 * m,
        load: m,
        port: port as f64 * m,
        scratch: received as f64 * m,
        hops: 2 * tree.hops + between(shape),
        links: shape.parameters.latency.torus.map_or(0, |OnTorus { torus, .. }| {
            let beyond = 2 * beyond.min(1) * torus.links_between(0, 1 << inside);
            torus.links_by_bit().sum::<usize>() + beyond
        }),
        // Up, a leader gets one vector after the other; down, each waits for the one before.
        path: (tree.rounds + tree.hops + between(shape)) as f64 * m,
        ..Formula::NOTHING
    }
}

/// From the leaders that exchange to those beyond, and from all leaders down; before, the other way round.
fn ends(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let hosts = problem.hosts();
    let inside = 1 << hosts.ilog2();
    let first = beyond(hosts).min(1);
    if node < problem.call.size {
        let own = problem.host_at(node);
        if node == postal::leader(problem, own) {
            if own >= inside {
                route.receive(0, postal::leader(problem, own - inside), [problem.vector()]);
            } else if own + inside < hosts {
                route.send(0, postal::leader(problem, own + inside), [problem.vector()]);
            }
        }
    }
    postal::ANY.write_within(problem, parameters.latency, first, node, route);
}

/// The leaders exchange with those of the hosts that differ in one bit, the top one first.
fn exchange(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let inside = problem.hosts().ilog2();
    route.set_rounds(inside as usize);
    if node >= problem.call.size {
        return;
    }
    let own = problem.host_at(node);
    if own >> inside != 0 || node != postal::leader(problem, own) {
        return;
    }
    for (round, k) in (0..inside).rev().enumerate() {
        let peer = postal::leader(problem, own ^ (1 << k));
        route.send(round, peer, [problem.vector()]);
        route.receive(round, peer, [problem.vector()]);
    }
}
