//! Random calls, blocking, immediate and persistent, mixed, on several communicators at once, whose results are compared with MPI's
//! own, or where MPI has no such call with what is computed directly: with blocks of equal and of different lengths, with two buffers
//! and in place, of elements side by side and apart.
//!
//! All ranks draw the same calls from a seed. `HYPERCOLL_RANDOM_SEED` is another one than the usual, and `HYPERCOLL_RANDOM_CALLS`
//! another number of calls a test, without a limit of time. A failure names the seed with which its calls are the first.
#![cfg(feature = "mpi")]

mod batch;
mod blocks;
mod data;
mod draw;
mod element;
mod forms;
#[path = "../common/mpirun.rs"]
mod mpirun;
mod native;
mod outcome;
mod pending;
#[path = "../common/process.rs"]
mod process;
#[path = "../common/random.rs"]
mod random;
#[path = "../common/ranks.rs"]
mod ranks;
mod varcount;

use batch::{play, Group};
use draw::{mix, Random};
use hypercoll::{threads, Hypercube};
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use mpi::Threading;
use std::time::{Duration, Instant};

/// Calls of a test, and how long it may go on.
const CALLS: usize = 560;
const LIMIT: Duration = Duration::from_millis(2500);
/// Calls on the same communicators, and those that are compared together at most.
const SESSION: usize = 60;
const BATCH: usize = 16;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}: '{value}' is no number")))
}

/// Plays sessions, each with a seed of its own, until there have been enough calls; `goes_on` agrees with all ranks about the time.
fn sessions(name: &str, goes_on: impl Fn(bool) -> bool, play: impl Fn(u64)) {
    let first = variable("HYPERCOLL_RANDOM_SEED")
        .unwrap_or_else(|| name.bytes().fold(1, |sum, byte| mix(sum + u64::from(byte)) >> 16));
    let asked = variable("HYPERCOLL_RANDOM_CALLS").map(|calls| calls as usize);
    let (begun, mut seed, mut calls) = (Instant::now(), first, 0);
    while calls < asked.unwrap_or(CALLS) && goes_on(asked.is_some() || begun.elapsed() < LIMIT) {
        play(seed);
        seed += 1;
        calls += SESSION;
    }
    println!("{name}: {calls} calls from HYPERCOLL_RANDOM_SEED={first} in {:.1} s", begun.elapsed().as_secs_f64());
}

/// Calls on some communicators.
fn session(seed: u64, rank: usize, random: &mut Random, groups: &[(usize, Option<Group>)]) {
    let told = format!("HYPERCOLL_RANDOM_SEED={seed}");
    let mut own = Random(seed ^ mix(rank as u64 + 1));
    let mut left = SESSION;
    while left > 0 {
        let calls = (1 + random.below(BATCH)).min(left);
        play(calls, groups, random, &mut own, &format!("{told}, {left} left"));
        left -= calls;
    }
}

/// A session on the ranks of MPI: on all of them, and on parts of them.
fn on_parts(seed: u64, world: &SimpleCommunicator) {
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let mut random = Random(seed);
    let mut comms: Vec<(usize, Option<SimpleCommunicator>)> = Vec::new();
    (0..1 + random.below(2)).for_each(|_| comms.push((size, Some(world.duplicate()))));
    for _ in 0..random.below(3) {
        // Ranks of a colour, in an order of their own; those of colour 0 do not take part.
        let colours: Vec<usize> = (0..size).map(|_| random.below(3)).collect();
        let keys = random.permutation(size);
        let colour = match colours[rank] {
            0 => Color::undefined(),
            colour => Color::with_value(colour as i32),
        };
        let mut own = world.split_by_color_with_key(colour, keys[rank] as i32);
        for colour in 1..3 {
            let members = colours.iter().filter(|&&other| other == colour).count();
            if members > 0 {
                comms.push((members, own.take_if(|_| colours[rank] == colour)));
            }
        }
    }
    let cube = |comm: &SimpleCommunicator| Hypercube::new(comm).expect("a hypercube");
    let cubes: Vec<Option<Hypercube>> = comms.iter().map(|(_, comm)| comm.as_ref().map(cube)).collect();
    if random.once_in(6) {
        cubes.iter().flatten().for_each(|cube| cube.synchronous_sends(true));
    }
    let groups: Vec<(usize, Option<Group>)> = comms
        .iter()
        .zip(&cubes)
        .map(|((size, comm), cube)| {
            let group = cube.as_ref().map(|cube| Group { cube, native: comm.as_ref() });
            (*size, group)
        })
        .collect();
    session(seed, rank, &mut random, &groups);
}

fn on_world(test: &str, world: &SimpleCommunicator) {
    let goes_on = |mut yes: bool| {
        world.process_at_rank(0).broadcast_into(&mut yes);
        yes
    };
    sessions(test, goes_on, |seed| on_parts(seed, world));
}

fn on_mpi(test: &str, ranks: usize, shared_memory: &str) {
    let variables = [("HYPERCOLL_SHARED_MEMORY", shared_memory)];
    ranks::on_ranks(test, ranks, &variables, |world| on_world(test, world));
}

macro_rules! tests {
    ($($mode:ident $value:literal,)*) => {$(
        mod $mode {
            tests!(@ $mode $value, on_1_rank 1, on_2_ranks 2, on_3_ranks 3, on_5_ranks 5, on_8_ranks 8, on_16_ranks 16,);
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
}

#[test]
fn with_a_progress_thread() {
    let (test, variables) =
        ("with_a_progress_thread", [("HYPERCOLL_SHARED_MEMORY", "off"), ("HYPERCOLL_PROGRESS", "thread")]);
    ranks::on_ranks_with(Threading::Multiple, test, 5, &variables, |world| on_world(test, world));
}

#[test]
fn on_threads() {
    for ranks in [1, 2, 3, 5, 8, 16] {
        sessions(
            &format!("{ranks} threads"),
            |yes| yes,
            |seed| {
                threads::run(ranks, |cube| {
                    let groups = [(ranks, Some(Group { cube, native: None }))];
                    session(seed, cube.rank(), &mut Random(seed), &groups);
                });
            },
        );
    }
}
