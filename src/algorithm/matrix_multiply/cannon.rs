//! Matrix multiplication by Cannon's shifts along rings that share no link, on all ports at once: each rank has the same partners in all
//! steps.
//!
//! Algorithm: the blocks of A and B are cut into n' panels each, and aligned as in [`block`](super::block). Then panel m goes round ring
//! m of the n'-cube, one node a step, in every row of A and every column of B; what meets is multiplied. The rings of row k are those of
//! the cube with all addresses XOR k, those of column l likewise: the key of what node (k, l) holds is then always a function of k XOR l,
//! whether it came along the row or along the column.
//!
//! Reference: Ho, Johnsson and Edelman 1991, section 4, which names it as what edge-disjoint Hamiltonian cycles make of Cannon's algorithm
//! (1969), and gives no steps. P is the side of the matrices, N = 2^n, n' = n/2. Cannon shifts row k by k places and column l by l; along n'
//! rings at once that would be n' permutations, each with conflicts of its own. The alignment by XOR and rings that are translated by it
//! are this library's; so are the [cycles](crate::topology::hamiltonian_cycles).
//!
//! Requirements: a square grid of 2^n ranks, n/2 a power of two: 4, 16, 256, 65536 ranks; all ports.
//!
//! Cost: that of `block`: P^2/N t_c + n' tau for the alignment, (sqrt(N) - 1) (P^2/(n' N) t_c + tau) for the multiplication. Exact where
//! sqrt(N) divides the rows and the columns, and n' sqrt(N) the inner side.
//!
//! Memory: two copies of a block of A and of B in scratch memory (the one here, the one that comes), whatever n is.
//!
//! Correctness condition: with f(x) the node after x on ring m, node (k, l) holds in step t the panels m with the key f^t(k XOR l): its
//! successor has the next one, and is node (k, l') for A, (k', l) for B, with k XOR l' = k' XOR l = f(k XOR l).
//!
//! Example, n = 4, node 0 = (0, 0), rings 0-1-3-2 and 0-2-3-1: keys are aligned. In each step panel 0 of A goes to node 2, which is before
//! it, and comes from node 1; panel 1 goes to node 1 and comes from node 2. B: panel 0 goes to node 8 and comes from node 4.

use super::alignment::{self, moved, panels_are_equal, Crossings};
use super::{multiply, suits, Operand, Sides};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS};
use crate::collective::{Call, Collective, MatrixProduct};
use crate::schedule::Problem;
use crate::topology::hamiltonian_cycles::HamiltonianCycles;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::MatrixMultiply,
    name: "cannon",
    summary: "as block, and each rank sends to the same ranks in all steps; square grids of 4, 16, 256 ranks",
    source: "HJE generalized Cannon",
    section: "4",
    differs: "the paper names it and gives no steps; aligned as block is, along rings that are this library's",
    ports: &[PortModel::AllPorts],
    suits: |call, _| on_rings(call),
    cost: "P^2/N (1 + (sqrt(N) - 1) / (n/2)) t_c + (n/2 + sqrt(N) - 1) tau",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// A square grid whose rows have as many rings as dimensions.
fn on_rings(call: &Call) -> Result<(), Unsuited> {
    suits(call)?;
    let MatrixProduct { grid_rows, grid_columns, .. } = call.product();
    let dimensions = call.size.ilog2();
    if call.size > 1 && !(dimensions.is_multiple_of(2) && (dimensions / 2).is_power_of_two()) {
        return Err(("size", format!("goes round rings on 4, 16, 256 ranks, not on {}", call.size)));
    }
    if grid_rows != grid_columns {
        return Err(("grid", format!("goes round rings on square grids, not on {grid_rows} x {grid_columns}")));
    }
    Ok(())
}

fn formula(shape: &Shape) -> Formula {
    let product = shape.product;
    let sides = Sides::new(&product);
    if sides.long == 0 || product.inputs() == 0 {
        return Formula::NOTHING;
    }
    let (alignment, steps) = (alignment::rounds(&sides), sides.steps());
    let [mut a, mut b] = Crossings::both(&product);
    let aligned = alignment::elements(&sides, &mut a, &mut b);
    let longest = a.panels.iter().chain(&b.panels).max().copied().unwrap_or(0);
    let elements = aligned + steps * longest;
    // A link carries every panel once in the alignment, and the panel of its ring in every step.
    let load = |side: &Crossings| side.load.iter().max().unwrap_or(&0) + steps * side.panels.iter().max().unwrap_or(&0);
    // A node that is misaligned in every bit.
    let received = |side: &Crossings| side.load.iter().sum::<usize>() + steps * side.panels.iter().sum::<usize>();
    let received = (received(&a) + received(&b)) as f64;
    let even = panels_are_equal(&product);
    let none_empty = product.rows.min(product.columns) > 0 && product.inner >= product.keys() * product.panels();
    let rounds = alignment + steps;
    Formula {
        rounds,
        elements: elements as f64,
        moved: moved(&product) + steps as f64 * (sides.all_of_longer + sides.all_of_shorter),
        load: load(&a).max(load(&b)) as f64,
        scratch: received,
        hops: rounds,
        path: received,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Load, Figure::Scratch, Figure::Path], even)
    .at_most(&[Figure::Rounds, Figure::Hops], none_empty)
}

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let product = problem.call.product();
    let sides = Sides::new(&product);
    let mut operands = Operand::both(product, node);
    let Some(cycles) = HamiltonianCycles::new(sides.long) else {
        // One rank.
        multiply(problem, route, 0, node, &operands);
        return;
    };
    alignment::write(&sides, &mut operands, node, route);
    let (alignment, steps) = (alignment::rounds(&sides), sides.steps());
    let (k, l) = product.position(node);
    for round in alignment..alignment + steps {
        multiply(problem, route, round, node, &operands);
        for ring in 0..cycles.rings() {
            let panel = ring as usize;
            // The next key comes from the successor of k XOR l, and this one goes to the predecessor.
            let (from, to) = (cycles.next_port(ring, k ^ l), cycles.previous_port(ring, k ^ l));
            for operand in &mut operands {
                let (from, to) = (node ^ 1 << operand.port(from), node ^ 1 << operand.port(to));
                route.send(round, to, operand.panel(operand.keys[panel], panel));
                let key = &mut operand.keys[panel];
                *key ^= 1 << cycles.next_port(ring, *key);
                route.receive(round, from, operand.panel(operand.keys[panel], panel));
            }
        }
    }
    route.set_rounds(alignment + steps);
    multiply(problem, route, alignment + steps, node, &operands);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::{schedules, verify};
    use crate::algorithm::Write;
    use crate::collective::Call;
    use crate::schedule::Kind;
    use std::collections::{BTreeSet, HashSet};

    fn parameters() -> Parameters {
        Parameters::new(PortModel::AllPorts)
    }

    /// Theorem 2 by hand, with P^2/N = 36, 36, 16; and what nothing divides.
    #[test]
    fn as_fast_as_the_block_algorithm() {
        for (n, side, rounds, elements) in [(2, 12, 2, 36 + 36), (4, 24, 5, 36 + 3 * 18), (8, 64, 19, 16 + 15 * 4)] {
            let call = Call::new(Collective::MatrixMultiply, 1 << n, side);
            let report = verify(&ALGORITHM, &call, &parameters());
            assert_eq!(report.violations, [], "n = {n}");
            let cost = report.cost;
            assert_eq!((cost.rounds, cost.longest_sum(), cost.max_link_load), (rounds, elements, elements), "n = {n}");
        }
        for (rows, inner, columns) in [(0, 5, 3), (4, 0, 5), (1, 1, 1), (13, 29, 7), (5, 3, 40), (32, 480, 64)] {
            for n in [0, 2, 4] {
                let product = MatrixProduct::new(1 << n, rows, inner, columns);
                let call = Call { matrices: Some(product.into()), ..Call::new(Collective::MatrixMultiply, 1 << n, 1) };
                assert_eq!(verify(&ALGORITHM, &call, &parameters()).violations, [], "{product:?}");
            }
        }
    }

    /// Whatever else it is than `block`: over each port goes the same panel in all steps, and all ports are busy in each.
    #[test]
    fn partners_stay_the_same() {
        let call = Call::new(Collective::MatrixMultiply, 16, 48);
        for schedule in schedules(&ALGORITHM, &call, &parameters()) {
            let of_round = |round: usize| {
                let sends = schedule.operations().iter().filter(|op| op.round == round);
                sends.filter(|op| matches!(op.kind, Kind::Send { .. })).map(|op| schedule.len(op)).collect::<Vec<_>>()
            };
            for round in 2..5 {
                assert_eq!(of_round(round), [72; 4]);
            }
        }
        let product = call.product();
        let panel_of = |start: usize| {
            let of = |at, (key, panel)| [product.a_slab(at, key, panel), product.b_slab(key, panel, at)];
            let holds = |slab: &(usize, usize)| (0..4).flat_map(|at| of(at, *slab)).any(|range| range.contains(&start));
            product.slabs().find(holds).expect("a slab").1
        };
        // (peer, panel) of all that a node sends after the alignment.
        let sent = |write: Write, node: usize| {
            let mut route = Route::new();
            write(&Problem::new(&call), &parameters(), node, &mut route);
            let steps = route.transfers().iter().filter(|transfer| transfer.sends && transfer.round >= 2);
            steps.map(|t| (t.peer, panel_of(route.pieces(t)[0].start))).collect::<BTreeSet<_>>().len()
        };
        let Form::Forward(block) = super::super::block::ALGORITHM.form else { panic!("not backwards") };
        for node in 0..16 {
            assert_eq!((sent(write, node), sent(block, node)), (4, 8), "node {node}");
        }
    }

    /// The example of the header, as (peer, sends, key) of the first step.
    #[test]
    fn node_0_of_16() {
        let call = Call::new(Collective::MatrixMultiply, 16, 8);
        let mut route = Route::new();
        write(&Problem::new(&call), &parameters(), 0, &mut route);
        let product = call.product();
        let of_step = route.transfers().iter().filter(|transfer| transfer.round == 2);
        let found: HashSet<_> = of_step.map(|t| (t.peer, t.sends, route.pieces(t)[0].clone())).collect();
        let a = |key, panel| product.a_slab(0, key, panel);
        let b = |key, panel| product.b_slab(key, panel, 0);
        let expected = [
            (1, false, a(1, 0)),
            (1, true, a(0, 1)),
            (2, false, a(2, 1)),
            (2, true, a(0, 0)),
            (4, false, b(1, 0)),
            (4, true, b(0, 1)),
            (8, false, b(2, 1)),
            (8, true, b(0, 0)),
        ];
        assert_eq!(found, HashSet::from(expected));
    }

    #[test]
    fn other_grids_are_refused() {
        for (n, n1, served) in [(0, 0, true), (2, 1, true), (4, 2, true), (8, 4, true), (4, 1, false), (6, 3, false)] {
            let product =
                MatrixProduct { grid_rows: 1 << n1, grid_columns: 1 << (n - n1), ..MatrixProduct::square(1, 9) };
            let call = Call { matrices: Some(product.into()), ..Call::new(Collective::MatrixMultiply, 1 << n, 9) };
            let refused = (ALGORITHM.suits)(&call, &parameters());
            assert_eq!(refused.is_ok(), served, "{product:?}");
            assert!(served || refused.unwrap_err().1.contains("not on"));
        }
    }
}
