//! Random calls with blocks of different lengths over MPI, with rsmpi's own partitions, against MPI's own functions: what both have
//! received is the same, and what lies between blocks is as it was.
//!
//! All ranks draw the same calls from a seed; `HYPERCOLL_RANDOM_SEED` is another one than the usual.
#![cfg(feature = "mpi")]

#[path = "common/mpirun.rs"]
mod mpirun;
#[path = "common/process.rs"]
mod process;
#[path = "common/random.rs"]
mod random;
#[path = "common/ranks.rs"]
mod ranks;

use hypercoll::{request, Hypercube, SystemOperation};
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::Count;
use random::Random;

/// Calls of a test.
const CALLS: usize = 120;
const FREE: u32 = u32::MAX;

/// Lengths by Zipf's law in any order, up to so many; about every fourth is 0.
fn lengths(random: &mut Random, number: usize, most: usize) -> Vec<Count> {
    (0..number)
        .map(|_| if random.once_in(4) { 0 } else { most / (1 + random.below(number)) })
        .map(|n| n as Count)
        .collect()
}

/// Places of blocks, in any order, perhaps apart; and elements that they reach to.
fn places(random: &mut Random, counts: &[Count]) -> (Vec<Count>, usize) {
    let (mut places, mut end) = (vec![0; counts.len()], 0);
    let (apart, mixed) = (random.below(3) as Count, random.once_in(2));
    let order = if mixed { random.permutation(counts.len()) } else { (0..counts.len()).collect() };
    for rank in order {
        places[rank] = end;
        end += counts[rank] + apart;
    }
    (places, end as usize)
}

fn values(random: &mut Random, rank: usize, len: usize) -> Vec<u32> {
    let seed = random.bits() as usize;
    (0..len).map(|at| ((seed ^ (rank * 7919)).wrapping_mul(2 * at + 1) >> 8) as u32 >> 1).collect()
}

/// Makes a call natively and by the library.
fn call(random: &mut Random, world: &SimpleCommunicator, cube: &Hypercube) {
    let (rank, size) = (cube.rank(), cube.size());
    let most = random.of(&[3, 100, 5000, 60_000]);
    let root = random.below(size);
    let here = rank == root;
    let (process, ours) = (world.process_at_rank(root as i32), cube.process_at_rank(root));
    let immediate = random.once_in(2);
    let kind = random.below(5);
    let counts = lengths(random, size, most);
    let (at, len) = places(random, &counts);
    let own = values(random, rank, counts[rank] as usize);
    let mut outcomes = [vec![FREE; len], vec![FREE; len]];
    match kind {
        0 => {
            let [theirs, ours] = &mut outcomes;
            world.all_gather_varcount_into(&own[..], &mut PartitionMut::new(&mut theirs[..], &counts[..], &at[..]));
            let mut partition = PartitionMut::new(&mut ours[..], &counts[..], &at[..]);
            if immediate {
                request::scope(|scope| {
                    cube.immediate_all_gather_varcount_into(scope, &own, &mut partition).unwrap().wait().unwrap();
                });
            } else {
                cube.all_gather_varcount_into(&own, &mut partition).unwrap();
            }
        }
        1 if here => {
            let [theirs, mine] = &mut outcomes;
            process.gather_varcount_into_root(&own[..], &mut PartitionMut::new(theirs, &counts[..], at.clone()));
            let mut partition = PartitionMut::new(mine, &counts[..], at);
            if immediate {
                request::scope(|scope| {
                    ours.immediate_gather_varcount_into_root(scope, &own, &mut partition).unwrap().wait().unwrap();
                });
            } else {
                ours.gather_varcount_into_root(&own, &mut partition).unwrap();
            }
        }
        1 => {
            process.gather_varcount_into(&own[..]);
            if immediate {
                request::scope(|scope| ours.immediate_gather_varcount_into(scope, &own).unwrap().wait().unwrap());
            } else {
                ours.gather_varcount_into(&own).unwrap();
            }
        }
        2 => {
            let all = values(random, root, len);
            outcomes = [(); 2].map(|()| vec![FREE; own.len()]);
            let [theirs, mine] = &mut outcomes;
            let partition = Partition::new(&all[..], &counts[..], &at[..]);
            match (here, immediate) {
                (true, _) => process.scatter_varcount_into_root(&partition, &mut theirs[..]),
                (false, _) => process.scatter_varcount_into(&mut theirs[..]),
            }
            match (here, immediate) {
                (true, false) => ours.scatter_varcount_into_root(&partition, mine).unwrap(),
                (false, false) => ours.scatter_varcount_into(mine).unwrap(),
                (true, true) => request::scope(|scope| {
                    ours.immediate_scatter_varcount_into_root(scope, &partition, mine).unwrap().wait().unwrap()
                }),
                (false, true) => {
                    request::scope(|scope| ours.immediate_scatter_varcount_into(scope, mine).unwrap().wait().unwrap())
                }
            }
        }
        3 => {
            let pairs = lengths(random, size * size, most / size + 2);
            let sends: Vec<Count> = pairs[rank * size..(rank + 1) * size].to_vec();
            let receives: Vec<Count> = (0..size).map(|from| pairs[from * size + rank]).collect();
            // Each rank by itself.
            let mut alone = Random(random.bits() ^ rank as u64);
            let ((from, sent), (into, received)) = (places(&mut alone, &sends), places(&mut alone, &receives));
            let all = values(&mut alone, rank, sent);
            outcomes = [(); 2].map(|()| vec![FREE; received]);
            let [theirs, mine] = &mut outcomes;
            let partition = Partition::new(&all[..], &sends[..], &from[..]);
            world.all_to_all_varcount_into(
                &partition,
                &mut PartitionMut::new(&mut theirs[..], &receives[..], &into[..]),
            );
            let mut receive = PartitionMut::new(&mut mine[..], &receives[..], &into[..]);
            if immediate {
                request::scope(|scope| {
                    cube.immediate_all_to_all_varcount_into(scope, &partition, &mut receive).unwrap().wait().unwrap();
                });
            } else {
                cube.all_to_all_varcount_into(&partition, &mut receive).unwrap();
            }
        }
        _ => {
            // MPI's is not in rsmpi: an all-reduce of all of it.
            let all: usize = counts.iter().map(|&count| count as usize).sum();
            let send: Vec<u32> = values(random, rank, all).into_iter().map(|value| value >> 8).collect();
            let mut sums = vec![0; all];
            world.all_reduce_into(&send[..], &mut sums[..], mpi::collective::SystemOperation::sum());
            let before: usize = counts[..rank].iter().map(|&count| count as usize).sum();
            let mut mine = vec![FREE; own.len()];
            cube.reduce_scatter_into(&send, &mut mine, &counts, SystemOperation::sum()).unwrap();
            outcomes = [sums[before..before + own.len()].to_vec(), mine];
        }
    }
    let [theirs, mine] = &outcomes;
    assert!(theirs == mine, "kind {kind}, rank {rank} of {size}, root {root}, immediate {immediate}, {counts:?}");
}

fn on_mpi(test: &str, size: usize, shared_memory: &str) {
    ranks::on_ranks(test, size, &[("HYPERCOLL_SHARED_MEMORY", shared_memory)], |world| {
        let seed = std::env::var("HYPERCOLL_RANDOM_SEED").ok().and_then(|seed| seed.parse().ok());
        let mut random = Random(seed.unwrap_or(19 + size as u64));
        let cube = Hypercube::new(world).expect("a hypercube");
        (0..CALLS).for_each(|_| call(&mut random, world, &cube));
    });
}

macro_rules! tests {
    ($($mode:ident $value:literal,)*) => {$(
        mod $mode {
            tests!(@ $mode $value, on_1_rank 1, on_2_ranks 2, on_5_ranks 5, on_8_ranks 8,);
        }
    )*};
    (@ $mode:ident $value:literal, $($name:ident $ranks:literal,)*) => {$(
        #[test]
        fn $name() {
            crate::on_mpi(concat!(stringify!($mode), "::", stringify!($name)), $ranks, $value);
        }
    )*};
}

tests! {
    single_copy "single-copy",
    two_copies "two-copies",
    off "off",
    none "none",
}
