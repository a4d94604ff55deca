//! The largest eigenvalue of a symmetric matrix that is spread over the ranks by rows, by power iteration.
//!
//! The matrix is the covariance of a random walk, a_ij = min(i, j) for i, j = 1, ..., N. Its largest eigenvalue is known:
//! 1 / (4 sin^2(pi / (4 N + 2))).
//!
//! ```text
//! cargo run --release --example power_iteration -- --threads 8
//! mpirun -n 8 target/release/examples/power_iteration
//! ```

mod common;

use hypercoll::SystemOperation;
use std::f64::consts::PI;

const ROWS: usize = 20; // per rank

fn main() {
    common::run(|cube| {
        let (rank, size) = (cube.rank(), cube.size());
        let order = ROWS * size;
        let rows = rank * ROWS..(rank + 1) * ROWS;
        let matrix: Vec<Vec<f64>> = rows.map(|i| (0..order).map(|j| (i.min(j) + 1) as f64).collect()).collect();

        // Rank 0 makes up the vector to start from and gives it to all.
        let mut x = vec![0.0; order];
        if rank == 0 {
            x = (0..order).map(|i| 1.0 + (i % 7) as f64).collect();
        }
        cube.process_at_rank(0).broadcast_into(&mut x).expect("broadcast");

        let mut eigenvalue = 0.0f64;
        let mut steps = 0;
        loop {
            // Each rank multiplies its own rows with the whole vector.
            let product = |row: &Vec<f64>| row.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>();
            let mut y: Vec<f64> = matrix.iter().map(product).collect();

            // The dot products need a sum over all ranks: y y and x y in one go, x x is 1 after the first step.
            let own = &x[rank * ROWS..(rank + 1) * ROWS];
            let mut sums = [
                y.iter().map(|y| y * y).sum::<f64>(),
                own.iter().zip(&y).map(|(x, y)| x * y).sum(),
                own.iter().map(|x| x * x).sum(),
            ];
            cube.all_reduce_in_place(&mut sums, SystemOperation::sum()).expect("all-reduce");
            let [yy, xy, xx] = sums;

            // The next vector is y scaled to length 1, gathered from all ranks.
            y.iter_mut().for_each(|y| *y /= yy.sqrt());
            cube.all_gather_into(&y, &mut x).expect("all-gather");

            let change = (xy / xx - eigenvalue).abs();
            eigenvalue = xy / xx;
            steps += 1;
            // All ranks have the same sums, bit for bit, so all stop in the same step.
            if change <= 1e-14 * eigenvalue || steps == 1000 {
                break;
            }
        }

        let known = 0.25 / (PI / (4 * order + 2) as f64).sin().powi(2);
        assert!((eigenvalue - known).abs() < 1e-9 * known, "{eigenvalue} instead of {known} after {steps} steps");
        if rank == 0 {
            println!("order {order} on {size} ranks: eigenvalue {eigenvalue:.9} after {steps} steps, known {known:.9}");
        }
    });
}
