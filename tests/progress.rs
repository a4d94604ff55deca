//! The thread that drives MPI while the program computes: `HYPERCOLL_PROGRESS=thread`.
#![cfg(all(feature = "mpi", target_os = "linux"))]

#[path = "common/mpirun.rs"]
mod mpirun;
#[path = "common/process.rs"]
mod process;
#[path = "common/ranks.rs"]
mod ranks;

use hypercoll::{request, Error, Hypercube, SystemOperation};
use mpi::topology::SimpleCommunicator;
use mpi::Threading;
use ranks::{on_ranks, on_ranks_with};
use std::path::Path;
use std::time::{Duration, Instant};

const THREAD: (&str, &str) = ("HYPERCOLL_PROGRESS", "thread");
const NO_MEMORY: (&str, &str) = ("HYPERCOLL_SHARED_MEMORY", "none");

/// Whether so many threads drive MPI in this process, now or soon: a thread names itself, and may be seen for a while when it has been
/// joined.
fn there_are(expected: usize) -> bool {
    let start = Instant::now();
    while threads() != expected {
        if start.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the threads of this process");
    let name = |task: &Path| std::fs::read_to_string(task.join("comm")).unwrap_or_default();
    tasks.filter(|task| name(&task.as_ref().expect("a thread").path()).trim() == "hypercoll-mpi").count()
}

fn is_right(cube: &Hypercube) {
    let mut sum = vec![0; 100_000];
    cube.all_reduce_into(&vec![cube.rank(); 100_000], &mut sum, SystemOperation::sum()).expect("an all-reduce");
    assert_eq!(sum, vec![(0..cube.size()).sum(); 100_000]);
}

#[test]
fn without_mpi_for_threads_it_is_refused() {
    on_ranks("without_mpi_for_threads_it_is_refused", 2, &[THREAD, NO_MEMORY], |world| {
        match Hypercube::new(world) {
            Err(Error::Environment { variable, why }) => {
                assert!(variable == THREAD.0 && why.contains("MPI_THREAD_MULTIPLE"), "{variable}: {why}");
            }
            other => panic!("{:?}", other.map(|_| ())),
        }
        assert!(there_are(0));
    });
}

#[test]
fn one_thread_from_the_first_communicator_to_the_last() {
    let test = "one_thread_from_the_first_communicator_to_the_last";
    on_ranks_with(Threading::Multiple, test, 3, &[THREAD, NO_MEMORY], |world| {
        for _ in 0..3 {
            assert!(there_are(0));
            let first = Hypercube::new(world).expect("a hypercube");
            let second = Hypercube::new(world).expect("a hypercube");
            assert!(there_are(1) && first.transport() == "MPI, driven by a thread", "{}", first.transport());
            is_right(&first);
            drop(first);
            assert!(there_are(1));
            is_right(&second);
        }
        assert!(there_are(0));
    });
}

#[test]
fn there_is_none_where_memory_is_shared() {
    on_ranks_with(Threading::Multiple, "there_is_none_where_memory_is_shared", 2, &[THREAD], |world| {
        let cube = Hypercube::new(world).expect("a hypercube");
        is_right(&cube);
        assert!(threads() == 0 && !cube.transport().contains("thread"), "{}", cube.transport());
    });
}

/// The thread must not call MPI when that has ended.
#[test]
fn a_leaked_communicator_does_not_keep_it() {
    let test = "a_leaked_communicator_does_not_keep_it";
    on_ranks_with(Threading::Multiple, test, 2, &[THREAD, NO_MEMORY], |world| {
        let cube = Hypercube::new(world).expect("a hypercube");
        is_right(&cube);
        assert!(there_are(1));
        std::mem::forget(cube);
    });
    // MPI has ended.
    assert!(there_are(0));
}

/// Rank 0 starts to send and then calls nothing at all before rank 1 has all of it.
#[test]
fn a_long_message_goes_on_while_its_sender_computes() {
    let test = "a_long_message_goes_on_while_its_sender_computes";
    let there = std::env::temp_dir().join(format!("hypercoll-progress-{}", std::process::id()));
    let there = std::env::var("PROGRESS_THERE").unwrap_or_else(|_| there.to_string_lossy().into_owned());
    // Over sockets, as between hosts: in memory Open MPI's receiver may fetch a message by itself.
    let variables = [THREAD, NO_MEMORY, ("PROGRESS_THERE", &there), ("OMPI_MCA_btl", "tcp,self")];
    on_ranks_with(Threading::Multiple, test, 2, &variables, |world| long_message(world, Path::new(&there)));
    _ = std::fs::remove_file(&there);
}

fn long_message(world: &SimpleCommunicator, there: &Path) {
    let cube = Hypercube::new(world).expect("a hypercube");
    is_right(&cube);
    let mut data = vec![u64::from(cube.rank() == 0); 1 << 21];
    request::scope(|scope| {
        let call = cube.broadcast(0).algorithm("sbt").packet(data.len()).start(scope, &mut data).expect("a broadcast");
        if cube.rank() == 0 {
            let start = Instant::now();
            while !there.exists() {
                assert!(start.elapsed() < Duration::from_secs(60), "it has not come");
                std::hint::spin_loop();
            }
        }
        call.wait().expect("a broadcast");
    });
    assert!(data.iter().all(|&element| element == 1));
    if cube.rank() == 1 {
        std::fs::write(there, "").expect("a file");
    }
}
