//! Broadcast along multiple spanning binomial trees (MSBT).
//!
//! Algorithm: the vector is cut into packets, and packet q goes down tree q mod n of n spanning trees that share no directed
//! edge, so every link of the cube carries data. With all ports each tree is a pipeline of its own. With one port, packet q
//! enters node i in cycle (q div n) n + f(i, j), j = q mod n, where the labels f make a node send and receive at most once a
//! cycle. With one way, a cycle is two steps: first those who send from a 0 bit to a 1 bit of the relative address.
//!
//! Reference: Ho and Johnsson 1986, sections 3.2 and 3.3.2 (ERSBT j, f(i, j)); the one-way step count is theirs, the split by
//! direction the errata's.
//!
//! Requirements: none; with n < 2 it is the SBT. The (at most two) trees that use a link to be avoided get no packets, as long
//! as a tree is left.
//!
//! Cost, n >= 2, P = ceil(M/B): one-way 2 P + n - 1, one-port P + n, all-ports ceil(P/n) + n rounds of tau + B t_c.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: along every tree the labels grow; at every node the labels of the incoming edges, and of the
//! outgoing edges, differ modulo n. Cycle t uses dimension t mod n only.
//!
//! Example, n = 3, root 0, labels of tree 0: into 1: 0; into 3: 1; into 5 and 7: 2; into 2, 4 and 6: 3.

use super::{packets, pipeline::down, ALL_PACKETS};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{msbt::Ersbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "msbt",
    summary: "long messages: n times the rate of the SBT, on one port as well as on all",
    source: "HJ86 MSBT",
    section: "3.3.2",
    packets: ALL_PACKETS,
    cost: "one-way: (2 ceil(M/B) + n - 1) (tau + B t_c); one-port: (ceil(M/B) + n) (tau + B t_c); \
           all-ports: (ceil(M/(B n)) + n) (tau + B t_c)",
    formula,
    best_packet,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the broadcast.
pub fn formula(shape: &Shape) -> Formula {
    let (n, p) = (shape.n as usize, shape.packets());
    if n == 0 || p == 0 {
        return Formula::NOTHING;
    }
    // The packets of a tree follow one another; the last packet of all may be one that no other tree has any more.
    let (a_tree, last_is_extra) = (p.div_ceil(n), (p - 1) % n == 0);
    let (rounds, alone) = match shape.parameters.ports {
        _ if n == 1 => (p, 1),
        PortModel::AllPorts => (a_tree + n, usize::from(last_is_extra)),
        PortModel::OnePort => (p + n, 1),
        PortModel::OneWay => (2 * p + n - 1, 2),
    };
    let alone = if p == 1 { rounds } else { alone };
    let (m, b) = (shape.count as f64, shape.packet() as f64);
    // One packet uses tree 0 only, which is one level higher than the cube for n > 1.
    let height = if n > 1 { n + 1 } else { n };
    Formula {
        rounds,
        elements: shape.in_packets(rounds, alone),
        moved: (shape.size - 1) as f64 * m,
        load: shape.in_packets(a_tree, usize::from(last_is_extra)),
        hops: height,
        path: m + (height - 1) as f64 * b,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Path], shape.full_packets())
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if shape.n < 2 || forward == Formula::NOTHING {
        return super::sbt::reduced(shape);
    }
    let (n, m, b) = (f64::from(shape.n), shape.count as f64, shape.packet() as f64);
    // Every port of a node belongs to one tree at most, so it receives n times what a tree carries at most; the root, all of the
    // trees once, of which the first arrival is combined with its own vector, or, if that is elsewhere, is the result so far.
    let tree = shape.packets().div_ceil(shape.n as usize) as f64 * b;
    let even = shape.packets().is_multiple_of(shape.n as usize) && shape.full_packets();
    // The first packet comes up n levels behind others. On all ports a node on the way receives those of other trees meanwhile; the
    // trees that have a packet more end later, and from n = 8 on a node may have to take one more before.
    let counted = shape.n < 8 || shape.parameters.ports != PortModel::AllPorts;
    let more = [!even && shape.n > 2, !counted].map(|late| f64::from(u8::from(late)));
    let first = match shape.parameters.ports {
        PortModel::AllPorts => 2.0 * (n - 1.0) + more[0] + more[1],
        PortModel::OneWay | PortModel::OnePort => n,
    };
    Formula { scratch: n * tree.min(m), path: m + first * b, ..forward }
        .at_most(&[Figure::Path], even && counted)
        .at_most(&[Figure::Scratch], even)
}

/// All ports: sqrt(M tau / t_c) / n; one-port: sqrt(M tau / (t_c n)); one-way: sqrt(2 M tau / (t_c (n - 1))).
pub fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    let (n, mt) = (shape.n as f64, shape.count as f64 * tau / t_c);
    match shape.parameters.ports {
        _ if shape.n < 2 => shape.count as f64,
        PortModel::AllPorts => mt.sqrt() / n,
        PortModel::OnePort => (mt / n).sqrt(),
        PortModel::OneWay => (2.0 * mt / (n - 1.0)).sqrt(),
    }
}

/// The trees that use no link that must carry nothing; all of them if each does.
fn usable(problem: &Problem) -> Vec<Ersbt> {
    let trees = || (0..problem.n).map(|j| Ersbt::new(problem.n, j));
    let avoided = problem.avoided_edges();
    let uses =
        |tree: &Ersbt| avoided.iter().any(|&(from, to)| tree.parent(to ^ problem.root) == Some(from ^ problem.root));
    let free: Vec<Ersbt> = trees().filter(|tree| !uses(tree)).collect();
    if free.is_empty() {
        trees().collect()
    } else {
        free
    }
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n as usize;
    if n == 0 {
        return;
    }
    let trees = usable(problem);
    let packets_a_tree = packets(problem, parameters).count().div_ceil(trees.len());
    route.set_rounds(match parameters.ports {
        PortModel::AllPorts => packets_a_tree + n + 1,
        PortModel::OnePort => (packets_a_tree + 2) * n,
        PortModel::OneWay => 2 * (packets_a_tree + 2) * n,
    });
    for (index, tree) in trees.iter().enumerate() {
        let mine = || packets(problem, parameters).skip(index).step_by(trees.len());
        // The round in which packet q of this tree enters node c from its parent.
        let round = |c: usize, q: usize| {
            let cycle = q / trees.len() * n + tree.label(c).map_or(0, |label| label as usize);
            match parameters.ports {
                PortModel::AllPorts => q / trees.len() + tree.level(c) as usize - 1,
                PortModel::OnePort => cycle,
                PortModel::OneWay => 2 * cycle + (tree.parent(c).unwrap_or(0) >> (cycle % n) & 1),
            }
        };
        down(problem, tree, node, route, mine, round);
    }
}
