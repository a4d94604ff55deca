//! Scatter by opposite-corner sends to every node at once.
//!
//! Algorithm: the block of every node x is cut into |x| pieces, one for each 1 bit of its relative address. The piece of bit s
//! goes to 2^s first and then sets the other bits of x in cyclic order from s upwards. The farthest blocks leave the root
//! first, and all blocks arrive in the last round.
//!
//! Reference: Stout and Wagar 1990, section 5, DISTRIBUTE 1, with O.C. SEND 2 on the subcube of each node and the root, as
//! printed. (Erratum 26: with O.C. SEND 3 the links beyond C_1 would be evenly loaded as well. The root's links decide the
//! time and the largest load in both, and O.C. SEND 2 needs |x| pieces only.) d there is n here; tau there is t_c here, beta
//! there is tau here; C_j are the nodes at distance j from the root; m elements a block.
//!
//! Requirements: all ports at once.
//!
//! Cost: (2^n - 1)/n m t_c + n tau, exactly if each of 1, ..., n divides m. Each of the root's links carries (2^n - 1)/n m
//! elements, and none more.
//!
//! Memory: a relay holds what passes through it, each piece for one round.
//!
//! Correctness condition: the pieces of bit s go down the tree [`Rotated`] SBT s below node 2^s, which has every node with bit s
//! set. Blocks for C_l leave the root in round n - l, so in every round a link carries those of one distance from each sender.
//!
//! Links are used towards the node opposite to the root only, so that this node can scatter at the same time, by this algorithm or by
//! [`distribute_waves`](super::distribute_waves), and both take the time of one.
//!
//! Which piece is longer where |x| does not divide m: the one of the bit from which x is reached in the SBnT, so that blocks of a
//! single element are spread over the root's links as that tree spreads them.
//!
//! Example, n = 2, root 0, m = 2: round 0: the first half of block 3 to 2, the second half to 1; round 1: block 1 to 1, block 2 to
//! 2, and to 3 its first half from 2 and its second half from 1.

use crate::address::{binomial, mask, rotate_right};
use crate::algorithm::send::spread_unit;
use crate::algorithm::{Algorithm, Figure, Form, Formula, Lengths, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::sbnt::{Sbnt, Variant};
use crate::topology::{rotated::Rotated, sbt::Sbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "distribute",
    summary: "all ports: n start-ups, and every link of the root carries the same",
    source: "SW DISTRIBUTE 1",
    section: "5",
    ports: &[PortModel::AllPorts],
    cost: "(2^n - 1)/n m t_c + n tau",
    formula,
    lengths: Lengths::All,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the scatter; of a block for distance l each link of the root carries a part of at most ceil(m/l).
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let parts = |l: u32| binomial(shape.n - 1, l - 1) * shape.count.div_ceil(l as usize);
    let load = (1..=shape.n).map(parts).sum::<usize>() as f64;
    Formula {
        rounds: n,
        elements: load,
        moved: (n * shape.nodes() / 2 * shape.count) as f64,
        load,
        scratch: load - shape.count as f64,
        hops: n,
        path: load,
        ..Formula::NOTHING
    }
    .at_most(
        &[Figure::Elements, Figure::Load, Figure::Scratch, Figure::Path],
        shape.count.is_multiple_of(spread_unit(shape.n)),
    )
}

/// The cost of the gather, which is the same backwards: the root receives all blocks.
pub fn gathered(shape: &Shape) -> Formula {
    formula(shape).with_path(((shape.nodes() - 1) * shape.count) as f64, true)
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let (n, root) = (problem.n, problem.root);
    route.set_rounds(n as usize);
    let c = node ^ root;
    for s in (0..n).filter(|s| c == 0 || c >> s & 1 == 1) {
        let tree = Rotated::new(Sbt::new(n), s);
        // A piece enters node `top` as many rounds before the last one as it has levels to go.
        let pass = |top: usize| {
            tree.subtree(top).map(move |(x, below)| {
                (n as usize - 1 - below as usize, part(problem.block(x ^ root), turn(n, x, s), x.count_ones() as usize))
            })
        };
        if let Some(parent) = tree.parent(c) {
            for (round, piece) in pass(c) {
                route.receive(round, parent ^ root, [piece]);
            }
        }
        for child in tree.children(c).filter(|child| child >> s & 1 == 1) {
            for (round, piece) in pass(child) {
                route.send(round, child ^ root, [piece]);
            }
        }
    }
}

/// The number of the piece of x's block that goes across bit s first. The last one, the longest of unequal ones, goes across the
/// first of the bits from x's index in the SBnT upwards, cyclically; the one before it across the second, and so on.
fn turn(n: u32, x: usize, s: u32) -> usize {
    let index = Sbnt::new(n, Variant::MinRight).index(x);
    let before = rotate_right(x, index, n) & mask((s + n - index) % n);
    (x.count_ones() - 1 - before.count_ones()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::{schedules, verify};
    use crate::collective::Call;
    use crate::schedule::{Kind, Operation, Schedule};
    use std::collections::HashSet;

    /// A scatter from a node and one from the node opposite to it share no link in the same direction; from any other node they do.
    #[test]
    fn opposite_corners_scatter_at_once() {
        let links = |algorithm: &Algorithm, n: u32, root: usize| -> HashSet<(usize, usize)> {
            let call = Call::new(Collective::Scatter, 1 << n, 60).with_root(root);
            let parameters = Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
            let sends = |schedule: &Schedule| {
                let peer = |operation: &Operation| match operation.kind {
                    Kind::Send { peer } => Some((schedule.rank, peer)),
                    _ => None,
                };
                schedule.operations().iter().filter_map(peer).collect::<Vec<_>>()
            };
            schedules(algorithm, &call, &parameters).iter().flat_map(sends).collect()
        };
        let both = [&ALGORITHM, &super::super::distribute_waves::ALGORITHM];
        for n in 1..=5u32 {
            for (root, algorithm) in (0..1usize << n).flat_map(|root| both.map(|algorithm| (root, algorithm))) {
                let own = links(algorithm, n, root);
                let shared = |other: usize| both.map(|algorithm| !own.is_disjoint(&links(algorithm, n, other)));
                assert_eq!(shared(!root & mask(n)), [false; 2], "n = {n}, roots {root} and {}", !root & mask(n));
                if n > 1 {
                    assert_eq!(shared(root ^ 1), [true; 2], "n = {n}, roots {root} and {}", root ^ 1);
                }
                assert_eq!(own.len(), (n as usize) << (n - 1), "every link of one direction");
            }
        }
    }

    #[test]
    fn pieces_take_turns_from_the_index_on() {
        // R^2(01100) = 00011 is least, so bit 2 comes first; R(10110) = 01011 is, so bit 1.
        assert_eq!([2, 3].map(|s| turn(5, 0b01100, s)), [1, 0]);
        assert_eq!([1, 2, 4].map(|s| turn(5, 0b10110, s)), [2, 1, 0]);
    }

    /// Single elements load the root's links as the subtrees of the SBnT have nodes: Ho and Johnsson 1988, table 1.
    #[test]
    fn single_elements_are_balanced() {
        for (n, largest) in [(2, 2), (3, 3), (4, 5), (5, 7), (6, 13), (7, 19)] {
            let parameters = Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
            let report = verify(&ALGORITHM, &Call::new(Collective::Scatter, 1 << n, 1), &parameters);
            assert!(report.violations.is_empty(), "n = {n}: {:?}", report.violations);
            assert_eq!(report.cost.max_link_load, largest, "n = {n}");
        }
    }
}
