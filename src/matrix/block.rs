//! Blocks of a matrix: copied out of a part, in whatever direction rows and columns go there, and into one.

use super::{Indices, Part};

/// Rows and columns of a tile: two tiles of 8-byte elements fit the smallest caches.
const TILE: usize = 32;

/// Where the elements of a block lie in a buffer: the first one, and how far apart rows and columns are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lie {
    pub first: usize,
    pub row: isize,
    pub column: isize,
}

/// Copies a block of `rows` x `columns` that lies so in `source` into `block`, row after row.
pub(super) fn copy_out<T: Copy>(source: &[T], lie: Lie, rows: usize, columns: usize, block: &mut [T]) {
    let at = |row: usize, column: usize| {
        lie.first.wrapping_add_signed(row as isize * lie.row + column as isize * lie.column)
    };
    let tile = if lie.column.unsigned_abs() == 1 { columns.max(1) } else { TILE };
    for first_row in (0..rows).step_by(TILE) {
        for first in (0..columns).step_by(tile) {
            for row in first_row..rows.min(first_row + TILE) {
                let target = &mut block[row * columns + first..row * columns + columns.min(first + tile)];
                copy_line(source, at(row, first), lie.column, target);
            }
        }
    }
}

/// Copies every `step`-th element from `first` on, forwards or backwards.
fn copy_line<T: Copy>(source: &[T], first: usize, step: isize, target: &mut [T]) {
    let apart = step.unsigned_abs().max(1);
    let copy = |(target, source): (&mut T, &T)| *target = *source;
    match step {
        1 => target.copy_from_slice(&source[first..first + target.len()]),
        0.. => target.iter_mut().zip(source[first..].iter().step_by(apart)).for_each(copy),
        _ => target.iter_mut().zip(source[..=first].iter().rev().step_by(apart)).for_each(copy),
    }
}

/// Copies a block into its place in a part that contains it, both stored row after row.
pub(super) fn copy_in<T: Copy>(block: &[T], place: Part, part: Part, buffer: &mut [T]) {
    if place.is_empty() {
        return;
    }
    let (rows, columns) = (place.rows.positions_in(part.rows), place.columns.positions_in(part.columns));
    let width = part.columns.len();
    for (row, source) in rows.iter().zip(block.chunks_exact(columns.len())) {
        let target = &mut buffer[row * width..(row + 1) * width];
        match columns.range() {
            Some(range) => target[range].copy_from_slice(source),
            None => columns.iter().zip(source).for_each(|(column, &source)| target[column] = source),
        }
    }
}

impl Indices {
    /// How many positions to the right an index is, of one that is here or in between.
    fn position(self, index: usize) -> usize {
        (index - self.first) / self.step
    }

    /// The positions of these indices among others, which contain them.
    fn positions_in(self, others: Indices) -> Indices {
        Indices { first: others.position(self.first), step: (self.step / others.step).max(1), len: self.len }
    }

    /// The index `whole` - 1 - i for every i of these.
    pub(super) fn mirrored(self, whole: usize) -> Indices {
        match self.len {
            0 => self,
            len => Indices { first: whole - 1 - self.at(len - 1), ..self },
        }
    }

    /// The indices that are here and there. One of them has no gaps, or both have equal ones.
    pub(super) fn meet(self, other: Indices) -> Indices {
        let (wide, dense) = if self.step >= other.step { (self, other) } else { (other, self) };
        let none = Indices { len: 0, ..wide };
        if wide.len == 0 || dense.len == 0 {
            return none;
        }
        if dense.step > 1 && dense.first % dense.step != wide.first % wide.step {
            return none;
        }
        let skipped = dense.first.saturating_sub(wide.first).div_ceil(wide.step);
        let (first, last) = (wide.at(skipped), wide.at(wide.len - 1).min(dense.at(dense.len - 1)));
        let len = if first > last { 0 } else { (last - first) / wide.step + 1 };
        Indices { first, step: wide.step, len }
    }
}

impl Part {
    /// The elements that are here and there.
    pub(super) fn meet(self, other: Part) -> Part {
        Part { rows: self.rows.meet(other.rows), columns: self.columns.meet(other.columns) }
    }

    /// Where an element of it is in its buffer; row and column of the whole matrix.
    pub(super) fn offset(self, (row, column): (usize, usize)) -> usize {
        self.rows.position(row) * self.columns.len() + self.columns.position(column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sets.
    #[test]
    fn indices_meet() {
        let mut all: Vec<Indices> = (0..7).flat_map(|a| (a..8).map(move |b| (a..b).into())).collect();
        all.extend((0..8).map(|first| Indices::cyclic(first, 8, 3)));
        for a in &all {
            let mirrored: Vec<usize> = a.iter().map(|i| 9 - i).collect();
            assert!(a.mirrored(10).iter().eq(mirrored.into_iter().rev()));
            for b in &all {
                let both: Vec<usize> = a.iter().filter(|i| b.iter().any(|j| j == *i)).collect();
                let found = a.meet(*b);
                assert_eq!(found.iter().collect::<Vec<_>>(), both, "{a:?} {b:?}");
                if !both.is_empty() {
                    let positions: Vec<usize> = found.positions_in(*a).iter().collect();
                    assert!(positions.into_iter().map(|position| a.at(position)).eq(both));
                }
            }
        }
    }

    /// Forwards, backwards and on its side, across tiles.
    #[test]
    fn blocks_are_copied_as_they_lie() {
        let (height, width) = (70usize, 45usize);
        let matrix: Vec<usize> = (0..height * width).collect();
        let (right, down) = (1, width as isize);
        let last = height * width - 1;
        for (first, row, column, rows, columns) in [
            (0, down, right, height, width),
            (0, right, down, width, height),
            (last, -down, -right, height, width),
            (width - 1, -right, down, width, height),
            ((height - 1) * width, right, -down, width, height),
            (3, 2 * down, 3 * right, 35, 14),
        ] {
            let mut block = vec![0; rows * columns];
            copy_out(&matrix, Lie { first, row, column }, rows, columns, &mut block);
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let at = first as isize + i as isize * row + j as isize * column;
                assert_eq!(block[i * columns + j], at as usize);
            }
        }
        let part = Part::new(10..20, Indices::cyclic(1, 30, 4));
        let place = Part::new(12..15, Indices::cyclic(9, 30, 8));
        let mut buffer = vec![0; part.len()];
        copy_in(&[1, 2, 3, 4, 5, 6, 7, 8, 9], place, part, &mut buffer);
        let right = |((row, column), &value): ((usize, usize), &usize)| {
            let inside = (12..15).contains(&row) && column % 8 == 1 && column > 8;
            value == if inside { (row - 12) * 3 + (column - 9) / 8 + 1 } else { 0 }
        };
        assert!(part.indices().zip(&buffer).all(right));
    }
}
