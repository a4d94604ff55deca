//! A histogram of data that is spread over the ranks.
//!
//! Every rank sorts its own samples into bins; one reduce-scatter adds the counts of all ranks and leaves each rank with the
//! totals of its own bins. (Stout and Wagar call this collective the histogram.)
//!
//! ```text
//! cargo run --release --example histogram -- --threads 6
//! mpirun -n 6 target/release/examples/histogram
//! ```

mod common;

use hypercoll::histogram::Bins;

const SAMPLES: usize = 20_000; // per rank
const BINS: usize = 100; // on any number of ranks

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
        let samples: Vec<f64> = (0..SAMPLES).map(|index| sample(rank, index)).collect();
        let bins = Bins::uniform(0.0, 1.0, BINS).expect("bins");

        // Each rank gets the totals of its share of the bins.
        let own = cube.histogram(&samples, &bins).scattered().expect("histogram");
        let reduce_scatter = cube.explain_last();

        // The samples can be made again anywhere, so each rank counts its own bins over all ranks' samples to compare.
        let mut expected = vec![0u64; own.bins.len()];
        for other in 0..size {
            for at in (0..SAMPLES).map(|index| (sample(other, index) * BINS as f64) as usize) {
                if own.bins.contains(&at) {
                    expected[at - own.bins.start] += 1;
                }
            }
        }
        assert_eq!(own.counts, expected);

        // The same, all on rank 0, which draws it.
        let Some(all) = cube.histogram(&samples, &bins).on_root(0).expect("histogram") else { return };
        assert_eq!(all.counts[own.bins], own.counts);
        let total: u64 = all.counts.iter().sum();
        assert_eq!(total, (SAMPLES * size) as u64, "no sample is lost");
        let rows: Vec<u64> = all.counts.chunks(5).map(|row| row.iter().sum()).collect();
        let most = rows.iter().copied().max().unwrap_or(1).max(1);
        for (edge, count) in bins.edges().iter().step_by(5).zip(rows) {
            println!("{edge:5.2} {count:8} {}", "#".repeat((50 * count / most) as usize));
        }
        println!("{total} samples on {size} ranks, {BINS} bins: all counted once");
        println!("{reduce_scatter}");
    });
}
