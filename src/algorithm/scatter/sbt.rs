//! Scatter along the spanning binomial tree (SBT).
//!
//! Algorithm: with one port, the root sends all blocks of its largest subtree first, then of the next, and every node does
//! the same with what it gets. With all ports, the blocks of the farthest nodes go first, through all ports at once.
//!
//! Reference: Ho and Johnsson 1986, section 4.2.1 and lemma 4.2 (with erratum 6). M elements a block, packets of B.
//!
//! Requirements: none.
//!
//! Cost: one-way, one-port (N - 1) M t_c + n tau in one packet a subtree; with packets of B <= M, (N - 1) ceil(M/B)
//! rounds. All-ports N/2 M t_c + n tau.
//!
//! Memory: a relay holds the blocks of its subtree, each until it is sent on.
//!
//! Correctness condition (one port): a node with highest bit k has its whole subtree's blocks before dimension k + 1 begins.
//!
//! Example, n = 3, root 0, one port: round 0: blocks 1 3 5 7 to 1; round 1: 2 6 to 2, and 3 7 from 1 to 3; round 2: 4 to 4,
//! 5 from 1 to 5, 6 from 2 to 6, 7 from 3 to 7.

use crate::algorithm::tree_scatter::{all_ports, by_level, by_subtree, level_cost};
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{sbt::Sbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "sbt",
    summary: "fewest start-ups on one port",
    source: "HJ86 SBT",
    section: "4.2.1",
    packets: &PortModel::ALL,
    cost: "one-way, one-port: (N - 1) M t_c + n tau; all-ports: N/2 M t_c + n tau",
    formula,
    exact: |shape| shape.parameters.packet.is_none_or(|b| shape.count % b == 0),
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Rounds and elements of the scatter, and of the gather, which is the same backwards.
pub fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::default();
    }
    let (rounds, elements) = if all_ports(&parameters) {
        // The subtree of port 0 is a binomial tree of n - 1 dimensions.
        level_cost((0..n).map(|i| binomial(n - 1, i)), count, parameters.packet)
    } else {
        let subtrees = (0..n).map(|k| 1usize << (n - 1 - k));
        level_cost(subtrees, count, parameters.packet)
    };
    let nodes = shape.nodes();
    Formula {
        rounds,
        elements,
        moved: (n as usize * nodes / 2 * count) as f64,
        load: (nodes / 2 * count) as f64,
        hops: n as usize,
        path: ((nodes - 1) * count) as f64,
    }
}

fn binomial(n: u32, k: u32) -> usize {
    (0..k as usize).fold(1, |value, i| value * (n as usize - i) / (i + 1))
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    let tree = Sbt::new(n);
    if all_ports(parameters) {
        by_level(problem, parameters, &tree, node, route, |c| c & c.wrapping_neg());
        return;
    }
    // Without a packet size dimension k is round k. With one, it begins when the largest messages of the dimensions before
    // it are through: those of the whole cube's subtrees, blocks of missing ranks included.
    let count = problem.call.count;
    let length = |k: u32| level_cost([1usize << (n - 1 - k)].into_iter(), count, parameters.packet).0;
    let starts: Vec<usize> = (0..=n).map(|k| (0..k).map(length).sum()).collect();
    route.set_rounds(starts[n as usize]);
    let start = |c: usize| tree.parent_port(c).map_or(0, |k| starts[k as usize]);
    by_subtree(problem, parameters, &tree, node, route, start);
}
