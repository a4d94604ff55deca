//! All-to-all by pairs: everyone exchanges with one partner at a time, for any number of ranks.
//!
//! Algorithm: in every round a host has at most one partner, and their ranks exchange blocks in turns: in turn j the i-th of the one and the
//! i'-th of the other with i + i' = j, modulo the larger number of ranks. The ranks of a host are each other's partners in the same way,
//! before that. Of an odd number x, in round r i and i' are partners if i + i' = r modulo x, and one is alone; of an even number, the
//! last one is the partner of the one that would be alone among the others.
//!
//! Reference: Sanders and Traeff 2002, the hierarchical factor algorithm; the rounds are those of a tournament. H hosts of R ranks.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: (F(R) + F(H) R) (m t_c + tau), F(x) = x - 1 for even x and x for odd ones, F(1) = 0; of which R (P - R) m go into and out of each host.
//!
//! Memory: none besides the blocks.
//!
//! Correctness condition: in all rounds everyone has each other one for a partner once, and is that one's partner then.
//!
//! Example, 6 ranks, rank 2: with 3, 4, 0, 1 as 2 + 3 = 0, 2 + 4 = 1, ... modulo 5, but in the round r = 4, where 2 + 2 = 4, with 5.

use super::shift;
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, Route, Shape, BELOW_ONE_SWITCH};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "one_factor",
    summary: "long blocks, an even number of hosts: who is late holds up one partner at a time",
    source: "Sanders and Traeff 2002",
    cost: "(F(R) + F(H) R) (m t_c + tau), F(x) = x - 1 for even x, else x, F(1) = 0",
    formula,
    // Beyond one switch partners meet on links in its middle: blocks of 16 MiB together on 60 to 96 hosts of a fat tree took .97 to 1.5 times as
    // long as by shifts, on a torus 1.06 to 1.1 (SimGrid); and of unlike hosts ranks wait for each other.
    among_hosts: |hosts, (most, fewest)| hosts > BELOW_ONE_SWITCH || most != fewest,
    form: Form::Forward(write),
    ..shift::ALGORITHM
};

/// Rounds in which so many meet each other.
fn rounds(of: usize) -> usize {
    match of {
        0 | 1 => 0,
        _ => of - usize::from(of.is_multiple_of(2)),
    }
}

/// Whom one of so many meets in a round.
fn partner(of: usize, round: usize, own: usize) -> Option<usize> {
    let cycle = rounds(of);
    if own == cycle {
        // Twice whose number is the round's.
        return Some((round + cycle * (round % 2)) / 2);
    }
    let other = (round + cycle - own) % cycle;
    let last = (cycle < of).then_some(cycle);
    if other == own {
        last
    } else {
        Some(other)
    }
}

fn formula(shape: &Shape) -> Formula {
    if shape.size == 1 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let (most, fewest) = shape.on_host;
    let rounds = rounds(most) + rounds(shape.hosts) * most;
    let elements = (rounds * shape.count) as f64;
    Formula { rounds, elements, ..(shift::ALGORITHM.formula)(shape) }.at_most(&[Figure::Elements], most == fewest)
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let hosts = problem.hosts();
    let (most, _) = problem.most_and_fewest();
    let within = rounds(most);
    route.set_rounds(within + rounds(hosts) * most);
    if node >= problem.call.size {
        return;
    }
    let mut exchange = |round: usize, peer: usize| {
        route.send(round, peer, [problem.block_between(node, peer)]);
        route.receive(round, peer, [problem.block_between(peer, node)]);
    };
    let host = problem.host_at(node);
    let mates = problem.places_of(host);
    let own = node - mates.start;
    for round in 0..rounds(mates.len()) {
        if let Some(mate) = partner(mates.len(), round, own) {
            exchange(round, mates.start + mate);
        }
    }
    for round in 0..rounds(hosts) {
        let Some(other) = partner(hosts, round, host) else { continue };
        let others = problem.places_of(other);
        let width = mates.len().max(others.len());
        for turn in 0..width {
            let peer = (turn + width - own) % width;
            if peer < others.len() {
                exchange(within + round * most + turn, others.start + peer);
            }
        }
    }
}
