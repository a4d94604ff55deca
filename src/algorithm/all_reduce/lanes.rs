//! All-reduce in lanes, among hosts by halving and doubling.
//!
//! Algorithm: the vector is cut into a part for each lane, the l-th ranks of all hosts, and that into one for each host. A reduce-scatter in
//! lanes leaves each part's result on its rank, and an all-gather in lanes brings it to all. Where hosts have fewer ranks than others, those have
//! several lanes.
//!
//! Reference: that of [`all_gather::lanes`]; Stout and Wagar 1990, section 8, for the composition. M elements, H hosts of R ranks.
//!
//! Requirements: a network where every two ranks are linked; the operation must commute.
//!
//! Cost: 2 (P - 1) M/P t_c + 2 (ceil(log2 H) + R - 1) tau, M/P rounded up; of which 2 (H - 1)/H M go into and out of each host.
//!
//! Memory: the partial results that a rank combines for others.
//!
//! Correctness condition: those of its halves.
//!
//! Example, 4 ranks, 2 on each of 2 hosts, rank 0: half 1 to 1, half 0 from 1; quarter 1 to 2, quarter 0 from 2; then quarter 0 to 2, quarter 1
//! from 2; half 0 to 1, half 1 from 1.

use crate::algorithm::all_gather::lanes::{self, between, write_lanes};
use crate::algorithm::{all_gather, Algorithm, Figure, Form, Formula, Parameters, Route, Shape, BELOW_ONE_SWITCH};
use crate::collective::{part, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    summary: "rather long vectors, any number of hosts: few start-ups, each element enters and leaves every host twice",
    differs: "among hosts by halving and doubling",
    cost: "2 (P - 1) M/P t_c + 2 (ceil(log2 H) + R - 1) tau, 2 (H - 1)/H M of it between hosts",
    formula,
    crossing: Some(|shape| (2 * (shape.hosts - 1) * shape.on_host.0 * longest(shape)) as f64),
    far: Some(|shape| (2 * between(shape), 2 * all_gather::bruck::hops(shape.hosts))),
    // What skips far shares links beyond one switch: of 256 KiB on 1000 hosts of a dragonfly it would take 7 times as long as another selector's,
    // of a torus and of a fat tree that halves 1.5 times (SimGrid).
    among_hosts: |hosts, ranks| lanes::are_a_cube(hosts, ranks) || ranks.0 == 1 && hosts > BELOW_ONE_SWITCH,
    form: Form::BackwardForward(write, write),
    ..all_gather::lanes::ALGORITHM
};

/// Of the parts of a lane.
fn longest(shape: &Shape) -> usize {
    shape.count.div_ceil(shape.on_host.0 * shape.hosts)
}

/// Parts over the busiest link between hosts: the reduction goes the other way, over the same links where two steps go round all hosts.
fn busiest(hosts: usize) -> usize {
    let steps = || all_gather::bruck::steps(hosts);
    let opposite = |held| steps().find(|&(other, _)| held + other == hosts).map_or(0, |(_, sent)| sent);
    steps().map(|(held, sent)| sent + opposite(held)).max().unwrap_or(0)
}

fn formula(shape: &Shape) -> Formula {
    let Shape { size, count, hosts, on_host: (most, fewest), .. } = *shape;
    let part = longest(shape);
    let back = lanes::formula(&Shape { count: part, ..*shape });
    let both = back.then(back);
    let load = if most == 1 { (busiest(hosts) * part) as f64 } else { both.load };
    // What comes first of a part lies where its result will be.
    let first = if most == 1 { all_gather::bruck::most_sent(hosts) } else { hosts };
    let kept = lanes::received(shape) - if shape.in_place { 0 } else { first };
    let even = most == fewest && count.is_multiple_of(most * hosts);
    Formula { moved: (2 * (size - 1) * count) as f64, load, scratch: (kept * part) as f64, ..both }
        .at_most(&[Figure::Elements, Figure::Load, Figure::Scratch, Figure::Hops, Figure::Path], even)
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let (hosts, (lanes, _)) = (problem.hosts(), problem.most_and_fewest());
    write_lanes(problem, node, route, |range, lane| {
        let whole = part(problem.vector(), lane, lanes);
        let of = |host: usize| part(whole.clone(), host, hosts);
        (!range.is_empty()).then(|| of(range.start).start..of(range.end - 1).end)
    });
}
