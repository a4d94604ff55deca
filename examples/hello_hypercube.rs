//! Every rank says where it is on the cube, and rank 0 says hello to all.
//!
//! ```text
//! cargo run --release --example hello_hypercube -- --threads 8
//! mpirun -n 8 target/release/examples/hello_hypercube
//! ```

mod common;

use hypercoll::schedule::Hosting;

fn main() {
    common::run(|cube| {
        let (rank, size, n) = (cube.rank(), cube.size(), cube.dimension());

        // Rank r plays node r. Port j of a node leads to the node whose address differs in bit j. If the number of ranks is
        // no power of two, some ranks play a second node, their twin: `Hosting` says which.
        let hosting = Hosting::new(size, false);
        let nodes = std::iter::once(rank).chain(hosting.twin(rank));
        let mut neighbours: Vec<usize> =
            nodes.flat_map(|node| (0..n).map(move |port| hosting.host(node ^ (1 << port)))).collect();
        neighbours.retain(|&neighbour| neighbour != rank);
        neighbours.sort();
        neighbours.dedup();

        // A broadcast: before, only rank 0 has the text; after, all have it. The length is the same everywhere.
        let text = b"hello from rank 0";
        let mut hello = [0u8; 17];
        if rank == 0 {
            hello = *text;
        }
        cube.process_at_rank(0).broadcast_into(&mut hello).expect("broadcast");
        assert_eq!(&hello, text);

        let heard = String::from_utf8_lossy(&hello);
        let bits = n.max(1) as usize;
        println!("rank {rank} of {size}, node {rank:0bits$b} of the {n}-cube, neighbours {neighbours:?}: '{heard}'");

        // Which algorithm ran, why, and what it cost.
        if rank == 0 {
            println!("{}", cube.explain_last());
        }
    });
}
