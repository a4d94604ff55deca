//! A rank whose process ends in the middle of things: the ranks of its host see it, if the launcher lets them live.

use crate::mpirun::{launcher, mpirun_with};
use crate::SOON;
use hypercoll::{Error, Hypercube};
use std::time::{Duration, Instant};

/// Tells a rank what becomes of the last one.
const END: &str = "MISMATCHES_END";
const RANKS: usize = 4;

/// What a rank does: the last one ends, the others call and say what came of it.
fn rank(end: &str) -> ! {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let cube = Hypercube::new(&world).expect("a hypercube");
    let mut all = vec![0; RANKS << 16];
    let mine = vec![cube.rank(); 1 << 16];
    cube.all_gather_into(&mine, &mut all).expect("all are there");
    if cube.rank() == RANKS - 1 {
        match end {
            "exit" => std::process::exit(0),
            // No destructor and no handler runs.
            _ => std::process::Command::new("sh").args(["-c", "kill -s KILL $PPID"]).status().expect("a shell"),
        };
        std::thread::sleep(Duration::from_secs(60));
    }
    // Some way into the call of the others, or before it.
    let start = Instant::now();
    let error = (0..100).find_map(|_| cube.all_gather_into(&mine, &mut all).err());
    let told = match error {
        Some(Error::RankFailed { rank, .. }) if rank == RANKS - 1 && start.elapsed() < SOON => "is told",
        _ => "is not told",
    };
    println!("rank {} {told}: {error:?}, after {:?}", cube.rank(), start.elapsed());
    // MPI itself cannot end in order any more.
    std::process::exit(0);
}

fn ends(test: &str, end: &str) {
    if let Ok(end) = std::env::var(END) {
        rank(&end);
    }
    // Other launchers end the job, which is as good.
    if !launcher().1 {
        return;
    }
    let program = std::env::current_exe().expect("the path of this program");
    for way in ["single-copy", "off"] {
        let variables = [
            (END, end),
            ("HYPERCOLL_SHARED_MEMORY", way),
            ("HYPERCOLL_TIMEOUT", "10,error"),
            ("OMPI_MCA_orte_enable_recovery", "1"),
            ("OMPI_MCA_orte_abort_on_non_zero_status", "0"),
        ];
        let arguments = ["--exact", test, "--nocapture", "--test-threads=1"];
        let output = mpirun_with(&variables, RANKS, &program, &arguments);
        assert_eq!(output.stdout.matches("is told").count(), RANKS - 1, "{way}: {}", output.told());
    }
}

#[test]
fn a_rank_that_exits() {
    ends("dead::a_rank_that_exits", "exit");
}

#[test]
fn a_rank_that_is_killed() {
    ends("dead::a_rank_that_is_killed", "kill");
}
