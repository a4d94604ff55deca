//! Ways in which programs spread a matrix over ranks.

use super::{Indices, Part};
use crate::address::{gray, gray_inverse};
use crate::collective::part;
use crate::error::{Error, Result};

/// How a matrix is spread over the ranks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// Whole rows on every rank.
    Rows {
        /// Every size-th row, striped storage (else as many consecutive rows on every rank as possible, evenly: blocked storage).
        cyclic: bool,
        /// Rank Gray(i) has the i-th part of the rows (else rank i); for 2^n ranks.
        gray: bool,
    },
    /// A submatrix on every rank, on a grid of ranks: the rows are cut into N1 parts, the columns into N2 parts, as evenly as
    /// possible.
    Submatrices {
        /// N1 and N2; N1 N2 is the number of ranks.
        grid: (usize, usize),
        /// Rank Gray(i) N2 + Gray(j) has submatrix (i, j) (else rank i N2 + j); for sides that are powers of two.
        gray: bool,
    },
}

impl Storage {
    /// Refuses what does not fit the number of ranks.
    pub(super) fn check(self, size: usize) -> Result<()> {
        let refused = |argument, why| Err(Error::Shape { argument, why });
        let sides = self.sides(size);
        if sides.0.checked_mul(sides.1) != Some(size) {
            return refused("grid", format!("{} x {} places for {size} ranks", sides.0, sides.1));
        }
        if let Some(side) = [sides.0, sides.1].into_iter().find(|side| self.coded() && !side.is_power_of_two()) {
            return refused("gray", format!("a Gray code numbers 2^n parts, not {side}"));
        }
        Ok(())
    }

    /// Into how many parts rows and columns are cut.
    pub(super) fn sides(self, size: usize) -> (usize, usize) {
        match self {
            Storage::Rows { .. } => (size, 1),
            Storage::Submatrices { grid, .. } => grid,
        }
    }

    fn coded(self) -> bool {
        let (Storage::Rows { gray, .. } | Storage::Submatrices { gray, .. }) = self;
        gray
    }

    /// The storage with rows and columns exchanged, where that is one by submatrices.
    pub(super) fn on_its_side(self) -> Storage {
        match self {
            Storage::Submatrices { grid: (n1, n2), gray } => Storage::Submatrices { grid: (n2, n1), gray },
            rows => rows,
        }
    }

    /// Which part of the rows and which of the columns a rank has.
    pub(super) fn index(self, rank: usize, size: usize) -> (usize, usize) {
        let number = |side: usize| if self.coded() { gray_inverse(side) } else { side };
        let n2 = self.sides(size).1;
        (number(rank / n2), number(rank % n2))
    }

    /// The rank that has them.
    pub(super) fn rank(self, (i, j): (usize, usize), size: usize) -> usize {
        let number = |index: usize| if self.coded() { gray(index) } else { index };
        number(i) * self.sides(size).1 + number(j)
    }

    /// The part of a matrix of `rows` x `columns` that a rank has.
    pub(super) fn part(self, (rows, columns): (usize, usize), rank: usize, size: usize) -> Part {
        let ((i, j), (n1, n2)) = (self.index(rank, size), self.sides(size));
        match self {
            Storage::Rows { cyclic: true, .. } => Part::new(Indices::cyclic(i, rows, size), 0..columns),
            _ => Part::new(part(0..rows, i, n1), part(0..columns, j, n2)),
        }
    }

    /// In words.
    pub(super) fn words(self) -> String {
        let stored = match self {
            Storage::Rows { cyclic: false, .. } => "rows",
            Storage::Rows { cyclic: true, .. } => "cyclic rows",
            Storage::Submatrices { .. } => "submatrices",
        };
        let (n1, n2) = if let Storage::Submatrices { grid, .. } = self { grid } else { (0, 0) };
        let grid = if n1 > 0 { format!(" on {n1} x {n2} ranks") } else { String::new() };
        format!("{stored}{grid}{}", if self.coded() { ", Gray code" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reflected code, from the book: it and its inverse are the same up to 4, and no longer from 8 on.
    const GRAY: [usize; 8] = [0, 1, 3, 2, 6, 7, 5, 4];

    /// The rows of which a rank has elements.
    fn rows(storage: Storage, rank: usize) -> Vec<usize> {
        let mut rows: Vec<usize> = storage.part((16, 8), rank, 8).indices().map(|(row, _)| row).collect();
        rows.dedup();
        rows
    }

    #[test]
    fn parts_are_numbered_as_is_said() {
        for (i, code) in GRAY.into_iter().enumerate() {
            for (gray, rank) in [(true, code), (false, i)] {
                let [blocked, striped] = [false, true].map(|cyclic| rows(Storage::Rows { cyclic, gray }, rank));
                assert_eq!((blocked, striped), (vec![2 * i, 2 * i + 1], vec![i, i + 8]), "part {i}, Gray {gray}");
                let high = Storage::Submatrices { grid: (8, 1), gray };
                assert_eq!((rows(high, rank), high.rank((i, 0), 8)), (vec![2 * i, 2 * i + 1], rank));
                let wide = Storage::Submatrices { grid: (2, 8), gray };
                for k in 0..2 {
                    let rank = 8 * k + rank;
                    let part: Vec<_> = wide.part((2, 16), rank, 16).indices().collect();
                    assert_eq!((part, wide.rank((k, i), 16)), (vec![(k, 2 * i), (k, 2 * i + 1)], rank));
                }
            }
        }
    }
}
