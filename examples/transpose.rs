//! The transpose of a matrix that is spread over the ranks by rows, as in a parallel FFT: one all-to-all.
//!
//! ```text
//! cargo run --release --example transpose -- --threads 4
//! mpirun -n 4 target/release/examples/transpose
//! ```

mod common;

const ROWS: usize = 24; // per rank

/// The element of the whole matrix in a row and a column.
fn element(row: usize, column: usize) -> f64 {
    row as f64 + column as f64 / 65536.0
}

fn main() {
    common::run(|cube| {
        let (rank, size) = (cube.rank(), cube.size());
        let width = ROWS * size; // the matrix is width x width, and this rank has rows first.. of it
        let first = rank * ROWS;
        let matrix: Vec<f64> = (0..ROWS * width).map(|at| element(first + at / width, at % width)).collect();

        // Block j of the send buffer goes to rank j: the columns that are that rank's rows after the transposition. Each
        // block is written column by column, so it arrives as rows.
        let mut send = Vec::with_capacity(matrix.len());
        for to in 0..size {
            for column in to * ROWS..(to + 1) * ROWS {
                send.extend((0..ROWS).map(|row| matrix[row * width + column]));
            }
        }
        let mut receive = vec![0.0; send.len()];
        cube.all_to_all_into(&send, &mut receive).expect("all-to-all");

        // Block i has come from rank i and holds the columns i * ROWS.. of this rank's new rows.
        let mut transposed = vec![0.0; matrix.len()];
        for (from, block) in receive.chunks(ROWS * ROWS).enumerate() {
            for (row, part) in block.chunks(ROWS).enumerate() {
                let start = row * width + from * ROWS;
                transposed[start..start + ROWS].copy_from_slice(part);
            }
        }

        for (at, &value) in transposed.iter().enumerate() {
            let (row, column) = (first + at / width, at % width);
            assert_eq!(value, element(column, row), "row {row}, column {column}");
        }
        cube.barrier().expect("barrier");
        if rank == 0 {
            println!("transposed a {width} x {width} matrix on {size} ranks");
        }
    });
}
