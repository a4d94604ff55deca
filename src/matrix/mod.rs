//! Matrices that are spread over the ranks: products, transposition, turns and other ways of storage.
//!
//! A rank passes and gets the elements of its own part of a matrix, a [`Part`], row after row; the rest is on other ranks, and no
//! rank ever holds a whole matrix. Which rows and columns a part has, the call says before it runs.
//!
//! * [`Hypercube::matrix_multiply`]: the product of two matrices that are spread over a grid of ranks.
//! * [`Hypercube::transpose`]: of a matrix that is stored by rows, or by submatrices on a grid of ranks.
//! * [`Hypercube::turn`]: such a matrix by a quarter or a half.
//! * [`Hypercube::redistribute`]: from one storage to another, as from striped to blocked rows.
//!
//! ```
//! use hypercoll::threads;
//!
//! // A of 6 x 5 times B of 5 x 4, on a grid of 2 x 2 ranks.
//! let corners = threads::run(4, |cube| {
//!     let product = cube.matrix_multiply(6, 5, 4).grid(2, 2).unwrap();
//!     let a: Vec<f64> = product.a().indices().map(|(i, j)| (i + j) as f64).collect();
//!     let b: Vec<f64> = product.b().indices().map(|(i, j)| if i == j { 2.0 } else { 0.0 }).collect();
//!     let mut c = vec![0.0; product.c().len()];
//!     product.run(&a, &b, &mut c).unwrap();
//!     c[0]
//! });
//! // C is twice the first four columns of A; the blocks of C are 3 x 2 and begin in rows 0 and 3, columns 0 and 2.
//! assert_eq!(corners, [0.0, 4.0, 6.0, 10.0]);
//! ```

mod block;
mod motion;
mod multiply;
mod rearrange;
mod scalar;
mod storage;

pub use motion::Turn;
pub use multiply::MatrixMultiply;
pub use rearrange::Rearrangement;
pub use scalar::Scalar;
pub use storage::Storage;

use crate::error::{Error, Result};
#[cfg(doc)]
use crate::Hypercube;
use std::ops::Range;

/// Indices of rows or columns in ascending order, evenly spaced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Indices {
    first: usize,
    step: usize,
    len: usize,
}

impl Indices {
    /// Every `step`-th index below `end`, from `first` on.
    fn cyclic(first: usize, end: usize, step: usize) -> Indices {
        Indices { first, step, len: end.saturating_sub(first).div_ceil(step) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The index at a position, from 0 to below [`Indices::len`] (which is not checked).
    pub fn at(&self, position: usize) -> usize {
        self.first + position * self.step
    }

    /// The indices, if they follow one another without a gap.
    pub fn range(&self) -> Option<Range<usize>> {
        (self.step == 1 || self.len <= 1).then_some(self.first..self.first + self.len)
    }

    /// The indices.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let indices = *self;
        (0..self.len).map(move |position| indices.at(position))
    }
}

impl From<Range<usize>> for Indices {
    fn from(range: Range<usize>) -> Indices {
        Indices { first: range.start, step: 1, len: range.len() }
    }
}

/// The part of a matrix that a rank holds: all elements in some rows and some columns, stored row after row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// Its rows in the whole matrix.
    pub rows: Indices,
    /// Its columns in the whole matrix.
    pub columns: Indices,
}

impl Part {
    fn new(rows: impl Into<Indices>, columns: impl Into<Indices>) -> Part {
        Part { rows: rows.into(), columns: columns.into() }
    }

    /// Elements of the part (the largest number there is, if they are more).
    pub fn len(&self) -> usize {
        self.rows.len().saturating_mul(self.columns.len())
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row and column in the whole matrix of each element, in the order in which the elements are stored.
    pub fn indices(&self) -> impl Iterator<Item = (usize, usize)> {
        let columns = self.columns;
        self.rows.iter().flat_map(move |row| columns.iter().map(move |column| (row, column)))
    }

    /// Refuses a buffer that is not as long as the part.
    fn expect(&self, argument: &'static str, got: usize, why: &'static str) -> Result<()> {
        if got == self.len() {
            return Ok(());
        }
        let expected = format!("{} x {}", self.rows.len(), self.columns.len());
        Err(Error::Length { argument, got, expected, why })
    }
}

/// The options of a call that is run by [`Hypercube::collective`].
macro_rules! options {
    ($name:ident $(, then $settle:ident)?) => {
        impl $name<'_> {
            /// Names the algorithm instead of leaving it to the library (all ranks the same one).
            pub fn algorithm(mut self, name: &str) -> Self {
                self.options.algorithm = Some(name.to_string());
                $(self.$settle();)?
                self
            }

            /// Sets the port model for which the schedule is made (all ranks the same).
            pub fn ports(mut self, ports: PortModel) -> Self {
                self.options.ports = Some(ports);
                self
            }

            /// Sets all options at once (all ranks the same).
            pub fn options(mut self, options: &Options) -> Self {
                self.options = options.clone();
                $(self.$settle();)?
                self
            }
        }
    };
}
use options;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_parts() {
        assert_eq!(Indices::cyclic(2, 12, 4).iter().collect::<Vec<_>>(), [2, 6, 10]);
        assert_eq!((Indices::cyclic(3, 3, 4).len(), Indices::cyclic(5, 3, 4).len()), (0, 0));
        assert_eq!((Indices::cyclic(2, 12, 4).range(), Indices::cyclic(2, 6, 4).range()), (None, Some(2..3)));
        let part = Part::new(1..3, Indices::cyclic(0, 5, 3));
        assert_eq!(part.indices().collect::<Vec<_>>(), [(1, 0), (1, 3), (2, 0), (2, 3)]);
        assert_eq!(Part::new(0..usize::MAX, 0..3).len(), usize::MAX);
    }
}
