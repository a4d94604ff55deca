//! All-to-all with one message between every two hosts.
//!
//! Algorithm: every host k places ahead, k = 1, ..., H - 1, is in the charge of one rank of a host, the (k - 1)-th, counted modulo its ranks.
//! First the ranks of a host give each other their blocks, and to each the blocks for the hosts in its charge; then each sends those hosts
//! all that its host has for them, to the rank there that has its host in charge, counted the other way round; and that one gives its mates
//! what is for them.
//!
//! Reference: Bienz, Gropp and Olson 2019, node-aware communication in three steps, there for sparse matrices. H hosts of R ranks, w = ceil((H -
//! 1) / R).
//!
//! Requirements: a network where every two ranks are linked.
//!
//! Cost: (2 (R - 1) + w) tau + ((R - 1) (1 + 2 w R) + w R^2) m t_c, of which a rank sends at most w messages of R^2 blocks to other hosts. (Block by
//! block, a rank sends R (H - 1) messages there.)
//!
//! Memory: what is for others, 2 w R (R - 1) m.
//!
//! Correctness condition: before the second step the rank in charge of a host has all blocks from its own host to that one.
//!
//! Example, 4 ranks, 2 on each of 2 hosts, blocks by source and target: 1 gives 0 (1 to 0), (1 to 2) and (1 to 3), and 0 gives 1 (0 to 1); 0
//! sends 2 all that is for 2 and 3; 2 gives 3 (0 to 3) and (1 to 3).

use super::shift;
use crate::algorithm::by_hosts::{give, waves};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Lengths, Parameters, Route, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;
use std::iter;
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllToAll,
    name: "three_step",
    summary: "short blocks, hosts with several ranks: one message between every two hosts",
    source: "node-aware three steps",
    differs: "with one rank a host, `shift`",
    cost: "(2 (R - 1) + w) tau + ((R - 1) (1 + 2 w R) + w R^2) m t_c, w = ceil((H - 1) / R)",
    formula,
    far: Some(|shape| (waves(shape.hosts - 1, shape.on_host.1), 1)),
    all_lead: true,
    among_hosts: |_, (most, _)| most == 1,
    lengths: Lengths::Passing,
    form: Form::Forward(write),
    ..shift::ALGORITHM
};

fn formula(shape: &Shape) -> Formula {
    let Shape { size, count, hosts, on_host: (most, fewest), .. } = *shape;
    if size == 1 || count == 0 {
        return Formula::NOTHING;
    }
    // Hosts in the charge of one rank, where no host has fewer ranks than so many.
    let (mates, waves) = (most - 1, waves(hosts - 1, fewest));
    // In the charge of the two ranks of a host that have the most.
    let both = waves + waves.min((hosts - 1).saturating_sub(1).div_ceil(fewest));
    let blocks = |blocks: usize| blocks as f64 * count as f64;
    let elements = blocks(mates * (1 + 2 * waves * most) + waves * most * most);
    Formula {
        rounds: 2 * mates + waves,
        elements,
        moved: blocks(3 * size * size + size - 2 * hosts * size - 2 * size * size / hosts),
        load: blocks((most * most * waves.min(1)).max(mates.min(1) * (1 + both * most))),
        scratch: blocks(2 * waves * most * mates),
        hops: waves.min(1) + mates.min(1) * (1 + waves.min(1)),
        path: elements,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Path], most == 1)
    .at_most(&[Figure::Elements, Figure::Moved, Figure::Load, Figure::Scratch, Figure::Hops], most == fewest)
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let hosts = problem.hosts();
    let ranks = |host: usize| problem.places_of(host % hosts);
    // The first host has the most ranks, the last one the fewest.
    let (most, fewest) = (ranks(0).len(), ranks(hosts - 1).len());
    let waves = waves(hosts - 1, fewest);
    route.set_rounds(2 * (most - 1) + waves);
    if node >= problem.call.size {
        return;
    }
    let host = problem.host_at(node);
    let mates = ranks(host);
    let (ahead, behind) = (|k: usize| ranks(host + k), |k: usize| ranks(host + hosts - k));
    // How many places ahead the hosts are that a mate has in charge; from those as far behind it receives.
    let charge = |mate: usize| (1 + mate - mates.start..hosts).step_by(mates.len());
    let gathered = |source: usize, mate: usize| {
        let targets = iter::once(mate).chain(charge(mate).flat_map(ahead));
        targets.map(move |target| problem.block_between(source, target))
    };
    give(&mates, node, 0, route, gathered);
    for k in charge(node) {
        let round = most - 1 + (k - 1) / fewest;
        let across = |sources: Range<usize>, targets: Range<usize>| {
            sources.flat_map(move |source| targets.clone().map(move |target| problem.block_between(source, target)))
        };
        let (to, from) = (ahead(k), behind(k));
        route.send(round, to.start + (k - 1) % to.len(), across(mates.clone(), to));
        route.receive(round, from.start + (k - 1) % from.len(), across(from, mates.clone()));
    }
    let passed_on = |mate: usize, target: usize| {
        charge(mate).flat_map(behind).map(move |source| problem.block_between(source, target))
    };
    give(&mates, node, most - 1 + waves, route, passed_on);
}
