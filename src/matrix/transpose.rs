//! The call of a matrix transposition.

use super::{options, Indices, Part};
use crate::address::gray_inverse;
use crate::algorithm::PortModel;
use crate::buffer::{Contiguous, ContiguousMut, Element};
use crate::collective::{part, Call, Collective, Layout};
use crate::error::{Error, Result};
use crate::select::Options;
use crate::Hypercube;
use std::panic::Location;

/// How a matrix is spread over the ranks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// Whole rows on every rank.
    Rows {
        /// Every size-th row (else as many consecutive rows on every rank as possible, evenly).
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

/// A transposition with options; see [`Hypercube::transpose`].
#[derive(Clone)]
#[must_use = "nothing happens before run"]
pub struct Transpose<'c> {
    cube: &'c Hypercube,
    rows: usize,
    columns: usize,
    storage: Storage,
    options: Options,
}

options!(Transpose);

impl Hypercube {
    /// The transpose of a matrix of `rows` x `columns` elements, stored as the matrix is, by the algorithms of Stout and Wagar
    /// 1990, section 7. All ranks make the call with the same numbers and storage.
    ///
    /// Stored by rows, every rank has rows of the matrix before and rows of the transpose after. Stored by submatrices on N1 x N2
    /// ranks, the transpose is on N2 x N1 ranks. What that means for this rank, [`Transpose::input`] and
    /// [`Transpose::output`] say.
    ///
    /// # Errors
    /// [`Error::Shape`] if the grid has not as many places as there are ranks, or if a Gray code is to number what is no power of
    /// two.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::matrix::Storage;
    /// hypercoll::threads::run(3, |cube| {
    ///     let transpose = cube.transpose(7, 5, Storage::Rows { cyclic: false, gray: false }).unwrap();
    ///     let matrix: Vec<u32> = transpose.input().indices().map(|(i, j)| (10 * i + j) as u32).collect();
    ///     let mut transposed = vec![0; transpose.output().len()];
    ///     let output = transpose.output();
    ///     transpose.run(&matrix, &mut transposed).unwrap();
    ///     assert!(output.indices().zip(transposed).all(|((i, j), x)| x == (10 * j + i) as u32));
    /// });
    /// ```
    pub fn transpose(&self, rows: usize, columns: usize, storage: Storage) -> Result<Transpose<'_>> {
        let size = self.size();
        let refused = |argument, why| Err(Error::Shape { argument, why });
        let sides = match storage {
            Storage::Rows { .. } => (size, 1),
            Storage::Submatrices { grid, .. } => grid,
        };
        if sides.0.checked_mul(sides.1) != Some(size) {
            return refused("grid", format!("{} x {} places for {size} ranks", sides.0, sides.1));
        }
        let (Storage::Rows { gray, .. } | Storage::Submatrices { gray, .. }) = storage;
        if let Some(side) = [sides.0, sides.1].into_iter().find(|side| gray && !side.is_power_of_two()) {
            return refused("gray", format!("a Gray code numbers 2^n parts, not {side}"));
        }
        Ok(Transpose { cube: self, rows, columns, storage, options: Options::default() })
    }
}

impl Transpose<'_> {
    /// Sets the packet size in elements, at least 1 (all ranks the same).
    pub fn packet(mut self, elements: usize) -> Self {
        self.options.packet = Some(elements);
        self
    }

    /// Uses all dimensions at once (true) or one dimension at a time (false), on all ranks the same.
    pub fn symmetrized(mut self, on: bool) -> Self {
        self.options.symmetrized = Some(on);
        self
    }

    /// This rank's part of the matrix.
    pub fn input(&self) -> Part {
        self.part(self.cube.rank(), false)
    }

    /// This rank's part of the transpose.
    pub fn output(&self) -> Part {
        self.part(self.cube.rank(), true)
    }

    /// A rank's part of the matrix or of its transpose.
    fn part(&self, rank: usize, transposed: bool) -> Part {
        let (rows, columns) = if transposed { (self.columns, self.rows) } else { (self.rows, self.columns) };
        match self.storage {
            Storage::Rows { cyclic, gray } => {
                let (size, index) = (self.cube.size(), if gray { gray_inverse(rank) } else { rank });
                let own = if cyclic { Indices::cyclic(index, rows, size) } else { part(0..rows, index, size).into() };
                Part::new(own, 0..columns)
            }
            Storage::Submatrices { grid, gray } => {
                let (n1, n2) = if transposed { (grid.1, grid.0) } else { grid };
                let number = |side: usize| if gray { gray_inverse(side) } else { side };
                let (i, j) = (number(rank / n2), number(rank % n2));
                Part::new(part(0..rows, i, n1), part(0..columns, j, n2))
            }
        }
    }

    /// Runs it: `matrix` is this rank's part of the matrix, `transposed` becomes its part of the transpose, both row after row.
    ///
    /// The library holds a copy of `matrix`, for storage by rows also one of `transposed`, besides what the algorithm needs for
    /// data on its way.
    ///
    /// # Errors
    /// [`Error::Length`], naming the buffer; options that cannot be honoured; failures of the transport.
    #[track_caller]
    pub fn run<S, R>(self, matrix: &S, transposed: &mut R) -> Result<()>
    where
        S: Contiguous + ?Sized,
        R: ContiguousMut<Element = S::Element> + ?Sized,
    {
        let (matrix, transposed) = (matrix.slice(), transposed.slice_mut());
        let at = Location::caller();
        self.check(matrix.len(), transposed.len()).map_err(|error| self.cube.refuse("transpose", error, at))?;
        match self.storage {
            Storage::Rows { .. } => self.by_rows(matrix, transposed),
            Storage::Submatrices { grid, .. } => self.by_submatrices(grid.1, matrix, transposed),
        }
    }

    /// Whether there is such a matrix, and parts of so many elements are this rank's.
    fn check(&self, matrix: usize, transposed: usize) -> Result<()> {
        self.input().expect("matrix", matrix, "this rank's part of the matrix")?;
        self.output().expect("transposed", transposed, "this rank's part of the transpose")?;
        if self.rows.checked_mul(self.columns).is_none() {
            let why = format!("{} x {}: too many elements to be counted", self.rows, self.columns);
            return Err(Error::Shape { argument: "matrix", why });
        }
        Ok(())
    }

    /// What ranks must agree on: parts that are not the same may have the same lengths.
    fn words(&self) -> String {
        let stored = match self.storage {
            Storage::Rows { cyclic: false, .. } => "rows",
            Storage::Rows { cyclic: true, .. } => "cyclic rows",
            Storage::Submatrices { .. } => "submatrices",
        };
        let (Storage::Rows { gray, .. } | Storage::Submatrices { gray, .. }) = self.storage;
        format!("{} x {} by {stored}{}", self.rows, self.columns, if gray { ", Gray code" } else { "" })
    }

    #[track_caller]
    fn by_rows<T: Element>(self, matrix: &[T], transposed: &mut [T]) -> Result<()> {
        let size = self.cube.size();
        let rows = |rank| self.part(rank, false).rows;
        let rows_after = |rank| self.part(rank, true).rows;
        let length = |from, to| rows(from).len() * rows_after(to).len();
        let call = Call::new(Collective::TransposeRows, size, 0).with_layout(Layout::of_pairs(size, length));
        // Block by block, each for a rank and column after column, so that it arrives as parts of rows.
        let mut send = vec![T::zeroed(); matrix.len()];
        let mut blocks = &mut send[..];
        for to in 0..size {
            let columns = rows_after(to);
            let (block, rest) = blocks.split_at_mut(length(self.cube.rank(), to));
            transpose_local(matrix, self.columns, rows(self.cube.rank()).len(), columns, block);
            blocks = rest;
        }
        let mut receive = vec![T::zeroed(); transposed.len()];
        self.cube.collective(call).options(&self.options).besides(&self.words()).run(&send, &mut receive)?;
        let mut blocks = &receive[..];
        for from in 0..size {
            let (block, rest) = blocks.split_at(length(from, self.cube.rank()));
            place_columns(block, rows(from), self.rows, transposed);
            blocks = rest;
        }
        Ok(())
    }

    #[track_caller]
    fn by_submatrices<T: Element>(self, columns: usize, matrix: &[T], transposed: &mut [T]) -> Result<()> {
        let size = self.cube.size();
        let lengths = (0..size).map(|rank| self.part(rank, false).len());
        let call = Call::new(Collective::TransposeSubmatrices, size, 0).with_layout(Layout::of_vectors(lengths));
        let call = call.with_grid(columns);
        let own = self.input();
        let mut send = vec![T::zeroed(); matrix.len()];
        transpose_local(matrix, own.columns.len(), own.rows.len(), (0..own.columns.len()).into(), &mut send);
        self.cube.collective(call).options(&self.options).besides(&self.words()).run(&send, transposed)
    }
}

/// Rows and columns of a tile: two tiles of 8-byte elements fit the smallest caches.
const TILE: usize = 32;

/// The transpose of some columns of a matrix of `rows` rows, `width` elements a row, into `block`.
fn transpose_local<T: Copy>(matrix: &[T], width: usize, rows: usize, columns: Indices, block: &mut [T]) {
    for first_row in (0..rows).step_by(TILE) {
        for first in (0..columns.len()).step_by(TILE) {
            for column in first..columns.len().min(first + TILE) {
                let last_row = rows.min(first_row + TILE);
                let target = &mut block[column * rows + first_row..column * rows + last_row];
                let source = matrix[first_row * width + columns.at(column)..].iter().step_by(width);
                target.iter_mut().zip(source).for_each(|(target, source)| *target = *source);
            }
        }
    }
}

/// Puts the rows of a block into some columns of a matrix, `width` elements a row.
fn place_columns<T: Copy>(block: &[T], columns: Indices, width: usize, matrix: &mut [T]) {
    if columns.is_empty() {
        return;
    }
    for (row, source) in block.chunks_exact(columns.len()).enumerate() {
        let target = &mut matrix[row * width..(row + 1) * width];
        match columns.range() {
            Some(range) => target[range].copy_from_slice(source),
            None => columns.iter().zip(source).for_each(|(column, &source)| target[column] = source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::registry;
    use crate::threads;

    #[test]
    fn local_transposition() {
        for (rows, width) in [(0, 3), (1, 1), (5, 7), (70, 33), (64, 100)] {
            let matrix: Vec<usize> = (0..rows * width).collect();
            for columns in [(0..width).into(), Indices::cyclic(1, width, 3)] {
                let mut block = vec![usize::MAX; rows * columns.len()];
                transpose_local(&matrix, width, rows, columns, &mut block);
                let expected: Vec<usize> =
                    columns.iter().flat_map(|column| (0..rows).map(move |row| row * width + column)).collect();
                assert_eq!(block, expected);
                // And back: the block's rows into the columns they came from.
                let mut back = vec![usize::MAX; width * rows];
                let upright: Vec<usize> =
                    (0..rows).flat_map(|row| columns.iter().map(move |column| row * width + column)).collect();
                place_columns(&upright, columns, width, &mut back);
                let right = |(at, &value): (usize, &usize)| {
                    value == if columns.iter().any(|column| column == at % width) { at } else { usize::MAX }
                };
                assert!(back.iter().enumerate().all(right));
            }
        }
    }

    /// Every element is on one rank before and on one after.
    #[test]
    fn parts_cover_the_matrix() {
        for size in [1, 2, 4, 6, 8] {
            let mut storages = Vec::new();
            for gray in [false, true] {
                storages.extend([true, false].map(|cyclic| Storage::Rows { cyclic, gray }));
                let sides = (1..=size).filter(|n1| size % n1 == 0);
                storages.extend(sides.map(|n1| Storage::Submatrices { grid: (n1, size / n1), gray }));
            }
            let parts = threads::run(size, |cube| {
                let calls = storages.iter().filter_map(|&storage| cube.transpose(5, 13, storage).ok());
                calls.map(|call| (call.input(), call.output())).collect::<Vec<_>>()
            });
            assert!(size == 6 || parts[0].len() == storages.len());
            for at in 0..parts[0].len() {
                let mut before = vec![0; 65];
                let mut after = vec![0; 65];
                for rank in &parts {
                    rank[at].0.indices().for_each(|(i, j)| before[i * 13 + j] += 1);
                    rank[at].1.indices().for_each(|(i, j)| after[i * 5 + j] += 1);
                }
                assert!(before.iter().chain(&after).all(|&times| times == 1), "{size} ranks, storage {at}");
            }
        }
    }

    /// The definition, for all storages and sides that nothing divides.
    #[test]
    fn transposes_are_transposes() {
        for size in [1, 2, 3, 4, 6, 8, 16] {
            threads::run(size, |cube| {
                let grids = (1..=size).filter(|n1| size % n1 == 0).map(|n1| (n1, size / n1));
                let storages = [false, true].into_iter().flat_map(|gray| {
                    let submatrices = grids.clone().map(move |grid| Storage::Submatrices { grid, gray });
                    [false, true].map(|cyclic| Storage::Rows { cyclic, gray }).into_iter().chain(submatrices)
                });
                for storage in storages {
                    for (rows, columns) in [(8, 8), (1, 1), (0, 4), (13, 7), (5, 64), (48, 32)] {
                        let gray_fits = match storage {
                            Storage::Rows { gray, .. } => !gray || size.is_power_of_two(),
                            Storage::Submatrices { grid: (n1, n2), gray } => {
                                !gray || n1.is_power_of_two() && n2.is_power_of_two()
                            }
                        };
                        let Ok(call) = cube.transpose(rows, columns, storage) else {
                            assert!(!gray_fits, "{storage:?}");
                            continue;
                        };
                        let (input, output) = (call.input(), call.output());
                        let matrix: Vec<u64> = input.indices().map(|(i, j)| (1000 * i + j) as u64).collect();
                        let mut transposed = vec![u64::MAX; output.len()];
                        call.run(&matrix, &mut transposed).unwrap();
                        let expected: Vec<u64> = output.indices().map(|(i, j)| (1000 * j + i) as u64).collect();
                        assert_eq!(transposed, expected, "{storage:?} {rows} x {columns} on {size} ranks");
                    }
                }
            });
        }
        // There is something to choose from.
        for collective in [Collective::TransposeRows, Collective::TransposeSubmatrices] {
            assert!(registry::of(collective).count() > 0, "{collective}");
        }
    }

    #[test]
    fn bad_input_is_named() {
        threads::run(6, |cube| {
            let error =
                |storage| cube.transpose(4, 4, storage).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error(Storage::Submatrices { grid: (2, 2), gray: false }).starts_with("grid: 2 x 2"));
            assert!(error(Storage::Submatrices { grid: (2, 3), gray: true }).starts_with("gray: "));
            assert!(error(Storage::Rows { cyclic: false, gray: true }).starts_with("gray: "));
            let call = cube.transpose(4, 4, Storage::Rows { cyclic: true, gray: false }).unwrap();
            let (input, output) = (vec![0u8; call.input().len()], vec![0; call.output().len()]);
            let error = call.clone().run(&[&input[..], &[1]].concat(), &mut output.clone()).unwrap_err();
            assert!(error.to_string().starts_with("matrix: "), "{error}");
            let error = call.run(&input, &mut [&output[..], &[1]].concat()).unwrap_err();
            assert!(error.to_string().starts_with("transposed: "), "{error}");
        });
    }
}
