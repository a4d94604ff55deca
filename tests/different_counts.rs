//! Ranks that pass different counts, whose messages go through MPI: they get errors, and nothing is written beyond a receive.
#![cfg(feature = "mpi")]

#[path = "common/mpirun.rs"]
mod mpirun;
#[path = "common/process.rs"]
mod process;
#[path = "common/ranks.rs"]
mod ranks;

use ::mpi::traits::*;
use hypercoll::{Error, Hypercube};
use ranks::on_ranks;

/// Counts of the root and of the other rank, in elements of eight bytes: the first two once met in one receive.
fn pairs() -> Vec<(usize, usize)> {
    let mut pairs = vec![(7728, 1932), (1932, 7728), (256, 257), (257, 256), (1, 5000)];
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 33) as usize % below
    };
    // From a few bytes to what passes all eager limits. (No elements are no message, which would be waited for.)
    pairs.extend((0..10).map(|round| (1 + next(20 << round), 1 + next(20 << round))));
    pairs.retain(|(root, other)| root != other);
    pairs
}

const UNTOUCHED: f64 = -1.0;

/// A broadcast from rank 0 of different counts.
fn broadcast(world: &impl Communicator, root: usize, other: usize) {
    // Every time on a communicator of its own, as it is broken afterwards.
    let cube = Hypercube::new(world).expect("a hypercube");
    let (count, sends) = if cube.rank() == 0 { (root, true) } else { (other, false) };
    // Behind the receive there is memory of this test: what is written there is seen, and destroys nothing.
    let mut memory = vec![UNTOUCHED; root.max(other) + 1];
    let (data, beyond) = memory.split_at_mut(count);
    data.fill(if sends { 1.0 } else { UNTOUCHED });
    let outcome = cube.broadcast(0).algorithm("sbt").packet(root.max(other)).run(data);
    let what = format!("rank {}: {root} elements on the root, {other} elsewhere: {outcome:?}", cube.rank());
    match outcome {
        Ok(()) => assert!(sends, "{what}"),
        Err(Error::CountsDiffer { .. } | Error::PeerFailed { .. }) => assert!(!sends, "{what}"),
        Err(_) => panic!("{what}"),
    }
    assert!(beyond.iter().all(|value| *value == UNTOUCHED), "{what}; elements beyond the receive were written");
}

#[test]
fn different_counts_are_errors() {
    on_ranks("different_counts_are_errors", 2, &[("HYPERCOLL_SHARED_MEMORY", "off")], |world| {
        pairs().into_iter().for_each(|(root, other)| broadcast(world, root, other));
    });
}
