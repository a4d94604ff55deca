//! Alignment in panels, on all ports at once, of [`block`](super::block) and [`cannon`](super::cannon).
//!
//! In round r panel m crosses the dimension r - m (mod n'), if the key of its row or column has a one there. Only the bits that both
//! operands move along are aligned.

use super::{Operand, Sides};
use crate::algorithm::Route;
use crate::collective::MatrixProduct;
use std::ops::Range;

/// Rounds of the alignment.
pub(super) fn rounds(sides: &Sides) -> usize {
    if sides.short > 0 {
        sides.long as usize
    } else {
        0
    }
}

/// The bit that a panel crosses in a round, where its key has to change.
fn bit(sides: &Sides, round: usize, panel: usize) -> u32 {
    let long = sides.long as usize;
    ((round + long - panel) % long) as u32
}

/// Writes the alignment of a node's operands.
pub(super) fn write(sides: &Sides, operands: &mut [Operand; 2], node: usize, route: &mut Route) {
    for round in 0..rounds(sides) {
        for panel in 0..sides.long as usize {
            let bit = bit(sides, round, panel);
            for operand in operands.iter_mut().filter(|operand| operand.misaligned >> bit & 1 == 1) {
                operand.exchange(route, (round, round), node, bit, panel..panel + 1);
            }
        }
    }
}

/// Elements that follow one another in the alignment.
pub(super) fn elements(sides: &Sides, a: &mut Crossings, b: &mut Crossings) -> usize {
    let of_round = |round: usize| {
        let bit = |panel: usize| Some(bit(sides, round, panel)).filter(|bit| *bit >= sides.inner());
        a.cross(bit).max(b.cross(bit))
    };
    (0..rounds(sides)).map(of_round).sum()
}

/// Elements moved in the alignment, exactly: every block crosses as many links as its row or column has high-order ones.
pub(super) fn moved(product: &MatrixProduct) -> f64 {
    let crossed = |parts: usize, other: usize, part: &dyn Fn(usize) -> Range<usize>| -> f64 {
        let lacking = parts.ilog2().saturating_sub(other.ilog2());
        (0..parts).map(|at| f64::from((at >> lacking).count_ones()) * part(at).len() as f64).sum()
    };
    let (n1, n2) = (product.grid_rows, product.grid_columns);
    let a = crossed(n1, n2, &|k| product.row_part(k));
    let b = crossed(n2, n1, &|l| product.column_part(l));
    (a + b) * product.inner as f64
}

/// Whether all panels of an operand are equal.
pub(super) fn panels_are_equal(product: &MatrixProduct) -> bool {
    product.rows.is_multiple_of(product.grid_rows)
        && product.columns.is_multiple_of(product.grid_columns)
        && product.inner.is_multiple_of(product.keys() * product.panels())
}

/// What crosses each dimension of the keys, of one operand.
pub(super) struct Crossings {
    /// Elements of the longest panel of each number.
    pub(super) panels: Vec<usize>,
    /// Bits of a key below this one it does not move along.
    kept: u32,
    /// So far, by bit.
    pub(super) load: Vec<usize>,
}

impl Crossings {
    /// Of A and of B.
    pub(super) fn both(product: &MatrixProduct) -> [Crossings; 2] {
        let MatrixProduct { rows, columns, grid_rows, grid_columns, .. } = *product;
        let a = Crossings::new(product, rows.div_ceil(grid_rows), grid_columns.ilog2());
        [a, Crossings::new(product, columns.div_ceil(grid_columns), grid_rows.ilog2())]
    }

    /// Of the operand with so many elements along its outer side, that many high-order bits of the keys being a part of its own.
    fn new(product: &MatrixProduct, outer: usize, bits: u32) -> Crossings {
        let long = product.keys().ilog2();
        let kept = long - bits;
        let held = 1 << kept;
        let len = |first: usize, panel: usize| (first..first + held).map(|key| product.slab(key, panel).len()).sum();
        let longest = |panel: usize| (0..product.keys()).step_by(held).map(|first| len(first, panel)).max();
        let panels = (0..product.panels()).map(|panel| outer * longest(panel).unwrap_or(0)).collect();
        Crossings { panels, kept, load: vec![0; long as usize] }
    }

    /// Panel p crosses bit `bit(p)`, all in one round: the most that crosses one of them.
    pub(super) fn cross(&mut self, bit: impl Fn(usize) -> Option<u32>) -> usize {
        let mut round = vec![0; self.load.len()];
        for (panel, elements) in self.panels.iter().enumerate() {
            if let Some(bit) = bit(panel).filter(|bit| *bit >= self.kept) {
                round[bit as usize] += elements;
                self.load[bit as usize] += elements;
            }
        }
        round.into_iter().max().unwrap_or(0)
    }
}
