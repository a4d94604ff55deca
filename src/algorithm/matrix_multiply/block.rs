//! Matrix multiplication in blocks of rank P/n', on all ports at once.
//!
//! Algorithm: the inner side is cut into n' slabs, so that the blocks of A and B become n' panels each, and every panel goes a
//! way of its own, shifted by one dimension against the last one's. Alignment: in round r panel m crosses the dimension
//! r - m (mod n'), if the key of its row or column has a one there. Multiplication: panel m follows the exchange sequence
//! S(n', m) of the Gray code, which begins S(3, 0) = 0 1 0 2 0 1 0, S(3, 1) = 1 2 1 0 1 2 1; the panels of A and B that meet are
//! multiplied. In every round every dimension carries one panel of A or one of B.
//!
//! Reference: Ho, Johnsson and Edelman 1991, section 3.3 and theorem 2. P is the side of the matrices, N = 2^n, n' = n/2; our
//! panels are the paper's small blocks of a big block m, our key the processor part of an inner index. Erratum 35 of the
//! alignment; which the paper cuts by the ones of each row's key, so that it needs lcm(1..n') | P^2/N (erratum 36). Cut into the
//! panels it takes the same time, round by round, and n' sqrt(N) | P suffices, as in the multiplication.
//!
//! Requirements: 2^n ranks; all ports.
//!
//! Cost: n even, P^2/N t_c + n' tau for the alignment, (sqrt(N) - 1) (P^2/(n' N) t_c + tau) for the multiplication. Exact where
//! N1 | rows, N2 | columns, and the inner side is a multiple of n' max(N1, N2).
//! N1 x N2 ranks (not in the paper, and not always the best): n_l and n_s are the dimensions of the longer and the shorter side,
//! n' = n_l, a and b the elements a node of the operands on them. The operand on the longer side moves in every step, the other
//! one where a high-order bit of the key changes. Shifted over all n_l bits, the alignment takes max(a, b), the
//! multiplication (2^n_l - 1) max(a, b) / n_l, for n_s = 0 with b = 0. Shifted among the low-order bits and among the high-order
//! bits, so that the high-order ones change least, 2^n_s (2^(n_l - n_s) - 1) ceil(n_l / (n_l - n_s)) a / n_l
//! + (2^n_s - 1) ceil(n_l / n_s) max(a, b) / n_l. The better one is taken.
//!
//! Memory: two copies of a block of A and of B in scratch memory (the one here, the one that comes), whatever n is.
//!
//! Correctness condition: panel m of A and of B change the same bit of their keys in every step, so their keys stay alike;
//! S(n', m) visits all keys, as S(n', 0) does.
//!
//! Example, n = 4, node 0, panels m = 0, 1: keys are aligned. Step 1: panel 0 crosses bit 0 (A to node 1, B to node 4), panel 1 bit
//! 1 (A to node 2, B to node 8); step 2: panel 0 bit 1, panel 1 bit 0; step 3 as step 1.

use super::alignment::{self, moved, Crossings};
use super::{multiply, suits, Operand, Sides};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{Collective, MatrixProduct};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::MatrixMultiply,
    name: "block",
    summary: "every link is busy in every round; constant storage",
    source: "HJE block matrix multiplication",
    section: "3.3",
    differs:
        "alignment in equal panels, where the paper cuts by the ones of each key; grids that are not square are ours",
    ports: &[PortModel::AllPorts],
    suits: |call, _| suits(call),
    cost: "n even: P^2/N (1 + (sqrt(N) - 1) / (n/2)) t_c + (n/2 + sqrt(N) - 1) tau",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The order in which the panels visit the keys.
struct Walk {
    sides: Sides,
    /// Low-order bits change more often than high-order ones, which both operands move along.
    nested: bool,
}

impl Walk {
    fn new(product: &MatrixProduct) -> Walk {
        let sides = Sides::new(product);
        let nested = Walk { sides, nested: true };
        let plain = Walk { sides, nested: false };
        if sides.short > 0 && sides.inner() > 0 && nested.elements() < plain.elements() {
            nested
        } else {
            plain
        }
    }

    /// The bit of the key that changes for a panel in a step, from 1 on.
    fn bit(&self, step: usize, panel: usize) -> u32 {
        let Sides { long, short, .. } = self.sides;
        let inner = self.sides.inner();
        let shifted = |step: usize, bits: u32| (step.trailing_zeros() + panel as u32) % bits;
        if !self.nested {
            shifted(step, long)
        } else if step.trailing_zeros() < inner {
            shifted(step, inner)
        } else {
            inner + shifted(step >> inner, short)
        }
    }

    /// Elements that follow one another in the multiplication.
    fn elements(&self) -> f64 {
        let Sides { long, short, longer, .. } = self.sides;
        let all = self.sides.steps();
        let outer = (1usize << short) - 1;
        let both = if short == 0 { longer } else { self.sides.both() };
        let panels = if self.nested {
            let (inner_panels, outer_panels) = (long.div_ceil(self.sides.inner()), long.div_ceil(short));
            (all - outer) as f64 * f64::from(inner_panels) * longer + outer as f64 * f64::from(outer_panels) * both
        } else {
            all as f64 * both
        };
        panels / f64::from(long)
    }
}

fn formula(shape: &Shape) -> Formula {
    let product = shape.product;
    let walk = Walk::new(&product);
    let Sides { long, short, all_of_longer, all_of_shorter, .. } = walk.sides;
    if long == 0 || product.inputs() == 0 {
        return Formula::NOTHING;
    }
    let [mut a, mut b] = Crossings::both(&product);
    let (alignment, steps) = (alignment::rounds(&walk.sides), walk.sides.steps());
    let mut elements = alignment::elements(&walk.sides, &mut a, &mut b);
    for step in 1..=steps {
        let bit = |panel: usize| Some(walk.bit(step, panel));
        elements += a.cross(bit).max(b.cross(bit));
    }
    let shorter_moved =
        if walk.nested { ((1u64 << short) - 1) as f64 * all_of_shorter } else { shared_moves(&product) };
    // A node that is misaligned in every bit receives panels over all its ports whenever any are sent.
    let loads = || a.load.iter().chain(&b.load);
    let (load, received) = (loads().max().copied().unwrap_or(0), loads().sum::<usize>());
    let even = alignment::panels_are_equal(&product);
    let none_empty = product.rows.min(product.columns) > 0 && product.inner >= product.keys() * product.panels();
    let rounds = alignment + steps;
    Formula {
        rounds,
        elements: elements as f64,
        moved: moved(&product) + steps as f64 * all_of_longer + shorter_moved,
        load: load as f64,
        scratch: received as f64,
        hops: rounds,
        path: received as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Load, Figure::Scratch, Figure::Path], even)
    // Several panels that cross one dimension need not be the longest ones of their numbers at one node.
    .at_most(&[Figure::Elements], even || !walk.nested)
    .at_most(&[Figure::Rounds, Figure::Hops], none_empty)
}

/// Elements moved of the operand on the shorter side, where the panels are shifted over all bits: each panel has its own number
/// of steps in which a high-order bit changes.
fn shared_moves(product: &MatrixProduct) -> f64 {
    let sides = Sides::new(product);
    let Sides { long, .. } = sides;
    let side = if product.grid_columns >= product.grid_rows { product.columns } else { product.rows };
    let of_panel = |panel: usize| {
        let high = |lowest: &u32| (lowest + panel as u32) % long >= sides.inner();
        let moves: usize = (0..long).filter(high).map(|lowest| 1usize << (long - 1 - lowest)).sum();
        moves * (0..product.keys()).map(|key| product.slab(key, panel).len()).sum::<usize>()
    };
    ((0..product.panels()).map(of_panel).sum::<usize>() * side) as f64
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let product = problem.call.product();
    let mut operands = Operand::both(product, node);
    let walk = Walk::new(&product);
    let Sides { long, .. } = walk.sides;
    alignment::write(&walk.sides, &mut operands, node, route);
    let (alignment, steps) = (alignment::rounds(&walk.sides), walk.sides.steps());
    for step in 1..=steps {
        let round = alignment + step - 1;
        multiply(problem, route, round, node, &operands);
        for panel in 0..long as usize {
            let bit = walk.bit(step, panel);
            for operand in operands.iter_mut().filter(|operand| operand.moves(bit)) {
                operand.exchange(route, (round, round), node, bit, panel..panel + 1);
            }
        }
    }
    route.set_rounds(alignment + steps);
    multiply(problem, route, alignment + steps, node, &operands);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::schedules;
    use crate::algorithm::{registry, Algorithm};
    use crate::collective::Call;
    use crate::schedule::Cost;

    /// S(3, 0) and S(3, 1) as the paper writes them out.
    #[test]
    fn panels_follow_the_exchange_sequences() {
        let walk = Walk::new(&MatrixProduct::square(64, 24));
        let sequence = |panel| (1..8).map(|step| walk.bit(step, panel)).collect::<Vec<_>>();
        assert_eq!(sequence(0), [0, 1, 0, 2, 0, 1, 0]);
        assert_eq!(sequence(1), [1, 2, 1, 0, 1, 2, 1]);
        assert_eq!(sequence(2), [2, 0, 2, 1, 2, 0, 2]);
    }

    /// Whatever the grid, a panel meets every key once, and where high-order bits are to change least, they do.
    #[test]
    fn walks_visit_every_key_once() {
        for (grid_rows, grid_columns) in [(2, 8), (16, 2), (4, 16), (1, 8), (8, 1), (8, 8)] {
            for (rows, columns) in [(64, 64), (2048, 64), (64, 2048)] {
                let product = MatrixProduct { rows, inner: 64, columns, grid_rows, grid_columns };
                let walk = Walk::new(&product);
                for panel in 0..product.panels() {
                    let mut visited = vec![0usize];
                    for step in 1..product.keys() {
                        visited.push(visited[step - 1] ^ 1 << walk.bit(step, panel));
                    }
                    visited.sort_unstable();
                    assert!(visited.into_iter().eq(0..product.keys()), "{product:?} panel {panel}");
                }
            }
        }
        let tall = MatrixProduct { rows: 2048, inner: 64, columns: 64, grid_rows: 16, grid_columns: 2 };
        let walk = Walk::new(&tall);
        assert!(walk.nested);
        assert_eq!((1..16).filter(|&step| walk.bit(step, 0) == 3).count(), 1, "A moves once");
    }

    fn cost(algorithm: &Algorithm, n: u32, side: usize) -> Cost {
        let call = Call::new(Collective::MatrixMultiply, 1 << n, side);
        Cost::of(&schedules(algorithm, &call, &Parameters::new(PortModel::AllPorts)))
    }

    /// Theorem 2 and section 3.2 by hand: P^2/N = 36, 36, 36, 16.
    #[test]
    fn times_are_the_paper_s() {
        let dns = registry::find(Collective::MatrixMultiply, "dns").unwrap();
        let table = [
            (2, 12, 2, 36 + 36, 36 + 36),
            (4, 24, 5, 36 + 3 * 18, 2 * 36 + 3 * 36),
            (6, 48, 10, 36 + 7 * 12, 3 * 36 + 7 * 36),
            (8, 64, 19, 16 + 15 * 4, 4 * 16 + 15 * 16),
        ];
        for (n, side, rounds, elements, naive) in table {
            let (block, plain) = (cost(&ALGORITHM, n, side), cost(dns, n, side));
            assert_eq!(
                (block.rounds, block.longest_sum(), block.max_link_load),
                (rounds, elements, elements),
                "n = {n}"
            );
            assert_eq!((plain.rounds, plain.longest_sum()), (rounds, naive), "n = {n}");
            assert_eq!(naive, n as usize / 2 * elements, "the full bandwidth is n' times that of two ports");
        }
    }

    /// In the multiplication every link carries a panel in every round.
    #[test]
    fn every_link_is_busy() {
        let call = Call::new(Collective::MatrixMultiply, 64, 48);
        for schedule in schedules(&ALGORITHM, &call, &Parameters::new(PortModel::AllPorts)) {
            for round in 3..10 {
                let of_round = schedule.operations().iter().filter(|op| op.round == round);
                let sends = of_round.filter(|op| matches!(op.kind, crate::schedule::Kind::Send { .. }));
                let lens: Vec<usize> = sends.map(|op| schedule.len(op)).collect();
                assert_eq!(lens, [12; 6]);
            }
        }
    }

    /// Two copies of the blocks of A and B in scratch memory, on however many ranks, of all that is chosen without being named.
    #[test]
    fn storage_is_constant() {
        for algorithm in registry::of(Collective::MatrixMultiply).filter(|row| row.on_request.is_none()) {
            for n in 1..=8u32 {
                let call = Call::new(Collective::MatrixMultiply, 1 << n, 1536 << (n / 2));
                if (algorithm.suits)(&call, &Parameters::new(algorithm.ports[0])).is_err() {
                    continue;
                }
                for &ports in algorithm.ports {
                    let schedule = algorithm.schedule(&call, &Parameters::new(ports), (1 << n) - 1);
                    let blocks = call.send_len((1 << n) - 1);
                    assert!(schedule.scratch <= 2 * blocks, "{algorithm:?} n = {n}: {} of {blocks}", schedule.scratch);
                }
            }
        }
    }
}
