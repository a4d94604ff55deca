//! A histogram of data that is spread over the ranks.
//!
//! Every rank bins its own samples; one reduce-scatter adds the counts of all ranks and leaves each rank with the totals of
//! its own bins. (Stout and Wagar call this collective the histogram.)
//!
//! ```text
//! cargo run --release --example histogram -- --threads 6
//! mpirun -n 6 target/release/examples/histogram
//! ```

mod common;

use hypercoll::SystemOperation;

const SAMPLES: usize = 20_000; // per rank
const BINS: usize = 16; // per rank

/// Sample `index` of a rank: the mean of two uniform numbers, in [0, 1).
fn sample(rank: usize, index: usize) -> f64 {
    let uniform = |seed: usize| {
        let mut z = (seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let seed = 2 * (rank * SAMPLES + index) + 1;
    (uniform(seed) + uniform(seed + 1)) / 2.0
}

fn main() {
    common::run(|cube| {
        let (rank, size) = (cube.rank(), cube.size());
        let bins = BINS * size;
        let bin = |x: f64| (x * bins as f64) as usize;

        // Each rank counts what it holds, over all bins.
        let mut counts = vec![0u64; bins];
        (0..SAMPLES).for_each(|index| counts[bin(sample(rank, index))] += 1);

        // Block i of the sums goes to rank i.
        let mut totals = vec![0u64; BINS];
        cube.reduce_scatter_block_into(&counts, &mut totals, SystemOperation::sum()).expect("reduce-scatter");

        // The samples can be made again anywhere, so each rank counts its own bins over all ranks' samples to compare.
        let mut expected = vec![0u64; BINS];
        for other in 0..size {
            for at in (0..SAMPLES).map(|index| bin(sample(other, index))) {
                if at / BINS == rank {
                    expected[at % BINS] += 1;
                }
            }
        }
        assert_eq!(totals, expected);

        // And no sample is lost.
        let mut all = 0u64;
        cube.all_reduce_into(&totals.iter().sum::<u64>(), &mut all, SystemOperation::sum()).expect("all-reduce");
        assert_eq!(all, (SAMPLES * size) as u64);

        // Rank 0 gathers the totals and draws them.
        if rank > 0 {
            return cube.process_at_rank(0).gather_into(&totals).expect("gather");
        }
        let mut histogram = vec![0u64; bins];
        cube.process_at_rank(0).gather_into_root(&totals, &mut histogram).expect("gather");
        let rows: Vec<u64> = histogram.chunks(bins / 16).map(|row| row.iter().sum()).collect();
        let widest = rows.iter().copied().max().unwrap_or(1).max(1);
        for (row, &count) in rows.iter().enumerate() {
            println!("{:5.3} {:8} {}", row as f64 / 16.0, count, "#".repeat((50 * count / widest) as usize));
        }
        println!("{all} samples on {size} ranks, {bins} bins: all counted once");
    });
}
