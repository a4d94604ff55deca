//! Scatter along multiple spanning binomial trees (MSBT).
//!
//! Algorithm: every block is cut into n parts, and part j goes down tree j of n spanning trees that share no directed edge. So
//! every link of the root carries an n-th of all there is, and every link of a rank an n-th of its block, however unlike blocks are in
//! length. Within a tree the farthest blocks go first, through all trees at once, and a node passes on what it gets in the next round.
//!
//! Reference: Ho and Johnsson 1986, section 3.2 (ERSBT j). The paper sends one vector to all nodes along these trees; for blocks, of
//! equal lengths, it prunes them to the BST ([`super::bst`]), which has one way to each node.
//!
//! Requirements: all ports at once.
//!
//! Cost, n >= 2, parts of m' = ceil(M/n) elements: (2^n - 1) m' t_c + (n + 1) tau; in packets of B <= m': (2^n - 1) ceil(m'/B)
//! rounds of tau + B t_c. The trees are one level higher than the cube.
//!
//! Memory: a relay holds the parts of its subtrees, each until it is sent on.
//!
//! Correctness condition: no directed edge is in two trees, and no node has more nodes below it at any distance than its parent has
//! (so that it is done with a level when the next one arrives).
//!
//! Example, n = 2, root 0, blocks of 2: tree 0 (0-1-3-2) carries first halves, tree 1 (0-2-3-1) second ones. Round 0: the first half of 2
//! to 1, the second of 1 to 2. Round 1: these on to 3; from 0 the first half of 3 to 1, the second to 2. Round 2: the halves of 3 on to 3,
//! those of 1 and 2 from 3 to where they end; from 0 the first half of 1 to 1, the second of 2 to 2.

use crate::address::binomial;
use crate::algorithm::tree_scatter::{by_level_cost, by_level_of_trees};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Lengths, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::msbt::Ersbt;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "msbt",
    summary: "all ports, blocks of unlike lengths: all links of the root, and of every rank, share each block",
    source: "HJ86 MSBT graph",
    section: "3.2",
    differs: "the paper sends one vector along these trees; here each carries a part of every block",
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::AllPorts],
    cost: "(2^n - 1)/n M t_c + (n + 1) tau; packets of B <= M/n: (2^n - 1) ceil(M/(n B)) (tau + B t_c)",
    formula,
    lengths: Lengths::All,
    shares: true,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Levels of a tree.
pub fn height(n: u32) -> u32 {
    if n > 1 {
        n + 1
    } else {
        n
    }
}

/// Nodes of a tree at a level, from 1 on: those with bit j set, and the leaves beyond them.
fn on_level(n: u32, level: u32) -> usize {
    binomial(n - 1, level - 1) + if level > 2 { binomial(n - 1, level - 2) } else { 0 }
}

/// The cost of the scatter: that of the trees that carry the longest parts.
pub fn formula(shape: &Shape) -> Formula {
    let (n, count) = (shape.n, shape.count);
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let (others, part, even) = (shape.nodes() - 1, count.div_ceil(n as usize), count.is_multiple_of(n as usize));
    let levels = 1..=height(n);
    let common = Formula {
        moved: (levels.clone().map(|level| level as usize * on_level(n, level)).sum::<usize>() * count) as f64,
        load: (others * part) as f64,
        scratch: ((others - 1) * part) as f64,
        hops: height(n) as usize,
        ..Formula::NOTHING
    };
    let packet = shape.parameters.packet;
    let by_level = by_level_cost(common, levels.rev().map(|level| on_level(n, level)), part, packet);
    // A root's child has all of a tree passing through and last, over its other links, the parts of other trees. Packets of several trees
    // may come in every round, and those that take their turns are passed on later.
    let (ways, last) = match (n, packet) {
        (1, _) => (1, 0),
        (_, None) => (1, count),
        (_, Some(_)) => (2, count),
    };
    let by_level = by_level.with_path((ways * others * part + last) as f64, n == 1 || even && packet.is_none());
    match packet {
        // In the last round some trees may end with a whole packet.
        Some(packet) if packet < part && !even => Formula { elements: (by_level.rounds * packet) as f64, ..by_level },
        _ => by_level,
    }
    .at_most(&[Figure::Elements], even || packet.is_none_or(|packet| packet >= part))
}

/// The cost of the gather, which is the same backwards: the root receives all blocks. Where there are fewer parts than trees, and at most
/// n - 2, it waits for some: at most half as long.
pub fn gathered(shape: &Shape) -> Formula {
    let all = ((shape.nodes() - 1) * shape.count) as f64;
    let few = shape.count + 1 < shape.n as usize;
    formula(shape).with_path(if few { 1.5 * all } else { all }, !few && shape.parameters.packet.is_none())
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    let trees: Vec<Ersbt> = (0..n).map(|j| Ersbt::new(n, j)).collect();
    by_level_of_trees(problem, parameters, &trees, height(n) as usize, node, route, |j, _| 1 << j);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::Call;

    /// The example of the header, as (round, from, to, halves); half h of block b is position 2b + h.
    #[test]
    fn the_2_cube() {
        let call = Call::new(Collective::Scatter, 4, 2);
        let mut sent = Vec::new();
        for node in 0..4 {
            let mut route = Route::new();
            write(&Problem::new(&call), &Parameters::new(PortModel::AllPorts), node, &mut route);
            for transfer in route.transfers().iter().filter(|transfer| transfer.sends) {
                let mut halves: Vec<usize> = route.pieces(transfer).iter().cloned().flatten().collect();
                halves.sort_unstable();
                sent.push((transfer.round, node, transfer.peer, halves));
            }
        }
        sent.sort_unstable();
        let expected = [
            (0, 0, 1, vec![4]),
            (0, 0, 2, vec![3]),
            (1, 0, 1, vec![6]),
            (1, 0, 2, vec![7]),
            (1, 1, 3, vec![4]),
            (1, 2, 3, vec![3]),
            (2, 0, 1, vec![2]),
            (2, 0, 2, vec![5]),
            (2, 1, 3, vec![6]),
            (2, 2, 3, vec![7]),
            (2, 3, 1, vec![3]),
            (2, 3, 2, vec![4]),
        ];
        assert_eq!(sent, expected);
    }
}
