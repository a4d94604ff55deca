//! The calls that rearrange a matrix: transposed, turned, or stored in another way.

use super::block::{copy_in, copy_out, Lie};
use super::motion::{Motion, Turn, STAY, TRANSPOSE};
use super::{options, Part, Storage};
use crate::algorithm::PortModel;
use crate::buffer::{Contiguous, ContiguousMut, Element};
use crate::collective::{Call, Collective, Layout};
use crate::error::{Error, Result};
use crate::select::Options;
use crate::Hypercube;
use std::panic::Location;

/// A matrix that is transposed, turned, or stored in another way, with options; see [`Hypercube::transpose`], [`Hypercube::turn`] and
/// [`Hypercube::redistribute`].
#[derive(Clone)]
#[must_use = "nothing happens before run"]
pub struct Rearrangement<'c> {
    cube: &'c Hypercube,
    /// Rows and columns of the matrix, before.
    sides: (usize, usize),
    motion: Motion,
    before: Storage,
    after: Storage,
    options: Options,
}

options!(Rearrangement);

impl Hypercube {
    /// The transpose of a matrix of `rows` x `columns` elements, stored as the matrix is, by the algorithms of Stout and Wagar
    /// 1990, section 7. All ranks make the call with the same numbers and storage.
    ///
    /// Stored by rows, every rank has rows of the matrix before and rows of the transpose after. Stored by submatrices on N1 x N2
    /// ranks, the transpose is on N2 x N1 ranks. What that means for this rank, [`Rearrangement::input`] and
    /// [`Rearrangement::output`] say.
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
    pub fn transpose(&self, rows: usize, columns: usize, storage: Storage) -> Result<Rearrangement<'_>> {
        self.rearrange((rows, columns), TRANSPOSE, storage, storage.on_its_side())
    }

    /// A matrix of `rows` x `columns` elements, turned by a quarter or a half and stored as it is: Stout and Wagar 1990, section 10. All
    /// ranks make the call with the same numbers and storage.
    ///
    /// Stored by submatrices on N1 x N2 ranks, a matrix turned by a quarter is on N2 x N1 ranks. Where the parts are equal, or fall
    /// onto parts at least, each goes to one rank whole: by [`Collective::QuarterTurn`], or, as after a half turn, by
    /// [`Collective::Permute`]. Elsewhere every rank may have something for every other one ([`Collective::AllToAll`]).
    ///
    /// # Errors
    /// As [`Hypercube::transpose`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::matrix::{Storage, Turn};
    /// hypercoll::threads::run(4, |cube| {
    ///     let turn = cube.turn(6, 8, Turn::Right, Storage::Submatrices { grid: (2, 2), gray: false }).unwrap();
    ///     let matrix: Vec<u32> = turn.input().indices().map(|(i, j)| (10 * i + j) as u32).collect();
    ///     let mut turned = vec![0; turn.output().len()];
    ///     let output = turn.output();
    ///     turn.run(&matrix, &mut turned).unwrap();
    ///     // The first row is what was the first column, from below.
    ///     assert!(output.indices().zip(turned).all(|((i, j), x)| x == (10 * (5 - j) + i) as u32));
    /// });
    /// ```
    pub fn turn(&self, rows: usize, columns: usize, turn: Turn, storage: Storage) -> Result<Rearrangement<'_>> {
        let after = if turn == Turn::Half { storage } else { storage.on_its_side() };
        self.rearrange((rows, columns), turn.into(), storage, after)
    }

    /// A matrix of `rows` x `columns` elements, stored in one way before and in another after: from striped to blocked rows and
    /// back, from rows to submatrices, from one grid to another. All ranks make the call with the same numbers and storages.
    ///
    /// Between striped and blocked rows it is a complete exchange: Stout and Wagar 1990, section 10. Where a part becomes another
    /// rank's whole part, as from a plain numbering to a Gray code, it is a permutation.
    ///
    /// # Errors
    /// As [`Hypercube::transpose`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::matrix::Storage;
    /// let blocked = hypercoll::threads::run(2, |cube| {
    ///     let [striped, blocked] = [true, false].map(|cyclic| Storage::Rows { cyclic, gray: false });
    ///     // Rows 0 and 2 on rank 0, rows 1 and 3 on rank 1.
    ///     let mut rows = [0; 2];
    ///     cube.redistribute(4, 1, striped, blocked).unwrap().run(&[cube.rank(), cube.rank() + 2], &mut rows).unwrap();
    ///     rows
    /// });
    /// assert_eq!(blocked, [[0, 1], [2, 3]]);
    /// ```
    pub fn redistribute(
        &self,
        rows: usize,
        columns: usize,
        before: Storage,
        after: Storage,
    ) -> Result<Rearrangement<'_>> {
        self.rearrange((rows, columns), STAY, before, after)
    }

    fn rearrange(
        &self,
        sides: (usize, usize),
        motion: Motion,
        before: Storage,
        after: Storage,
    ) -> Result<Rearrangement<'_>> {
        before.check(self.size())?;
        after.check(self.size())?;
        Ok(Rearrangement { cube: self, sides, motion, before, after, options: Options::default() })
    }
}

impl Rearrangement<'_> {
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
        self.part_before(self.cube.rank())
    }

    /// This rank's part of the result.
    pub fn output(&self) -> Part {
        self.part_after(self.cube.rank())
    }

    fn part_before(&self, rank: usize) -> Part {
        self.before.part(self.sides, rank, self.cube.size())
    }

    fn part_after(&self, rank: usize) -> Part {
        self.after.part(self.motion.sides(self.sides), rank, self.cube.size())
    }

    /// What becomes of a rank's part of the matrix: part of the result.
    fn image(&self, rank: usize) -> Part {
        self.motion.image(self.part_before(rank), self.sides)
    }

    /// Runs it: `matrix` is this rank's part of the matrix, `result` becomes its part of the result, both row after row.
    ///
    /// The library holds a copy of `matrix`, and one of `result` where every rank has something for every other one, besides what the
    /// algorithm needs for data on its way.
    ///
    /// # Errors
    /// [`Error::Length`], naming the buffer; options that cannot be honoured; failures of the transport.
    #[track_caller]
    pub fn run<S, R>(self, matrix: &S, result: &mut R) -> Result<()>
    where
        S: Contiguous + ?Sized,
        R: ContiguousMut<Element = S::Element> + ?Sized,
    {
        let (matrix, result) = (matrix.slice(), result.slice_mut());
        let at = Location::caller();
        self.check(matrix.len(), result.len()).map_err(|error| self.cube.refuse(self.name(), error, at))?;
        match self.targets() {
            Some(targets) => self.in_wholes(targets, matrix, result),
            None => self.between_pairs(matrix, result),
        }
    }

    /// The call, in a word.
    fn name(&self) -> &'static str {
        match self.motion {
            TRANSPOSE => "transpose",
            STAY => "redistribute",
            _ => "turn",
        }
    }

    /// Whether there is such a matrix, and parts of so many elements are this rank's.
    fn check(&self, matrix: usize, result: usize) -> Result<()> {
        self.input().expect("matrix", matrix, "this rank's part of the matrix")?;
        self.output().expect("result", result, "this rank's part of the result")?;
        if self.sides.0.checked_mul(self.sides.1).is_none() {
            let why = format!("{} x {}: too many elements to be counted", self.sides.0, self.sides.1);
            return Err(Error::Shape { argument: "matrix", why });
        }
        Ok(())
    }

    /// What ranks must agree on: parts that are not the same may have the same lengths.
    fn words(&self) -> String {
        let Rearrangement { sides: (rows, columns), motion, before, after, .. } = self;
        let after = if after == before { String::new() } else { format!(" and then by {}", after.words()) };
        format!("{rows} x {columns} by {}{after}{}", before.words(), motion.words)
    }

    /// The rank to which each rank's part goes, if it becomes all of what that one has. (Of a matrix stored by rows that is transposed,
    /// every rank has something for every other one, but if there is one rank only.)
    fn targets(&self) -> Option<Vec<usize>> {
        let size = self.cube.size();
        let grid = self.before.sides(size);
        let by_rows = matches!(self.before, Storage::Rows { .. });
        if self.motion.sides(grid) != self.after.sides(size) || by_rows && self.motion.swaps {
            return None;
        }
        let target = |rank: usize| {
            let to = self.after.rank(self.motion.target(self.before.index(rank, size), grid), size);
            let (image, after) = (self.image(rank), self.part_after(to));
            let common = image.meet(after).len();
            (common == image.len() && common == after.len()).then_some(to)
        };
        (0..size).map(target).collect()
    }

    #[track_caller]
    fn in_wholes<T: Element>(self, targets: Vec<usize>, matrix: &[T], result: &mut [T]) -> Result<()> {
        let size = self.cube.size();
        let collective = match self.motion {
            TRANSPOSE => Collective::TransposeSubmatrices,
            Motion { swaps: true, .. } => Collective::QuarterTurn,
            _ => Collective::Permute,
        };
        let lengths = (0..size).map(|rank| self.part_before(rank).len());
        let call = Call { permutation: Some(targets.into()), ..Call::new(collective, size, 0) };
        let call = call.with_layout(Layout::of_vectors(lengths));
        let mut send = vec![T::zeroed(); matrix.len()];
        self.pack(self.image(self.cube.rank()), matrix, &mut send);
        self.cube.collective(call).options(&self.options).besides(&self.words()).run(&send, result)
    }

    #[track_caller]
    fn between_pairs<T: Element>(self, matrix: &[T], result: &mut [T]) -> Result<()> {
        let (size, own) = (self.cube.size(), self.cube.rank());
        let by_rows = matches!(self.before, Storage::Rows { .. });
        let collective =
            if self.motion == TRANSPOSE && by_rows { Collective::TransposeRows } else { Collective::AllToAll };
        let images: Vec<Part> = (0..size).map(|rank| self.image(rank)).collect();
        let parts: Vec<Part> = (0..size).map(|rank| self.part_after(rank)).collect();
        let block = |from: usize, to: usize| images[from].meet(parts[to]);
        let call = Call::new(collective, size, 0).with_layout(Layout::of_pairs(size, |from, to| block(from, to).len()));
        // Block by block, each as a block of the result.
        let mut send = vec![T::zeroed(); matrix.len()];
        let mut rest = &mut send[..];
        for to in 0..size {
            let (packed, others) = rest.split_at_mut(block(own, to).len());
            self.pack(block(own, to), matrix, packed);
            rest = others;
        }
        let mut receive = vec![T::zeroed(); result.len()];
        self.cube.collective(call).options(&self.options).besides(&self.words()).run(&send, &mut receive)?;
        let mut rest = &receive[..];
        for from in 0..size {
            let (packed, others) = rest.split_at(block(from, own).len());
            copy_in(packed, block(from, own), parts[own], result);
            rest = others;
        }
        Ok(())
    }

    /// Copies a block of the result out of this rank's part of the matrix, which has all of it.
    fn pack<T: Copy>(&self, block: Part, matrix: &[T], packed: &mut [T]) {
        if block.is_empty() {
            return;
        }
        let own = self.input();
        let at = |row: usize, column: usize| {
            own.offset(self.motion.source((block.rows.at(row), block.columns.at(column)), self.sides))
        };
        let first = at(0, 0);
        let apart = |second: Option<usize>| second.map_or(0, |second| second as isize - first as isize);
        let row = apart((block.rows.len() > 1).then(|| at(1, 0)));
        let column = apart((block.columns.len() > 1).then(|| at(0, 1)));
        copy_out(matrix, Lie { first, row, column }, block.rows.len(), block.columns.len(), packed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::registry;
    use crate::threads;

    /// All storages for a number of ranks, but for those that are refused.
    fn storages(size: usize) -> Vec<Storage> {
        let mut storages = Vec::new();
        for gray in [false, true] {
            storages.extend([true, false].map(|cyclic| Storage::Rows { cyclic, gray }));
            let sides = (1..=size).filter(|n1| size.is_multiple_of(*n1));
            storages.extend(sides.map(|n1| Storage::Submatrices { grid: (n1, size / n1), gray }));
        }
        storages.retain(|storage| storage.check(size).is_ok());
        storages
    }

    /// All rearrangements, each with where an element comes from, by its definition.
    fn all(cube: &Hypercube, (rows, columns): (usize, usize)) -> Vec<(Rearrangement<'_>, Motion)> {
        let mut calls = Vec::new();
        for before in storages(cube.size()) {
            calls.push((cube.transpose(rows, columns, before).unwrap(), TRANSPOSE));
            for turn in [Turn::Right, Turn::Half, Turn::Left] {
                calls.push((cube.turn(rows, columns, turn, before).unwrap(), turn.into()));
            }
            for after in storages(cube.size()) {
                calls.push((cube.redistribute(rows, columns, before, after).unwrap(), STAY));
            }
        }
        calls
    }

    /// Every element is on one rank before and on one after.
    #[test]
    fn parts_cover_the_matrix() {
        for size in [1, 2, 4, 6, 8] {
            let parts = threads::run(size, |cube| {
                all(cube, (5, 13)).iter().map(|(call, _)| (call.input(), call.output())).collect::<Vec<_>>()
            });
            for at in 0..parts[0].len() {
                let (mut before, mut after) = ([0; 65], [0; 13 * 13]);
                for rank in &parts {
                    rank[at].0.indices().for_each(|(i, j)| before[i * 13 + j] += 1);
                    rank[at].1.indices().for_each(|(i, j)| after[i * 13 + j] += 1);
                }
                assert!(before.iter().all(|&times| times == 1), "{size} ranks, call {at}");
                assert_eq!(after.iter().sum::<usize>(), 65, "{size} ranks, call {at}");
                assert!(after.iter().all(|&times| times <= 1), "{size} ranks, call {at}");
            }
        }
    }

    /// Where an element of the result comes from, by the definition.
    fn origin(motion: Motion, (rows, columns): (usize, usize), (row, column): (usize, usize)) -> (usize, usize) {
        match motion.words {
            "" => (row, column),
            ", transposed" => (column, row),
            ", turned right" => (rows - 1 - column, row),
            ", turned left" => (column, columns - 1 - row),
            ", turned by a half" => (rows - 1 - row, columns - 1 - column),
            other => panic!("{other}"),
        }
    }

    /// The definitions, for all storages and sides that nothing divides.
    #[test]
    fn elements_come_to_their_places() {
        for size in [1, 2, 3, 4, 6, 8, 16] {
            threads::run(size, |cube| {
                let few = size > 8;
                for sides in [(8, 8), (1, 1), (0, 4), (13, 7), (5, 64), (48, 32)] {
                    for (call, motion) in all(cube, sides) {
                        if few && motion == STAY && sides.1 > 32 {
                            continue;
                        }
                        let case = format!("{} on {size} ranks", call.words());
                        let (input, output) = (call.input(), call.output());
                        let value = |(i, j): (usize, usize)| (1000 * i + j) as u64;
                        let matrix: Vec<u64> = input.indices().map(value).collect();
                        let mut result = vec![u64::MAX; output.len()];
                        call.run(&matrix, &mut result).unwrap();
                        let expected = output.indices().map(|at| value(origin(motion, sides, at)));
                        assert!(expected.eq(result), "{case}");
                    }
                }
            });
        }
        // There is something to choose from.
        for collective in [Collective::TransposeRows, Collective::TransposeSubmatrices, Collective::QuarterTurn] {
            assert!(registry::of(collective).count() > 0, "{collective}");
        }
    }

    /// Which collective serves what, and by which algorithm of the paper where every link counts.
    #[test]
    fn whole_parts_are_permuted() {
        threads::run(16, |cube| {
            let grid = |gray| Storage::Submatrices { grid: (4, 4), gray };
            let rows = |cyclic| Storage::Rows { cyclic, gray: false };
            let cases = [
                (cube.turn(16, 16, Turn::Right, grid(false)), Some(Collective::QuarterTurn), "squares"),
                (cube.turn(16, 16, Turn::Left, grid(true)), Some(Collective::QuarterTurn), "squares"),
                (cube.turn(16, 16, Turn::Half, grid(false)), Some(Collective::Permute), "inversion"),
                (cube.turn(16, 16, Turn::Half, grid(true)), Some(Collective::Permute), "inversion"),
                (cube.turn(16, 16, Turn::Half, rows(true)), Some(Collective::Permute), "inversion"),
                (cube.transpose(16, 12, grid(false)), Some(Collective::TransposeSubmatrices), "lc_inversion"),
                (cube.turn(16, 16, Turn::Right, rows(false)), None, "complete_exchange"),
                (cube.redistribute(32, 3, rows(true), rows(false)), None, "complete_exchange"),
                (cube.turn(17, 16, Turn::Half, grid(false)), None, "complete_exchange"),
            ];
            for (call, permuted, algorithm) in cases {
                let call = call.unwrap().ports(PortModel::AllPorts).algorithm(algorithm);
                assert_eq!(call.targets().is_some(), permuted.is_some(), "{}", call.words());
                let (matrix, mut result) = (vec![0u8; call.input().len()], vec![0; call.output().len()]);
                call.run(&matrix, &mut result).unwrap();
                let what_ran = cube.explain_last();
                let collective = permuted.unwrap_or(Collective::AllToAll).name();
                assert!(what_ran.contains(collective) && what_ran.contains(algorithm), "{what_ran}");
            }
        });
    }

    #[test]
    fn bad_input_is_named() {
        threads::run(6, |cube| {
            let error =
                |storage| cube.transpose(4, 4, storage).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error(Storage::Submatrices { grid: (2, 2), gray: false }).starts_with("grid: 2 x 2"));
            assert!(error(Storage::Submatrices { grid: (2, 3), gray: true }).starts_with("gray: "));
            assert!(error(Storage::Rows { cyclic: false, gray: true }).starts_with("gray: "));
            let striped = Storage::Rows { cyclic: true, gray: false };
            let after = Storage::Submatrices { grid: (4, 2), gray: false };
            let refused = cube.redistribute(4, 4, striped, after).err().map(|error| error.to_string());
            assert!(refused.is_some_and(|why| why.starts_with("grid: 4 x 2")));
            let call = cube.turn(4, 4, Turn::Right, striped).unwrap();
            let (input, output) = (vec![0u8; call.input().len()], vec![0; call.output().len()]);
            let error = call.clone().run(&[&input[..], &[1]].concat(), &mut output.clone()).unwrap_err();
            assert!(error.to_string().starts_with("matrix: "), "{error}");
            let error = call.run(&input, &mut [&output[..], &[1]].concat()).unwrap_err();
            assert!(error.to_string().starts_with("result: "), "{error}");
        });
    }
}
