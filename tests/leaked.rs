//! Requests that are leaked outside of any scope: their calls end with MPI at the latest, as others wait for them. And communicators that
//! outlive MPI.
#![cfg(all(feature = "mpi", target_os = "linux"))]

#[path = "common/mpirun.rs"]
mod mpirun;
#[path = "common/process.rs"]
mod process;
#[path = "common/ranks.rs"]
mod ranks;

use hypercoll::request::StaticScope;
use hypercoll::Hypercube;
use ranks::on_ranks;
use std::cell::RefCell;

/// Rank 1 passes on to rank 2 what it receives.
fn leak(test: &str, shared_memory: &str) {
    on_ranks(test, 3, &[("HYPERCOLL_SHARED_MEMORY", shared_memory)], |world| {
        let cube = Hypercube::new(world).expect("a hypercube");
        let data: &'static mut [usize] = Box::leak(vec![cube.rank(); 10].into_boxed_slice());
        let path = cube.broadcast(0).algorithm("hamiltonian_path");
        let request = path.start(StaticScope, data).expect("a broadcast");
        match cube.rank() {
            1 => std::mem::forget(request),
            _ => assert_eq!(request.wait_for_data().expect("what rank 1 passes on"), [0; 10]),
        }
    });
}

#[test]
fn over_shared_memory() {
    leak("over_shared_memory", "two-copies");
}

#[test]
fn over_mpi() {
    leak("over_mpi", "none");
}

/// Where ranks of other hosts would be told that a rank goes, MPI has ended when it does.
#[test]
fn communicators_that_outlive_mpi() {
    let kept = RefCell::new(Vec::new());
    let variables = [("HYPERCOLL_SHARED_MEMORY", "none")];
    on_ranks("communicators_that_outlive_mpi", 3, &variables, |world| {
        let cube = Hypercube::new(world).expect("a hypercube");
        cube.barrier().expect("a barrier");
        kept.borrow_mut().push(cube);
    });
    drop(kept);
}
