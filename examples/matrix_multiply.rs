//! The product of two matrices that are spread over the ranks in blocks, as in every dense linear algebra library.
//!
//! Every rank holds a block of each matrix and nothing else; the algorithms of Ho, Johnsson and Edelman bring the factors to
//! where they meet, a panel at a time. The product is proven right by Freivalds' test: (A B) x is A (B x) for a vector x,
//! which costs little.
//!
//! ```text
//! cargo run --release --example matrix_multiply -- --threads 8
//! mpirun -n 4 target/release/examples/matrix_multiply
//! mpirun -n 4 target/release/examples/matrix_multiply 1024 1024 1024     # of A, rows and columns; of B, columns
//! ```

mod common;

use hypercoll::{matrix::Part, Hypercube, SystemOperation};
use std::time::Instant;

/// Rows and columns of A, and columns of B, if nothing is said.
const SIDES: [usize; 3] = [350, 500, 410];
const REPETITIONS: usize = 3;

fn sides() -> Option<[usize; 3]> {
    let told = common::arguments();
    if told.is_empty() {
        return Some(SIDES);
    }
    let sides: Option<Vec<usize>> = told.iter().map(|side| side.parse().ok().filter(|&side| side > 0)).collect();
    sides?.try_into().ok()
}

/// Small whole numbers, so that all sums are exact.
fn a(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 3) % 11) as f64 - 5.0
}

fn b(row: usize, column: usize) -> f64 {
    ((row * 5 + column * 13) % 17) as f64 - 8.0
}

/// A matrix that is spread over the ranks times a vector that all ranks have: so has the result.
fn times(cube: &Hypercube, part: &Part, block: &[f64], vector: &[f64], rows: usize) -> Vec<f64> {
    let mut result = vec![0.0; rows];
    part.indices().zip(block).for_each(|((row, column), element)| result[row] += element * vector[column]);
    cube.all_reduce_in_place(&mut result, SystemOperation::sum()).expect("all-reduce");
    result
}

fn main() {
    let Some([rows, inner, columns]) = sides() else {
        eprintln!("usage: matrix_multiply [ROWS INNER COLUMNS] [--threads N]");
        std::process::exit(2);
    };
    common::run(|cube| {
        let rank = cube.rank();
        if !cube.size().is_power_of_two() {
            if rank == 0 {
                println!("{} ranks: the algorithms multiply on 2, 4, 8, ... ranks", cube.size());
            }
            return;
        }
        for algorithm in ["block", "cannon", "dns"] {
            let product = cube.matrix_multiply(rows, inner, columns).algorithm(algorithm);
            // Which rows and columns this rank has of each matrix.
            let (a_part, b_part, c_part) = (product.a(), product.b(), product.c());
            let grid = product.grid_sides();
            // Goes round rings, which there are on some square grids.
            if algorithm == "cannon" && ![(2, 2), (4, 4), (16, 16)].contains(&grid) {
                continue;
            }
            let a_block: Vec<f64> = a_part.indices().map(|(i, j)| a(i, j)).collect();
            let b_block: Vec<f64> = b_part.indices().map(|(i, j)| b(i, j)).collect();
            let mut c_block = vec![0.0; c_part.len()];

            // The first time makes connections, and brings memory into reach.
            let (mut seconds, mut what_ran) = (f64::INFINITY, String::new());
            for _ in 0..REPETITIONS {
                cube.barrier().expect("barrier");
                let start = Instant::now();
                product.clone().run(&a_block, &b_block, &mut c_block).expect("the product");
                let mut slowest = start.elapsed().as_secs_f64();
                what_ran = cube.explain_last();
                cube.all_reduce_in_place(&mut slowest, SystemOperation::max()).expect("all-reduce");
                seconds = seconds.min(slowest);
            }

            let x: Vec<f64> = (0..columns).map(|at| (at % 5) as f64 - 2.0).collect();
            let bx = times(cube, &b_part, &b_block, &x, inner);
            assert_eq!(times(cube, &c_part, &c_block, &x, rows), times(cube, &a_part, &a_block, &bx, rows));
            // And this rank's first element by the definition.
            if let (Some((i, j)), Some(&first)) = (c_part.indices().next(), c_block.first()) {
                assert_eq!(first, (0..inner).map(|k| a(i, k) * b(k, j)).sum::<f64>());
            }

            if rank == 0 {
                let operations = 2.0 * (rows * inner * columns) as f64;
                println!("{rows} x {inner} times {inner} x {columns} on a grid of {} x {} ranks:", grid.0, grid.1);
                println!("  {:.2} ms at best, {:.2} Gflop/s", seconds * 1e3, operations / seconds / 1e9);
                println!("  rank 0: {what_ran}");
            }
        }
    });
}
