//! A test that is a program for `mpirun`: it starts itself again on ranks.

use super::mpirun::mpirun_with;
use super::process::Output;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::Threading;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Tells a test how many ranks it is one of.
const RANKS: &str = "HYPERCOLL_TEST_RANKS";

/// Runs `code` on so many ranks, of which each is the test of this name in a process of its own, with variables of the environment.
pub fn on_ranks(test: &str, ranks: usize, variables: &[(&str, &str)], code: impl FnOnce(&SimpleCommunicator)) {
    on_ranks_with(Threading::Single, test, ranks, variables, code);
}

/// The same where MPI serves threads as asked, at least.
pub fn on_ranks_with(
    threading: Threading,
    test: &str,
    ranks: usize,
    variables: &[(&str, &str)],
    code: impl FnOnce(&SimpleCommunicator),
) {
    if let Ok(ranks) = std::env::var(RANKS) {
        return rank(threading, &ranks, code);
    }
    let number = ranks.to_string();
    let variables = [variables, &[(RANKS, &number[..])]].concat();
    // MPI is to be used by one thread, the first.
    let arguments = ["--exact", test, "--nocapture", "--test-threads=1"];
    let program = std::env::current_exe().expect("the path of this program");
    let output: Output = mpirun_with(&variables, ranks, &program, &arguments);
    let passed = output.stdout.matches("1 passed").count();
    assert!(output.code == Some(0) && passed == ranks, "{test} on {ranks} ranks: {}", output.told());
}

fn rank(threading: Threading, ranks: &str, code: impl FnOnce(&SimpleCommunicator)) {
    let (universe, provided) = mpi::initialize_with_threading(threading).expect("MPI");
    assert!(provided >= threading, "MPI offers {provided:?}");
    let world = universe.world();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // Else mpirun and this program belong to different MPI libraries.
        assert_eq!(world.size().to_string(), ranks, "ranks that find each other");
        code(&world);
    }));
    // The others may wait for this one.
    if outcome.is_err() {
        world.abort(1);
    }
}
