//! Ranks that make different calls: every rank of the communicator is told so, soon, and in words that help. No memory is written but
//! that of the calls' own buffers, and the MPI communicator can be used on.

mod case;
mod cases;
mod expected;
mod rank;
#[path = "../common/watch.rs"]
mod watch;

#[cfg(feature = "mpi")]
mod dead;
#[cfg(feature = "mpi")]
#[path = "../common/mpirun.rs"]
mod mpirun;
#[cfg(feature = "mpi")]
mod over_mpi;
#[cfg(feature = "mpi")]
#[path = "../common/process.rs"]
mod process;
#[cfg(feature = "mpi")]
#[path = "../common/ranks.rs"]
mod ranks;
#[cfg(feature = "mpi")]
#[path = "../common/said.rs"]
mod said;
#[cfg(feature = "mpi")]
mod waits;

use case::Case;
use expected::{told, Outcomes, Place};
use hypercoll::Hypercube;
use rank::Rank;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// How long it may take from when the last rank has called: less than the limit that would end a wait for ever. (It takes milliseconds, as
/// the runs print; but a machine may be busy.)
pub const SOON: Duration = Duration::from_secs(8);

/// The cases for so many ranks, each with its number and the line at which the next one begins.
pub fn cases_for(size: usize) -> Vec<(usize, Case, u32)> {
    let all = cases::all();
    let next = all.iter().skip(1).map(|case| case.line).chain([u32::MAX]);
    let numbered = all.iter().zip(next).enumerate().map(|(index, (case, next))| (index, *case, next));
    numbered.filter(|(_, case, _)| case.serves(size)).collect()
}

/// A rank's calls in a case.
pub fn calls(case: &Case, rank: &mut Rank, is_odd: bool) -> Outcomes {
    let first = catch_unwind(AssertUnwindSafe(|| case.run(rank, is_odd))).ok();
    [first, Some(rank.cube.barrier()), Some(rank.cube.barrier())]
}

/// On threads, where the ranks of a case are those of a communicator of its own.
#[test]
fn on_threads() {
    for size in [2, 5, 8] {
        for (index, case, next) in cases_for(size) {
            let odd = case.odd(index, size);
            let together = Arc::new(Barrier::new(size));
            let texts = watch::on(size, move |cube: &Hypercube| {
                let place = Place { rank: cube.rank(), odd, size };
                let mut rank = Rank::of(cube);
                together.wait();
                let start = std::time::Instant::now();
                let is_odd = place.rank == odd;
                if is_odd && case.kind.leaves() {
                    return case.leave(&mut rank).map(|()| String::new());
                }
                let outcomes = calls(&case, &mut rank, is_odd);
                let soon = start.elapsed() < SOON;
                let written = rank.buffers.look().or(if soon { None } else { Some("too late") });
                told(&case, next, place, outcomes).and_then(|text| written.map_or(Ok(text), |why| Err(why.into())))
            });
            let texts: Vec<String> = texts
                .into_iter()
                .enumerate()
                .map(|(rank, text)| {
                    text.unwrap_or_else(|why| panic!("'{}', rank {rank} of {size}, {odd} is odd: {why}", case.name))
                })
                .collect();
            let said: std::collections::BTreeSet<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
            assert_eq!(said.len(), 1, "'{}', {size} ranks: {said:?}", case.name);
        }
    }
}
