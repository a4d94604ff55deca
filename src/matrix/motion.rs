//! How a matrix moves when it is transposed or turned: where each element, and each part, goes and comes from.

use super::Part;

/// By how much a matrix is turned, clockwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Turn {
    /// By a quarter to the right: element (i, j) of R rows becomes element (j, R - 1 - i).
    Right,
    /// By a half: element (i, j) of R rows and C columns becomes element (R - 1 - i, C - 1 - j).
    Half,
    /// By a quarter to the left: element (i, j) of C columns becomes element (C - 1 - j, i).
    Left,
}

/// Where elements go: rows and columns change places, if at all, and then are counted from the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Motion {
    pub(super) swaps: bool,
    flips_rows: bool,
    flips_columns: bool,
    /// Said to users; names the motion.
    pub(super) words: &'static str,
}

/// Nothing moves.
pub(super) const STAY: Motion = Motion { swaps: false, flips_rows: false, flips_columns: false, words: "" };
/// Rows become columns.
pub(super) const TRANSPOSE: Motion = Motion { swaps: true, words: ", transposed", ..STAY };

impl From<Turn> for Motion {
    fn from(turn: Turn) -> Motion {
        match turn {
            Turn::Right => Motion { flips_columns: true, words: ", turned right", ..TRANSPOSE },
            Turn::Half => Motion { flips_rows: true, flips_columns: true, words: ", turned by a half", ..STAY },
            Turn::Left => Motion { flips_rows: true, words: ", turned left", ..TRANSPOSE },
        }
    }
}

impl Motion {
    /// The sides of what becomes of a matrix, or of a grid, with these sides.
    pub(super) fn sides(self, (rows, columns): (usize, usize)) -> (usize, usize) {
        if self.swaps {
            (columns, rows)
        } else {
            (rows, columns)
        }
    }

    /// Where an element goes.
    pub(super) fn target(self, (i, j): (usize, usize), sides: (usize, usize)) -> (usize, usize) {
        let ((row, column), (rows, columns)) = (self.sides((i, j)), self.sides(sides));
        let row = if self.flips_rows { rows - 1 - row } else { row };
        (row, if self.flips_columns { columns - 1 - column } else { column })
    }

    /// Where an element comes from.
    pub(super) fn source(self, (row, column): (usize, usize), sides: (usize, usize)) -> (usize, usize) {
        let (rows, columns) = self.sides(sides);
        let row = if self.flips_rows { rows - 1 - row } else { row };
        self.sides((row, if self.flips_columns { columns - 1 - column } else { column }))
    }

    /// What becomes of a part of a matrix.
    pub(super) fn image(self, part: Part, sides: (usize, usize)) -> Part {
        let (rows, columns) = self.sides(sides);
        let (own_rows, own_columns) = if self.swaps { (part.columns, part.rows) } else { (part.rows, part.columns) };
        Part {
            rows: if self.flips_rows { own_rows.mirrored(rows) } else { own_rows },
            columns: if self.flips_columns { own_columns.mirrored(columns) } else { own_columns },
        }
    }
}
