//! The transpose of a matrix that is spread over the ranks, in the ways in which programs spread matrices: by rows, consecutive
//! as in a parallel FFT or cyclic as in an elimination, and by submatrices on a grid.
//!
//! (The example `transpose` does the first of them by hand, with an all-to-all.)
//!
//! ```text
//! cargo run --release --example transpose_matrix -- --threads 8
//! mpirun -n 6 target/release/examples/transpose_matrix
//! ```

mod common;

use hypercoll::matrix::Storage;

const ROWS: usize = 301;
const COLUMNS: usize = 500;

/// The element of the whole matrix in a row and a column.
fn element(row: usize, column: usize) -> f64 {
    row as f64 + column as f64 / 65536.0
}

fn main() {
    common::run(|cube| {
        let size = cube.size();
        // As square a grid as there is.
        let n1 = (1..=size).filter(|n1| size % n1 == 0 && n1 * n1 <= size).max().unwrap_or(1);
        let grid = (n1, size / n1);
        let mut storages = vec![
            Storage::Rows { cyclic: false, gray: false },
            Storage::Rows { cyclic: true, gray: false },
            Storage::Submatrices { grid, gray: false },
        ];
        // Neighbours in the matrix are neighbours on the cube, if the parts are numbered by the Gray code.
        if size.is_power_of_two() {
            storages.push(Storage::Rows { cyclic: false, gray: true });
            storages.push(Storage::Submatrices { grid, gray: true });
        }
        for storage in storages {
            let transpose = cube.transpose(ROWS, COLUMNS, storage).expect("a storage for this many ranks");
            // Which elements this rank has before, and which after.
            let (input, output) = (transpose.input(), transpose.output());
            let matrix: Vec<f64> = input.indices().map(|(row, column)| element(row, column)).collect();
            let mut transposed = vec![0.0; output.len()];
            transpose.run(&matrix, &mut transposed).expect("the transpose");

            let what_ran = cube.explain_last();
            for ((row, column), value) in output.indices().zip(transposed) {
                assert_eq!(value, element(column, row), "row {row}, column {column} of the transpose");
            }
            cube.barrier().expect("barrier");
            if cube.rank() == 0 {
                println!("{ROWS} x {COLUMNS}, {storage:?}:\n  rank 0: {what_ran}");
            }
        }
    });
}
