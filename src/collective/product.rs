//! The product of two matrices that are spread over a grid of ranks: who holds what, and where in the space.
//!
//! C = A B, with A of `rows` x `inner`, B of `inner` x `columns` elements. Rank k `grid_columns` + l has row k and column l of
//! the grid. It holds the block (k, l) of A, B and C: each side of each matrix is cut into as many parts as the grid has rows
//! or columns, as evenly as possible.
//!
//! The inner side is cut more finely, so that the blocks of A and B can meet: into a part for each *key*, of which there are as
//! many as the longer side of the grid has ranks; and the part of a key into slabs, one for each *panel*. A slab of A is
//! all rows of a block times one slab of the inner side, a slab of B the other way round. A panel of a block is its
//! slabs of one panel number: one, or, where the grid is shorter, one for each of several keys.
//!
//! In the space all of A comes first, then all of B, then all of C. A block of A is stored slab by slab, a slab by rows; a
//! block of B by rows, which is slab by slab as well; a block of C by rows.

use super::part;
use std::ops::Range;

/// Shape and distribution of a matrix product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixProduct {
    /// Rows of A and C.
    pub rows: usize,
    /// Columns of A, rows of B.
    pub inner: usize,
    /// Columns of B and C.
    pub columns: usize,
    /// N1, rows of the grid of ranks.
    pub grid_rows: usize,
    /// N2, columns of the grid of ranks.
    pub grid_columns: usize,
}

impl MatrixProduct {
    /// A product on a grid that is as square as `size`, a power of two, allows, with no fewer columns than rows. (Any other
    /// number of ranks makes one row.)
    pub fn new(size: usize, rows: usize, inner: usize, columns: usize) -> MatrixProduct {
        let grid_rows = if size.is_power_of_two() { 1 << (size.trailing_zeros() / 2) } else { 1 };
        MatrixProduct { rows, inner, columns, grid_rows, grid_columns: size / grid_rows }
    }

    /// The product of square matrices with sides of `side` elements.
    pub fn square(size: usize, side: usize) -> MatrixProduct {
        MatrixProduct::new(size, side, side, side)
    }

    /// Row and column of a rank in the grid.
    pub fn position(&self, rank: usize) -> (usize, usize) {
        (rank / self.grid_columns, rank % self.grid_columns)
    }

    /// The rows of A and C in row k of the grid.
    pub fn row_part(&self, k: usize) -> Range<usize> {
        part(0..self.rows, k, self.grid_rows)
    }

    /// The columns of B and C in column l of the grid.
    pub fn column_part(&self, l: usize) -> Range<usize> {
        part(0..self.columns, l, self.grid_columns)
    }

    /// The columns of A in column l of the grid.
    pub fn inner_part_of_a(&self, l: usize) -> Range<usize> {
        part(0..self.inner, l, self.grid_columns)
    }

    /// The rows of B in row k of the grid.
    pub fn inner_part_of_b(&self, k: usize) -> Range<usize> {
        part(0..self.inner, k, self.grid_rows)
    }

    /// Parts of the inner side: as many as the longer side of the grid has ranks.
    pub fn keys(&self) -> usize {
        self.grid_rows.max(self.grid_columns)
    }

    /// Slabs of a part: n', the dimensions of the longer side of the grid, at least 1.
    pub fn panels(&self) -> usize {
        self.keys().ilog2().max(1) as usize
    }

    /// A slab of the inner side.
    pub fn slab(&self, key: usize, panel: usize) -> Range<usize> {
        part(part(0..self.inner, key, self.keys()), panel, self.panels())
    }

    /// All slabs that are not empty: (key, panel).
    pub fn slabs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let all = (0..self.keys()).flat_map(|key| (0..self.panels()).map(move |panel| (key, panel)));
        all.filter(|&(key, panel)| !self.slab(key, panel).is_empty())
    }

    fn in_a(&self, k: usize, inner: Range<usize>) -> Range<usize> {
        let rows = self.row_part(k);
        let at = |index: usize| rows.start * self.inner + index * rows.len();
        at(inner.start)..at(inner.end)
    }

    fn in_b(&self, inner: Range<usize>, l: usize) -> Range<usize> {
        let columns = self.column_part(l);
        let at = |index: usize| self.rows * self.inner + columns.start * self.inner + index * columns.len();
        at(inner.start)..at(inner.end)
    }

    /// Positions of the block of A that a rank holds.
    pub fn a_block(&self, rank: usize) -> Range<usize> {
        let (k, l) = self.position(rank);
        self.in_a(k, self.inner_part_of_a(l))
    }

    /// Positions of the block of B that a rank holds.
    pub fn b_block(&self, rank: usize) -> Range<usize> {
        let (k, l) = self.position(rank);
        self.in_b(self.inner_part_of_b(k), l)
    }

    /// Positions of a rank's block of C.
    pub fn c_block(&self, rank: usize) -> Range<usize> {
        let (k, l) = self.position(rank);
        let (rows, columns) = (self.row_part(k), self.column_part(l));
        let start = self.inputs() + rows.start * self.columns + columns.start * rows.len();
        start..start + rows.len() * columns.len()
    }

    /// Positions of a slab of A, in row k of the grid.
    pub fn a_slab(&self, k: usize, key: usize, panel: usize) -> Range<usize> {
        self.in_a(k, self.slab(key, panel))
    }

    /// Positions of a slab of B, in column l of the grid.
    pub fn b_slab(&self, key: usize, panel: usize, l: usize) -> Range<usize> {
        self.in_b(self.slab(key, panel), l)
    }

    /// Positions of A and B: what comes before C.
    pub fn inputs(&self) -> usize {
        (self.rows + self.columns) * self.inner
    }

    /// Positions in all, if they can be counted.
    pub fn checked_space(&self) -> Option<usize> {
        let sides = [(self.rows, self.inner), (self.inner, self.columns), (self.rows, self.columns)];
        let mut sizes = sides.into_iter().map(|(a, b)| a.checked_mul(b));
        sizes.try_fold(0usize, |sum, size| sum.checked_add(size?))
    }

    /// Positions in all.
    pub fn space(&self) -> usize {
        self.inputs() + self.rows * self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every position of A, B and C lies in just one block, and in just one slab of the inner side.
    #[test]
    fn blocks_and_slabs_cover_the_space() {
        for (grid_rows, grid_columns) in [(1, 1), (1, 2), (2, 1), (2, 2), (2, 8), (8, 1), (4, 4)] {
            for (rows, inner, columns) in [(0, 3, 2), (5, 0, 5), (7, 9, 3), (16, 32, 8), (13, 50, 17)] {
                let product = MatrixProduct { rows, inner, columns, grid_rows, grid_columns };
                let mut blocks = vec![0; product.space()];
                let mut slabs = vec![0; product.inputs()];
                for rank in 0..grid_rows * grid_columns {
                    for block in [product.a_block(rank), product.b_block(rank), product.c_block(rank)] {
                        block.for_each(|at| blocks[at] += 1);
                    }
                }
                for (key, panel) in product.slabs() {
                    (0..grid_rows).flat_map(|k| product.a_slab(k, key, panel)).for_each(|at| slabs[at] += 1);
                    (0..grid_columns).flat_map(|l| product.b_slab(key, panel, l)).for_each(|at| slabs[at] += 1);
                }
                assert!(blocks.iter().chain(&slabs).all(|&times| times == 1), "{product:?}");
            }
        }
    }

    /// The blocks of A in column l and of B in row k hold the slabs of the keys that begin with l or k.
    #[test]
    fn blocks_are_made_of_slabs() {
        let product = MatrixProduct { rows: 10, inner: 45, columns: 11, grid_rows: 2, grid_columns: 8 };
        for rank in 0..16 {
            let (k, l) = product.position(rank);
            let a: Vec<usize> = (0..3).flat_map(|panel| product.a_slab(k, l, panel)).collect();
            assert_eq!(a, product.a_block(rank).collect::<Vec<_>>());
            let keys = 4 * k..4 * k + 4;
            let b: Vec<usize> =
                keys.flat_map(|key| (0..3).flat_map(move |panel| product.b_slab(key, panel, l))).collect();
            assert_eq!(b, product.b_block(rank).collect::<Vec<_>>());
        }
    }
}
