//! Matrix multiplication by all-to-all broadcasts within the rows and the columns of the grid: all that is needed in as few messages
//! as there can be.
//!
//! Algorithm: every row of the grid makes an all-gather of its blocks of A, every column one of its blocks of B, and each node
//! multiplies what it then has. A node exchanges all that it knows with its neighbour across one dimension after the other, so that what
//! it knows doubles. Symmetrised, a block is cut into slices by whole slabs, a slice for each dimension of the row or column, and each
//! goes through the dimensions cyclically from its own on.
//!
//! Reference: Ho, Johnsson and Edelman 1991, section 4 (and lemma 5), which names it as what takes the fewest steps if there is
//! memory; P is the side of the matrices, N = 2^n. The all-gather is that of Stout and Wagar 1990, section 6, COMPLETE
//! BROADCAST. The slices are the panels of [`block`](super::block).
//!
//! Requirements: 2^n ranks. It is chosen only if it is named, as it needs more memory the more ranks there are.
//!
//! Cost: n even, symmetrised, all-ports (sqrt(N) - 1)/(n/2) P^2/N t_c + n/2 tau, the least load of the links that there can be (lemma 5);
//! plain, all-ports (sqrt(N) - 1) P^2/N t_c + n/2 tau; one-port twice, one-way four times. On N1 x N2 ranks, with a and b elements a node,
//! the operands' messages of 2^k a and 2^k b elements go side by side, k = 0, 1, ... Exact where N1 | rows, N2 | columns, and the inner
//! side is a multiple of n' max(N1, N2), n' the dimensions of the longer side; symmetrised, an operand of s slabs on d dimensions has
//! slices of ceil(s/d) slabs.
//!
//! Memory: (N2 - 1) a + (N1 - 1) b, for square grids 2 (sqrt(N) - 1) P^2/N.
//!
//! Correctness condition: after the steps over a set D of dimensions a node knows the slices of the nodes of its row, or column, that
//! differ from it in D only.
//!
//! Example, n = 2, node 0: gets A(0,1) from node 1 and B(1,0) from node 2 in round 0, and multiplies A(0,0) B(0,0) + A(0,1) B(1,0).

use super::suits;
use crate::algorithm::exchange::subsets;
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{Collective, MatrixProduct};
use crate::schedule::{Multiplication, Problem};
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::MatrixMultiply,
    name: "broadcasts",
    summary: "fewest messages; symmetrised, every link is busy in every round; memory grows with the side of the grid",
    source: "HJE all-to-all broadcasts",
    section: "4",
    differs: "the paper names it and gives no formula; grids that are not square are ours",
    symmetrizes: true,
    suits: |call, _| suits(call),
    on_request: Some("needs memory for a whole row of blocks of A and a column of B, and is chosen only if it is named"),
    cost: "n even, symmetrised, all-ports: (sqrt(N) - 1) P^2/(N n/2) t_c + n/2 tau; plain, all-ports: (sqrt(N) - 1) P^2/N t_c + n/2 tau \
           (one-port: twice; one-way: four times)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// One operand: along which dimensions it goes, and how much there is of it.
struct Side {
    /// Dimensions of the row or the column, and the port of the first one.
    dimensions: u32,
    first_port: u32,
    /// Keys of a block.
    keys: usize,
    /// Elements of the longest block, and of the longest slab.
    block: usize,
    slab: usize,
    /// Elements of all blocks.
    all: usize,
}

impl Side {
    /// A and B.
    fn both(product: &MatrixProduct) -> [Side; 2] {
        let MatrixProduct { rows, inner, columns, grid_rows: n1, grid_columns: n2 } = *product;
        let keys = product.keys();
        let side = |ranks: usize, first_port, outer: usize, others: usize| Side {
            dimensions: ranks.ilog2(),
            first_port,
            keys: keys / ranks,
            block: outer.div_ceil(others) * inner.div_ceil(ranks),
            slab: outer.div_ceil(others) * inner.div_ceil(keys).div_ceil(product.panels()),
            all: outer * inner,
        };
        [side(n2, 0, rows, n1), side(n1, n2.ilog2(), columns, n2)]
    }

    /// Slices of a block: slab i belongs to slice i modulo their number.
    fn slices(&self, symmetrized: bool) -> usize {
        if symmetrized {
            self.dimensions as usize
        } else {
            self.dimensions.min(1) as usize
        }
    }

    /// The slabs (key, panel) of a slice of the block of a node with this place in its row or column.
    fn slabs(&self, panels: usize, place: usize, slice: usize, slices: usize) -> impl Iterator<Item = (usize, usize)> {
        let first = place * self.keys;
        (slice..self.keys * panels).step_by(slices.max(1)).map(move |slab| (first + slab / panels, slab % panels))
    }

    /// Elements of the longest message of a step, if all slabs are equal.
    fn message(&self, panels: usize, step: u32, symmetrized: bool) -> usize {
        let (slabs, slices) = (self.keys * panels, self.slices(symmetrized));
        if step >= self.dimensions {
            return 0;
        }
        if slices == 1 {
            return self.block << step;
        }
        (slabs.div_ceil(slices) * self.slab) << step
    }

    /// Elements over the link that carries the most: each slice in another step.
    fn load(&self, panels: usize, symmetrized: bool) -> usize {
        let (slabs, slices, d) = (self.keys * panels, self.slices(symmetrized), self.dimensions as usize);
        if slices <= 1 {
            return if d == 0 { 0 } else { self.block << (d - 1) };
        }
        let of_slice = |slice: usize| (slabs - slice).div_ceil(slices) * self.slab;
        let of_port = |port: usize| (0..slices).map(|slice| of_slice(slice) << ((port + d - slice) % d)).sum();
        (0..d).map(of_port).max().unwrap_or(0)
    }

    /// Elements that a node gets.
    fn received(&self) -> usize {
        ((1 << self.dimensions) - 1) * self.block
    }
}

fn formula(shape: &Shape) -> Formula {
    let product = shape.product;
    if product.keys() == 1 || product.inputs() == 0 {
        return Formula::NOTHING;
    }
    let Parameters { ports, symmetrized, .. } = shape.parameters;
    let sides = Side::both(&product);
    let panels = product.panels();
    let hops = product.panels();
    let message = |side: &Side, step| side.message(panels, step, symmetrized);
    let all_ports = |step: u32| sides.iter().map(|side| message(side, step)).max().unwrap_or(0);
    let received: usize = sides.iter().map(Side::received).sum();
    let in_turn: usize = sides.iter().map(|side| side.dimensions as usize).sum();
    let (rounds, elements) = match ports {
        PortModel::AllPorts => (hops, (0..hops as u32).map(all_ports).sum()),
        PortModel::OnePort => (in_turn, received),
        PortModel::OneWay => (2 * in_turn, 2 * received),
    };
    let even = product.rows.is_multiple_of(product.grid_rows)
        && product.columns.is_multiple_of(product.grid_columns)
        && product.inner.is_multiple_of(product.keys() * panels);
    let none_empty = product.rows >= product.grid_rows
        && product.columns >= product.grid_columns
        && product.inner >= product.keys() * panels;
    let moved: usize = sides.iter().map(|side| ((1 << side.dimensions) - 1) * side.all).sum();
    let load = sides.iter().map(|side| side.load(panels, symmetrized)).max().unwrap_or(0);
    Formula {
        rounds,
        elements: elements as f64,
        moved: moved as f64,
        load: load as f64,
        scratch: received as f64,
        hops,
        path: received as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Elements, Figure::Load, Figure::Scratch, Figure::Path], even)
    .at_most(&[Figure::Rounds, Figure::Hops], none_empty)
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let product = problem.call.product();
    let (k, l) = product.position(node);
    let panels = product.panels();
    let [a, b] = Side::both(&product);
    let a_slab = |(key, panel): (usize, usize)| product.a_slab(k, key, panel);
    let b_slab = |(key, panel): (usize, usize)| product.b_slab(key, panel, l);
    let after_a = gather(&a, panels, parameters, (0, node, l), a_slab, route);
    let first = if parameters.ports == PortModel::AllPorts { 0 } else { after_a };
    let after_b = gather(&b, panels, parameters, (first, node, k), b_slab, route);
    let round = after_a.max(after_b);
    route.set_rounds(round);
    for (key, panel) in product.slabs() {
        let (inner, a, b) = (product.slab(key, panel).len(), a_slab((key, panel)), b_slab((key, panel)));
        route.multiply(Multiplication { round, inner, a, b, c: product.c_block(node) });
    }
}

/// Writes the all-gather of one operand from a round on, for a node with a place in its row or column; returns the round after it.
fn gather(
    side: &Side,
    panels: usize,
    parameters: &Parameters,
    (first, node, place): (usize, usize, usize),
    slab: impl Fn((usize, usize)) -> Range<usize>,
    route: &mut Route,
) -> usize {
    let (dimensions, slices) = (side.dimensions as usize, side.slices(parameters.symmetrized));
    let one_way = parameters.ports == PortModel::OneWay;
    for slice in 0..slices {
        let mut done = 0;
        for step in 0..dimensions {
            let bit = 1 << ((slice + step) % dimensions);
            let peer = node ^ bit << side.first_port;
            let known = |place: usize| {
                subsets(done).flat_map(move |bits| side.slabs(panels, place ^ bits, slice, slices)).map(&slab)
            };
            // One way at a time, the neighbour whose bit is 0 sends first.
            let round = |place: usize| first + if one_way { 2 * step + usize::from(place & bit != 0) } else { step };
            route.send(round(place), peer, known(place));
            route.receive(round(place ^ bit), peer, known(place ^ bit));
            done |= bit;
        }
    }
    first + dimensions * if one_way { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::registry;
    use crate::algorithm::verify::verify;
    use crate::collective::Call;
    use crate::select::{candidates, Machine, Options};

    /// Lemma 5: (sqrt(N) - 1) P^2/(n' N) elements in n' rounds, with P^2/N = 36, 36, 36, 16.
    #[test]
    fn the_least_elements_in_the_fewest_rounds() {
        for (n, side, elements) in [(2, 12, 36), (4, 24, 3 * 18), (6, 48, 7 * 12), (8, 64, 15 * 4)] {
            let call = Call::new(Collective::MatrixMultiply, 1 << n, side);
            let report = verify(&ALGORITHM, &call, &Parameters::new(PortModel::AllPorts));
            assert_eq!(report.violations, [], "n = {n}");
            let rounds = n as usize / 2;
            assert_eq!((report.cost.rounds, report.cost.longest_sum()), (rounds, elements), "n = {n}");
            assert_eq!(report.cost.max_link_load, elements, "every link carries the same");
        }
    }

    /// All grids, sides that nothing divides, and none.
    #[test]
    fn any_grid_and_any_sides() {
        for n in 0..=5u32 {
            for n1 in 0..=n {
                for (rows, inner, columns) in [(0, 5, 3), (4, 0, 5), (1, 1, 1), (13, 29, 7), (5, 3, 40), (32, 480, 64)]
                {
                    let product =
                        MatrixProduct { rows, inner, columns, grid_rows: 1 << n1, grid_columns: 1 << (n - n1) };
                    let call =
                        Call { matrices: Some(product.into()), ..Call::new(Collective::MatrixMultiply, 1 << n, 480) };
                    for ports in PortModel::ALL {
                        for symmetrized in [false, true].into_iter().filter(|&on| !on || ports == PortModel::AllPorts) {
                            let parameters = Parameters { symmetrized, ..Parameters::new(ports) };
                            let report = verify(&ALGORITHM, &call, &parameters);
                            assert_eq!(report.violations, [], "{product:?} {parameters:?}");
                        }
                    }
                }
            }
        }
    }

    /// Memory is the caller's to spend.
    #[test]
    fn it_is_chosen_only_if_it_is_named() {
        let call = Call::new(Collective::MatrixMultiply, 64, 48);
        let machine = Machine { ports: PortModel::AllPorts, ..Machine::network() };
        let names = |options: &Options| {
            let candidates = candidates(&call, 8, options, &machine).unwrap();
            candidates.serving.into_iter().map(|candidate| candidate.algorithm.name).collect::<Vec<_>>()
        };
        let all = candidates(&call, 8, &Options::default(), &machine).unwrap();
        assert!(!names(&Options::default()).contains(&"broadcasts"));
        let (refused, why) = all.refused.last().unwrap();
        assert_eq!(refused.name, "broadcasts");
        assert!(why.to_string().starts_with("algorithm: broadcasts (matrix-multiply) needs memory"), "{why}");
        let named = Options { algorithm: Some("broadcasts".into()), ..Options::default() };
        assert!(names(&named).iter().all(|&name| name == "broadcasts") && !names(&named).is_empty());
        assert_eq!(registry::ALGORITHMS.iter().filter(|row| row.on_request.is_some()).count(), 1);
    }
}
