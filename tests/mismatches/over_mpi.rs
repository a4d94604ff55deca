//! The cases over MPI, all in one run for a number of ranks and a way of messages.

use crate::case::Kind;
use crate::expected::{told, Place};
use crate::rank::Rank;
use crate::ranks::on_ranks;
use crate::{calls, cases_for, SOON};
use hypercoll::{Hypercube, SystemOperation};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

/// Every case, one after the other; all that is wrong is said in the end.
fn every_case(world: &SimpleCommunicator, shares: bool) {
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let mut wrong: Vec<String> = Vec::new();
    let mut slowest = (Duration::ZERO, "");
    for (index, case, next) in cases_for(size) {
        // Ranks of different hosts cannot see that one of them is in no call any more, which may be for long.
        if case.kind == Kind::Unsent && !shares {
            continue;
        }
        let place = Place { rank, odd: case.odd(index, size), size };
        let is_odd = rank == place.odd;
        let mut fault =
            |why: &str| wrong.push(format!("'{}', rank {rank} of {size}, {} is odd: {why}", case.name, place.odd));
        let cube = Hypercube::new(world).expect("a hypercube");
        let mut calling = Rank::of(&cube);
        world.barrier();
        let start = Instant::now();
        let mut text = String::new();
        if is_odd && case.kind.leaves() {
            case.leave(&mut calling).unwrap_or_else(|why| fault(&why));
        } else {
            let outcomes = calls(&case, &mut calling, is_odd);
            let elapsed = start.elapsed();
            slowest = slowest.max((elapsed, case.name));
            if elapsed > SOON {
                fault(&format!("takes {elapsed:?}"));
            }
            match told(&case, next, place, outcomes) {
                // What the library has called when it made the communicator is none of the program's calls.
                Ok(said) if index == 0 && !said.contains("(call 1, ") => fault(&format!("not the first call: {said}")),
                Ok(said) => text = said,
                Err(why) => fault(&why),
            }
        }
        let mut buffers = calling.buffers;
        buffers.look().into_iter().for_each(&mut fault);
        // One may let go of a broken communicator, or keep it for a while.
        let kept = (index % 2 == 0 && !(is_odd && case.kind.leaves())).then_some(cube);
        if let Err(why) = all_is_well(world) {
            fault(&why);
        }
        drop(kept);
        buffers.look_again().into_iter().for_each(&mut fault);
        // Ranks that see nothing of each other may each name another pair of those that differ.
        let same = same_words(world, &text) || case.kind == Kind::Lengths && !shares;
        if !same {
            fault(&format!("not the same words on all ranks, here: {text}"));
        }
    }
    eprintln!("rank {rank}: the slowest case, '{}', takes {:?}", slowest.1, slowest.0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A new communicator works.
fn all_is_well(world: &SimpleCommunicator) -> Result<(), String> {
    let cube = Hypercube::new(world).map_err(|error| error.to_string())?;
    let (mut sum, expected) = ([0; 3], (0..cube.size()).sum::<usize>());
    let outcome = cube.all_reduce_into(&[cube.rank(); 3], &mut sum, SystemOperation::sum());
    match outcome {
        Ok(()) if sum == [expected; 3] => Ok(()),
        other => Err(format!("afterwards, on a new communicator: {sum:?}, {other:?}")),
    }
}

/// Whether those ranks that have been told something have been told the same.
fn same_words(world: &SimpleCommunicator, text: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let own = if text.is_empty() { 0 } else { hasher.finish() };
    let mut all = vec![0u64; world.size() as usize];
    world.all_gather_into(&own, &mut all[..]);
    all.retain(|hash| *hash != 0);
    all.windows(2).all(|pair| pair[0] == pair[1])
}

fn run(test: &str, way: &str, size: usize) {
    // Long before the limit of a job: a rank that waits for ever is a fault of a case, and the next ones are tried, too.
    let variables = [("HYPERCOLL_SHARED_MEMORY", way), ("HYPERCOLL_TIMEOUT", "10,error")];
    on_ranks(test, size, &variables, |world| every_case(world, way != "none"));
}

macro_rules! runs {
    ($($name:ident $way:literal $size:literal,)*) => {$(
        #[test]
        fn $name() {
            run(concat!("over_mpi::", stringify!($name)), $way, $size);
        }
    )*};
}

runs! {
    single_copy_2 "single-copy" 2,
    single_copy_5 "single-copy" 5,
    single_copy_8 "single-copy" 8,
    off_2 "off" 2,
    off_5 "off" 5,
    off_8 "off" 8,
    none_2 "none" 2,
    none_5 "none" 5,
    none_8 "none" 8,
}
