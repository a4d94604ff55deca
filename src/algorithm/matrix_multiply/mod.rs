//! Matrix multiplication: the grid of nodes, and what those algorithms share in which panels of A and B meet in every node.
//!
//! The grid of N1 x N2 ranks is a product of two cubes: the low-order n2 bits of a node are its column l, along which A moves,
//! the high-order n1 bits its row k, along which B moves. The inner side of the matrices has 2^max(n1, n2) parts, the
//! *keys*; the operand along whose side the grid is longer holds one key a node, the other one all keys that agree in
//! their high-order bits. Panels meet where their keys agree:
//!
//! * Alignment: node (k, l) gets the panels of A and B with the key k XOR l (where the grid is no square, the shorter address
//!   is that of the high-order bits, and the longer operand keeps its low-order ones).
//! * Multiplication: with every step of a walk that visits all keys, a panel of A and one of B change one bit of their key. If
//!   it is a low-order one that the shorter side of the grid lacks, that operand has the key already and stays.
//!
//! ```
//! let products = hypercoll::threads::run(4, |cube| {
//!     // [1 2]   [5 6]
//!     // [3 4] x [7 8]: an element of each on every rank of a grid of 2 x 2.
//!     let product = cube.matrix_multiply(2, 2, 2).algorithm("dns").grid(2, 2).unwrap();
//!     let mut c = [0.0];
//!     product.run(&[cube.rank() as f64 + 1.0], &[cube.rank() as f64 + 5.0], &mut c).unwrap();
//!     c[0]
//! });
//! assert_eq!(products, [19.0, 22.0, 43.0, 50.0]);
//! ```

mod alignment;
pub mod block;
pub mod broadcasts;
pub mod cannon;
pub mod dns;

use super::Unsuited;
use crate::collective::{Call, MatrixProduct};
use crate::schedule::{Multiplication, Problem, Route};
use std::ops::Range;

/// A number of ranks that is a power of two, and a grid of them.
fn suits(call: &Call) -> Result<(), Unsuited> {
    let MatrixProduct { grid_rows, grid_columns, .. } = call.product();
    if !call.size.is_power_of_two() {
        return Err(("size", format!("multiplies on 2^n ranks, not on {}", call.size)));
    }
    if grid_rows * grid_columns != call.size || !grid_rows.is_power_of_two() {
        let why = format!("multiplies on a grid of {} ranks, not {grid_rows} x {grid_columns}", call.size);
        return Err(("grid", why));
    }
    Ok(())
}

/// Bits of the keys and the elements that a node holds of each operand.
#[derive(Clone, Copy)]
struct Sides {
    /// Bits of a key: the dimensions of the longer side of the grid.
    long: u32,
    /// The dimensions of the shorter side, whose bits are the high-order ones of a key.
    short: u32,
    /// Elements of the largest block of the operand that moves along the longer side.
    longer: f64,
    /// Of the other operand.
    shorter: f64,
    /// Elements of all blocks of either.
    all_of_longer: f64,
    all_of_shorter: f64,
}

impl Sides {
    fn new(product: &MatrixProduct) -> Sides {
        let (n1, n2) = (product.grid_rows.ilog2(), product.grid_columns.ilog2());
        let MatrixProduct { rows, inner, columns, grid_rows, grid_columns } = *product;
        let a = (rows.div_ceil(grid_rows) * inner.div_ceil(grid_columns), rows * inner);
        let b = (inner.div_ceil(grid_rows) * columns.div_ceil(grid_columns), inner * columns);
        let (longer, shorter) = if n2 >= n1 { (a, b) } else { (b, a) };
        Sides {
            long: n1.max(n2),
            short: n1.min(n2),
            longer: longer.0 as f64,
            shorter: shorter.0 as f64,
            all_of_longer: longer.1 as f64,
            all_of_shorter: shorter.1 as f64,
        }
    }

    /// Bits of a key that the shorter side lacks.
    fn inner(&self) -> u32 {
        self.long - self.short
    }

    /// Steps of the walk over all keys.
    fn steps(&self) -> usize {
        (1 << self.long) - 1
    }

    /// Elements of the larger message where both operands move.
    fn both(&self) -> f64 {
        self.longer.max(self.shorter)
    }
}

/// One of the operands, as one node sees it.
struct Operand {
    /// The key of each of its panels here.
    keys: Vec<usize>,
    /// The bits that the alignment changes.
    misaligned: usize,
    /// Low-order bits of a key that it does not move along, as a node has all of them.
    kept: u32,
    /// The port of the first key bit that it moves along.
    first_port: u32,
    /// Positions of a slab in this node's row or column, by key and panel.
    slab: Box<dyn Fn(usize, usize) -> Range<usize>>,
}

impl Operand {
    /// A and B at a node.
    fn both(product: MatrixProduct, node: usize) -> [Operand; 2] {
        let (n1, n2) = (product.grid_rows.ilog2(), product.grid_columns.ilog2());
        let (k, l) = product.position(node);
        let long = n1.max(n2);
        // Row and column, with the high-order bits of keys in the same places.
        let (row, column) = (k << (long - n1), l << (long - n2));
        let common = !0 << (long - n1.min(n2));
        let panels = product.panels();
        let operand = |start, other, kept, first_port, slab| Operand {
            keys: vec![start; panels],
            misaligned: other & common,
            kept,
            first_port,
            slab,
        };
        [
            operand(column, row, long - n2, 0, Box::new(move |key, panel| product.a_slab(k, key, panel))),
            operand(row, column, long - n1, n2, Box::new(move |key, panel| product.b_slab(key, panel, l))),
        ]
    }

    /// Whether it moves when a bit of the key changes.
    fn moves(&self, bit: u32) -> bool {
        bit >= self.kept
    }

    /// The port over which it does.
    fn port(&self, bit: u32) -> u32 {
        self.first_port + bit - self.kept
    }

    /// Positions of a panel with a key.
    fn panel(&self, key: usize, panel: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let first = key >> self.kept << self.kept;
        (first..first + (1 << self.kept)).map(move |key| (self.slab)(key, panel))
    }

    /// Exchanges panels with the neighbour whose keys differ in a bit: sent in one round, received in another or the same.
    fn exchange(
        &mut self,
        route: &mut Route,
        (sent, received): (usize, usize),
        node: usize,
        bit: u32,
        panels: Range<usize>,
    ) {
        let peer = node ^ 1 << self.port(bit);
        route.send(sent, peer, panels.clone().flat_map(|panel| self.panel(self.keys[panel], panel)));
        self.keys[panels.clone()].iter_mut().for_each(|key| *key ^= 1 << bit);
        route.receive(received, peer, panels.flat_map(|panel| self.panel(self.keys[panel], panel)));
    }
}

/// Multiplies all panels that have met in a node before a round.
fn multiply(problem: &Problem, route: &mut Route, round: usize, node: usize, [a, b]: &[Operand; 2]) {
    let product = problem.call.product();
    for panel in 0..product.panels() {
        let key = if a.kept == 0 { a.keys[panel] } else { b.keys[panel] };
        let (inner, c) = (product.slab(key, panel).len(), product.c_block(node));
        route.multiply(Multiplication { round, inner, a: (a.slab)(key, panel), b: (b.slab)(key, panel), c });
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithm::verify::verify;
    use crate::algorithm::{registry, Parameters};
    use crate::collective::{Avoided, Call, Collective};

    /// Blocks that pass through a rank on their way round a link do not replace those that it still needs.
    #[test]
    fn products_go_round_any_link() {
        let mut detours = 0;
        for algorithm in registry::of(Collective::MatrixMultiply) {
            for n in 2..=4u32 {
                let size = 1usize << n;
                let links = (0..size).flat_map(|a| (0..n).map(move |port| (a, a ^ 1 << port))).filter(|(a, b)| a < b);
                for link in links {
                    for side in [5, 24] {
                        let avoid = Some(Avoided::new(size, &[link]).unwrap());
                        let call = Call { avoid, ..Call::new(Collective::MatrixMultiply, size, side) };
                        if (algorithm.suits)(&call, &Parameters::new(algorithm.ports[0])).is_err() {
                            continue;
                        }
                        for &ports in algorithm.ports {
                            let report = verify(algorithm, &call, &Parameters::new(ports));
                            assert_eq!(report.violations, [], "{algorithm:?} {link:?} {size} ranks {side} {ports}");
                            detours += 1;
                        }
                    }
                }
            }
        }
        assert!(detours > 500, "{detours}");
    }
}
