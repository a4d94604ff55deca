//! Matrix multiplication by the algorithm of Dekel, Nassimi and Sahni, extended to blocks: one dimension of A and one of B at
//! a time.
//!
//! Algorithm: alignment, bit by bit of the key: row k moves its blocks of A along the dimensions in which k has a one, column
//! l its blocks of B likewise. Then the keys are visited in the order of the binary-reflected Gray code: in step t A and B
//! cross the dimension of the lowest one of t, all of a block at once, and what meets is multiplied.
//!
//! Reference: Ho, Johnsson and Edelman 1991, sections 3.1 and 3.2. P is the side of the matrices, N = 2^n, n' = n/2; our key is
//! the paper's processor part of the column index of A and the row index of B. Erratum 35 of the alignment.
//!
//! Requirements: 2^n ranks. (The paper's grid is a square, n even; on N1 x N2 ranks the operand with the longer side moves in
//! every step, the other one only when a high-order bit changes: not the paper's, and not always the best.)
//!
//! Cost: all-ports, n even: n' P^2/N t_c + n' tau for the alignment, (sqrt(N) - 1) (P^2/N t_c + tau) for the multiplication.
//! With one port A and B take turns: twice as much; one-way twice that. N1 x N2, with a elements a node of the operand on the
//! longer side, of n_l dimensions, and b of the other, of n_s: all-ports n_s max(a, b) + (2^n_l - 2^n_s) a + (2^n_s - 1) max(a, b).
//! Exact where N1, N2 and max(N1, N2) divide the rows, columns and the inner side.
//!
//! Memory: two copies of a block of A and of B in scratch memory (the one here, the one that comes), whatever n is.
//!
//! Correctness condition: after every step the keys of A and B in a node are alike, k XOR l XOR what has been visited; the walk
//! visits every key once.
//!
//! Example, n = 2, node 3 = (1, 1), blocks A(k, l) and B(k, l): alignment: A(1,1) for A(1,0), B(1,1) for B(0,1); multiplies
//! A(1,0) B(0,1); step 1: sends these on, gets A(1,1) and B(1,1) back and multiplies them.

use super::alignment::moved;
use super::{multiply, suits, Operand, Sides};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::MatrixMultiply,
    name: "dns",
    summary: "few messages, on two ports at a time; constant storage",
    source: "HJE DNS",
    section: "3.2",
    differs: "grids that are not square are ours",
    suits: |call, _| suits(call),
    cost: "n even, all-ports: (n/2 + sqrt(N) - 1) (P^2/N t_c + tau); one-port: twice; one-way: four times",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    let product = shape.product;
    let sides = Sides::new(&product);
    let Sides { long, short, longer, shorter, .. } = sides;
    if long == 0 || product.inputs() == 0 {
        return Formula::NOTHING;
    }
    let (all, common) = (sides.steps() as f64, ((1usize << short) - 1) as f64);
    let hops = short as usize + sides.steps();
    let in_turn = (2 * short as usize + sides.steps() + (1 << short) - 1, shorter * (f64::from(short) + common));
    let (rounds, elements) = match shape.parameters.ports {
        PortModel::AllPorts => (hops, (all - common) * longer + (f64::from(short) + common) * sides.both()),
        PortModel::OnePort => (in_turn.0, in_turn.1 + (f64::from(short) + all) * longer),
        PortModel::OneWay => (2 * in_turn.0, 2.0 * (in_turn.1 + (f64::from(short) + all) * longer)),
    };
    let moved = moved(&product) + all * sides.all_of_longer + common * sides.all_of_shorter;
    // The lowest bit of a key changes in every other step; on the shorter side it is also one of the alignment.
    let busiest = |bits: u32, elements: f64| if bits == 0 { 0.0 } else { (1u64 << bits >> 1) as f64 * elements };
    let aligned = |elements: f64| if short > 0 { elements } else { 0.0 };
    let first = if sides.inner() == 0 { aligned(longer) } else { 0.0 };
    let load = (busiest(long, longer) + first).max(busiest(short, shorter) + aligned(shorter));
    // A node with ones in all bits of its row and column moves its blocks in every step.
    let received = (f64::from(short) + all) * longer + (f64::from(short) + common) * shorter;
    let even = product.rows.is_multiple_of(product.grid_rows)
        && product.columns.is_multiple_of(product.grid_columns)
        && product.inner.is_multiple_of(product.keys());
    let none_empty =
        product.rows >= product.grid_rows && product.columns >= product.grid_columns && product.inner >= product.keys();
    Formula { rounds, elements, moved, load, scratch: received, hops, path: received, ..Formula::NOTHING }
        .at_most(&[Figure::Load, Figure::Scratch, Figure::Path], even && none_empty)
        .at_most(&[Figure::Rounds, Figure::Hops], none_empty)
        // One way at a time the shorter of two blocks has its own round.
        .at_most(&[Figure::Elements], even || shape.parameters.ports != PortModel::OneWay)
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let product = problem.call.product();
    let mut operands = Operand::both(product, node);
    let Sides { long, short, .. } = Sides::new(&product);
    let mut round = 0;
    for bit in long - short..long {
        round = exchange(parameters.ports, route, round, node, &mut operands, bit, |a| a.misaligned >> bit & 1 == 1);
    }
    for step in 1..1usize << long {
        multiply(problem, route, round, node, &operands);
        round = exchange(parameters.ports, route, round, node, &mut operands, step.trailing_zeros(), |_| true);
    }
    route.set_rounds(round);
    multiply(problem, route, round, node, &operands);
}

/// Exchanges the blocks of those `wanted` among the operands that move along a bit, from a round on, and returns the round
/// after it, which is the same on all nodes.
fn exchange(
    ports: PortModel,
    route: &mut Route,
    start: usize,
    node: usize,
    operands: &mut [Operand; 2],
    bit: u32,
    wanted: impl Fn(&Operand) -> bool,
) -> usize {
    let mut end = start;
    for operand in operands.iter_mut().filter(|operand| operand.moves(bit)) {
        let round = if ports == PortModel::AllPorts { start } else { end };
        // One way at a time, the node whose bit is 0 sends first.
        let way = node >> operand.port(bit) & 1;
        let (rounds, taken) = match ports {
            PortModel::OneWay => ((round + way, round + 1 - way), 2),
            PortModel::OnePort | PortModel::AllPorts => ((round, round), 1),
        };
        end = round + taken;
        if wanted(operand) {
            let panels = 0..operand.keys.len();
            operand.exchange(route, rounds, node, bit, panels);
        }
    }
    end
}
