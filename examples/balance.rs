//! Load balancing by diffusion on the cube: in every step each rank gives its neighbours a share of its load, over all links at once.
//!
//! A rank keeps one share of its load, and gives one to each of its neighbours, where a load has one share more than the cube has
//! dimensions. On 2^n ranks every step leaves (n - 1)/(n + 1) of the differences at most. A persistent call exchanges the shares.
//!
//! ```text
//! cargo run --release --example balance
//! mpirun -n 8 target/release/examples/balance
//! ```

mod common;

use hypercoll::{request, SystemOperation};

/// Loads that differ by so little are alike.
const ALIKE: f64 = 1e-3;

fn main() {
    common::run(|cube| {
        let (rank, size, ports) = (cube.rank(), cube.size(), cube.dimension() as usize);
        // All of the load is on one rank.
        let whole = 1000.0 * size as f64;
        let mut load = if rank == size / 2 { whole } else { 0.0 };
        let mut steps = 0;
        let (mut given, mut taken) = (vec![0.0; ports], vec![0.0; ports]);
        request::scope(|scope| {
            let mut exchange = cube.neighbor_all_to_all_init(scope, &mut given, &mut taken).expect("a call");
            while spread(cube, load) > ALIKE {
                let share = load / (ports + 1) as f64;
                let (given, taken) = exchange.buffers().expect("buffers");
                given.fill(share);
                // What is for a neighbour that is no rank comes back.
                taken.fill(share);
                exchange.start().expect("a start");
                exchange.wait().expect("an exchange");
                load = share + exchange.buffers().expect("buffers").1.iter().sum::<f64>();
                steps += 1;
            }
        });
        let mut all = load;
        cube.all_reduce_in_place(&mut all, SystemOperation::sum()).expect("all-reduce");
        assert!((all - whole).abs() < 1e-9 * whole, "nothing is lost");
        assert!((load - 1000.0).abs() < 2.0 * ALIKE);
        if rank == 0 {
            println!("{size} ranks have the same load after {steps} steps");
        }
    });
}

/// By how much the loads of two ranks differ at most.
fn spread(cube: &hypercoll::Hypercube, load: f64) -> f64 {
    let mut most_and_least = [load, -load];
    cube.all_reduce_in_place(&mut most_and_least, SystemOperation::max()).expect("all-reduce");
    most_and_least[0] + most_and_least[1]
}
