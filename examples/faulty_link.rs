//! A broadcast and a scatter that survive a faulty link.
//!
//! The link between ranks 0 and 1 is out of order, and every rank says so. From then on nothing is sent over it: the broadcast
//! drops the trees that use it and spreads its data over the others, and whatever else would cross the link goes round it.
//!
//! ```text
//! cargo run --release --example faulty_link -- --threads 8
//! mpirun -n 8 target/release/examples/faulty_link
//! ```

mod common;

const ELEMENTS: usize = 10_000;
const FAULTY: (usize, usize) = (0, 1);

fn main() {
    common::run(|cube| {
        let (rank, size) = (cube.rank(), cube.size());
        if let Err(error) = cube.avoid_links(&[FAULTY]) {
            // On one or two ranks no other link leads to rank 1.
            assert!(size < 3, "{error}");
            if rank == 0 {
                println!("{size} ranks: {error}");
            }
            return;
        }
        assert_eq!(cube.avoided_links(), [FAULTY]);

        // The root is at one end of the link.
        let root = FAULTY.0;
        let value = |at: usize| at as f64 / 3.0;
        let mut vector: Vec<f64> = (0..ELEMENTS).map(|at| if rank == root { value(at) } else { 0.0 }).collect();
        cube.broadcast(root).algorithm("msbt").packet(1000).run(&mut vector).expect("broadcast");
        assert!(vector.iter().enumerate().all(|(at, &element)| element == value(at)), "broadcast");
        let broadcast = cube.explain_last();

        let blocks: Vec<f64> = (0..ELEMENTS * size).map(value).collect();
        let mut block = vec![0.0; ELEMENTS];
        let scatter = cube.scatter(root).algorithm("sbnt");
        scatter.run((rank == root).then_some(&blocks), &mut block).expect("scatter");
        assert!(block == blocks[rank * ELEMENTS..(rank + 1) * ELEMENTS], "scatter");
        let scatter = cube.explain_last();

        // The link is repaired.
        cube.avoid_links(&[]).expect("nothing to avoid");
        cube.broadcast(root).algorithm("msbt").packet(1000).run(&mut vector).expect("broadcast");
        let repaired = cube.explain_last();

        if rank == root {
            println!("all data arrived on {size} ranks, nothing of it over the link {}-{}", FAULTY.0, FAULTY.1);
            println!("{broadcast}\n{scatter}\nafter the repair:\n{repaired}");
        }
    });
}
