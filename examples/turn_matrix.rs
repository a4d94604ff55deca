//! A picture that is spread over the ranks as tiles is turned, and comes back after four quarters; and rows that were dealt out to the
//! ranks in turn, as an elimination wants them, are dealt out in blocks, as a file wants them.
//!
//! ```text
//! cargo run --release --example turn_matrix -- --threads 16
//! mpirun -n 6 target/release/examples/turn_matrix
//! ```

mod common;

use hypercoll::matrix::{Rearrangement, Storage, Turn};
use hypercoll::Hypercube;

const ROWS: usize = 480;
const COLUMNS: usize = 640;

/// The brightness of the picture in a row and a column.
fn pixel(row: usize, column: usize) -> u32 {
    (row * 65536 + column) as u32
}

/// Runs a rearrangement, and says what ran.
fn run(cube: &Hypercube, what: &str, call: Rearrangement<'_>, pixels: &[u32]) -> Vec<u32> {
    let mut result = vec![0; call.output().len()];
    call.run(pixels, &mut result).expect(what);
    let what_ran = cube.explain_last();
    if cube.rank() == 0 {
        println!("{what}:\n  rank 0: {what_ran}");
    }
    result
}

fn main() {
    common::run(|cube| {
        let size = cube.size();
        // As square a grid as there is.
        let n1 = (1..=size).filter(|n1| size % n1 == 0 && n1 * n1 <= size).max().unwrap_or(1);
        let mut grid = (n1, size / n1);
        let mut sides = (ROWS, COLUMNS);
        let first = cube.turn(ROWS, COLUMNS, Turn::Right, Storage::Submatrices { grid, gray: false });
        let picture: Vec<u32> = first.expect("a grid").input().indices().map(|(i, j)| pixel(i, j)).collect();
        let mut turned = picture.clone();
        for quarter in 1..=4 {
            let storage = Storage::Submatrices { grid, gray: false };
            let call = cube.turn(sides.0, sides.1, Turn::Right, storage).expect("a grid for this many ranks");
            let places: Vec<(usize, usize)> = call.output().indices().collect();
            turned = run(cube, &format!("{} x {} pixels, quarter {quarter}", sides.0, sides.1), call, &turned);
            if quarter == 1 {
                // The first row is what was the first column, from below.
                assert!(places.iter().zip(&turned).all(|(&(i, j), &value)| value == pixel(ROWS - 1 - j, i)));
            }
            (sides, grid) = ((sides.1, sides.0), (grid.1, grid.0));
        }
        assert_eq!(turned, picture, "four quarters are a whole turn");

        let [striped, blocked] = [true, false].map(|cyclic| Storage::Rows { cyclic, gray: false });
        let call = cube.redistribute(ROWS, COLUMNS, striped, blocked).expect("rows for any number of ranks");
        let (input, output) = (call.input(), call.output());
        let rows: Vec<u32> = input.indices().map(|(i, j)| pixel(i, j)).collect();
        let rows = run(cube, "from striped to blocked rows", call, &rows);
        assert!(output.indices().zip(rows).all(|((i, j), value)| value == pixel(i, j)));
        cube.barrier().expect("barrier");
    });
}
