//! Under `mpirun`: everything that `hypercoll verify` tries, and the examples, on 1 to 16 ranks.
//!
//! `HYPERCOLL_MPIRUN` names another launcher than `mpirun`. A rank that waits in vain ends its run, every run has a hard time limit
//! besides, and none leaves a process behind.
#![cfg(feature = "mpi")]

#[path = "../../tests/common/mpirun.rs"]
mod mpirun;
#[path = "../../tests/common/process.rs"]
mod process;

use mpirun::{launch, launcher, mpirun_with, turn};
use process::{run, run_for, Output};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const RANKS: [usize; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 16];

/// Runs a program on so many ranks.
fn mpirun(ranks: usize, program: &Path, arguments: &[&str]) -> Output {
    mpirun_with(&[], ranks, program, arguments)
}

fn hypercoll() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_hypercoll"))
}

/// An example; `cargo test` builds them all before it runs any test.
fn example(name: &str) -> PathBuf {
    let path = hypercoll().with_file_name("examples").join(name);
    assert!(
        path.exists(),
        "{} is not built; a test run by name needs: cargo test --examples --test ...",
        path.display()
    );
    path
}

fn verify(ranks: &[usize], arguments: &[&str]) {
    for &ranks in ranks {
        let output = mpirun(ranks, &hypercoll(), &[&["verify", "--json"], arguments].concat());
        assert_eq!(output.code, Some(0), "{ranks} ranks {arguments:?}: {}", output.told());
        let report: serde_json::Value = serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{ranks} ranks {arguments:?}: {error}: {}", output.told()));
        assert_eq!(report["ok"], true, "{ranks} ranks: {report}");
        // Else mpirun and the program belong to different MPI libraries, and every process was alone.
        assert_eq!(report["ranks"], ranks, "{report}");
        assert!(report["calls"].as_u64().is_some_and(|calls| calls > 400 * ranks as u64), "{report}");
    }
}

#[test]
fn verify_all() {
    verify(&RANKS, &["--all"]);
}

/// Nothing leans on the transport's buffers: every send waits for its receive.
#[test]
fn verify_all_with_synchronous_sends() {
    verify(&[2, 3, 5, 12, 16], &["--all", "--synchronous"]);
}

/// Messages take the ways that they take between hosts, and on hosts where ranks may not read each other's memory.
#[test]
fn verify_all_without_shared_memory_or_with_two_copies() {
    for (shared_memory, ranks) in [("off", 3), ("off", 8), ("two-copies", 3), ("two-copies", 8)] {
        let variable = [("HYPERCOLL_SHARED_MEMORY", shared_memory)];
        for arguments in [&["verify", "--all"][..], &["verify", "--all", "--synchronous"]] {
            let output = mpirun_with(&variable, ranks, &hypercoll(), arguments);
            assert_eq!(output.code, Some(0), "{shared_memory}: {ranks} ranks: {}", output.told());
            assert!(output.stdout.contains(&format!("verify: {ranks} ranks, ")), "{}", output.told());
        }
    }
}

#[test]
fn what_a_rank_s_environment_asks_for_must_exist() {
    for (variable, value, why) in [
        ("HYPERCOLL_SHARED_MEMORY", "some", "'some' is none of"),
        ("HYPERCOLL_TIMEOUT", "1m", "'1m' is neither a whole number of seconds"),
        ("HYPERCOLL_SYNCHRONOUS_SENDS", "yes", "'yes' is neither"),
    ] {
        let output = mpirun_with(&[(variable, value)], 3, &hypercoll(), &["verify"]);
        assert_ne!(output.code, Some(0), "{}", output.told());
        assert!(output.stderr.contains(&format!("{variable}: {why}")), "{}", output.told());
    }
}

#[test]
fn examples() {
    for ranks in [1, 2, 3, 8] {
        let words = [
            ("hello_hypercube", "hello from rank 0"),
            ("histogram", "all counted once"),
            ("transpose", "transposed"),
            ("power_iteration", "eigenvalue"),
            ("image_histogram", "equal to the serial histogram"),
            ("faulty_link", "0-1"),
            ("matrix_multiply", "multipl"),
            ("transpose_matrix", "transpose-submatrices"),
            ("turn_matrix", "quarter 4"),
            ("balance", "the same load"),
        ];
        for (name, word) in words {
            let output = mpirun(ranks, &example(name), &[]);
            assert_eq!(output.code, Some(0), "{name} on {ranks} ranks: {}", output.told());
            assert!(output.stdout.contains(word), "{name} on {ranks} ranks: {}", output.told());
            let size = if name == "hello_hypercube" { format!("of {ranks},") } else { format!("{ranks} ranks") };
            assert!(output.stdout.contains(&size), "{name} on {ranks} ranks: {}", output.told());
        }
        let hello = mpirun(ranks, &example("hello_hypercube"), &[]).stdout;
        for rank in 0..ranks {
            assert!(hello.contains(&format!("rank {rank} of {ranks}, node ")), "rank {rank} is missing in\n{hello}");
        }
    }
}

/// The same programs by hand: ranks are threads.
#[test]
fn examples_on_threads() {
    let names = ["hello_hypercube", "histogram", "transpose", "power_iteration", "image_histogram", "faulty_link"];
    for name in names.into_iter().chain(["matrix_multiply", "transpose_matrix", "turn_matrix", "balance"]) {
        for ranks in [1, 2, 5, 8] {
            let mut command = Command::new(example(name));
            command.args(["--threads", &ranks.to_string()]).env_remove("RUST_LOG");
            let output = run(command);
            assert_eq!(output.code, Some(0), "{name} on {ranks} threads: {}", output.told());
            assert!(output.stdout.contains(&format!("{ranks}")), "{name}: {}", output.told());
        }
        let mut command = Command::new(example(name));
        command.arg("--nonsense");
        let output = run(command);
        assert_eq!(output.code, Some(2), "{}", output.told());
        assert!(output.stderr.contains("usage"), "{}", output.told());
    }
}

/// The results of a benchmark of native MPI beside ours.
fn bench(ranks: usize, arguments: &[&str]) -> serde_json::Value {
    let output = mpirun(ranks, &hypercoll(), &[&["bench", "--json"], arguments].concat());
    assert_eq!(output.code, Some(0), "{ranks} ranks {arguments:?}: {}", output.told());
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", output.told()))
}

/// Native algorithms are forced (the benchmark reads every variable back, and verifies every result), all of them are tried, and
/// the best stand beside native's own choice.
#[test]
fn native_at_its_best() {
    if !launcher().1 {
        return;
    }
    for ranks in [2, 3, 4] {
        // All are tried in a second or two; a slow machine is given the time for it as well.
        let arguments = ["broadcast", "all-to-all", "barrier", "permute", "--sizes", "8KiB", "--seconds", "300"];
        let results = bench(ranks, &[&arguments[..], &["--algorithms", "sbt,direct", "--repetitions", "5"]].concat());
        let tried = results["screening"].as_array().expect("a list");
        let names: Vec<&str> = tried.iter().filter_map(|tried| tried["implementation"].as_str()).collect();
        for name in ["basic_linear", "binomial", "binomial seg 4 KiB", "pairwise", "double_ring"] {
            assert!(names.contains(&&format!("native:{name}")[..]), "{name} is missing in {names:?}");
        }
        assert_eq!(names.contains(&"native:two_proc"), ranks == 2, "{names:?}");
        assert!(tried.iter().all(|tried| tried["verdict"] != "wrong"), "{tried:?}");
        for collective in ["broadcast", "all-to-all", "barrier", "permute"] {
            let rows = results["results"].as_array().expect("a list").iter();
            let native: Vec<&str> = rows
                .filter(|row| row["collective"] == collective && row["native"] == true)
                .filter_map(|row| row["implementation"].as_str())
                .collect();
            assert_eq!(native.iter().filter(|name| **name == "native").count(), 1, "{collective}: {native:?}");
            // MPI has no permutation, so there is nothing to force.
            let forced = native.iter().filter(|name| name.starts_with("native:")).count();
            assert_eq!(forced > 0, collective != "permute", "{collective}: {native:?}");
        }
    }
    let results = bench(2, &["broadcast", "--sizes", "8KiB", "--seconds", "2", "--native", "default"]);
    assert_eq!(results["screening"], serde_json::json!([]));
}

/// Blocks of different lengths go through MPI's own calls as well, on which the results are verified; none of them is forced.
#[test]
fn native_blocks_of_different_lengths() {
    for ranks in [1, 3, 4] {
        let results =
            bench(ranks, &["--experiment", "lengths", "--sizes", "8,4KiB", "--repetitions", "2", "--seconds", "20"]);
        let rows = results["results"].as_array().expect("a list");
        let native = |row: &&serde_json::Value| row["implementation"] == "native" && row["lengths"].is_array();
        assert_eq!(rows.iter().filter(native).count(), 4 * 2, "{ranks} ranks: {rows:?}");
        assert_eq!(results["method"]["lengths"], "zipf");
        assert_eq!(results["screening"], serde_json::json!([]));
    }
}

/// A wrong name is refused on every rank; mpirun passes the exit code on.
#[test]
fn exit_codes_come_through() {
    for ranks in [1, 4] {
        let output = mpirun(ranks, &hypercoll(), &["verify", "broadcast", "nonsense"]);
        assert_eq!(output.code, Some(2), "{}", output.told());
        assert!(output.stderr.contains("nonsense") && output.stderr.contains("msbt"), "{}", output.told());
    }
}

/// What was measured is not lost with standard output, and is not there in part.
#[test]
fn results_are_kept_before_they_are_printed() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, program) = (folder.join("results.json"), hypercoll());
    std::fs::write(&file, "from before").expect("a file");
    let [file, program] = [&file, &program].map(|path| path.to_str().expect("a path"));
    // More than is printed at once.
    let bench = "bench barrier --native none --repetitions 2000 --seconds 600 --json --out";
    let words = ["-c", r#"exec "$0" "$@" >/dev/full"#, program].into_iter().chain(bench.split(' ')).chain([file]);
    let output = mpirun(1, Path::new("sh"), &words.collect::<Vec<_>>());
    assert_eq!(output.code, Some(2), "{}", output.told());
    let results: serde_json::Value = serde_json::from_slice(&std::fs::read(file).expect("the results")).expect("JSON");
    assert_eq!(results["ranks"], 1);
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1);
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

/// A rank that has no experiment says so, once, and the others do not wait for it.
#[test]
fn a_rank_that_cannot_begin_ends_the_job() {
    for (ranks, others, said) in
        [(1, 2, "rank 1: experiment: nowhere.toml"), (2, 0, "hypercoll: experiment: nowhere.toml")]
    {
        let program = hypercoll();
        let wrong = ["bench", "--experiment", "nowhere.toml"];
        let mut command =
            if others == 0 { launch(ranks, &program, &wrong) } else { launch(ranks, &program, &["bench"]) };
        if others > 0 {
            command.args([":", "-n", &others.to_string()]).arg(&program).args(wrong);
        }
        let output = {
            let _turn = turn();
            run_for(Duration::from_secs(300), command)
        };
        assert_eq!((output.timed_out, output.code), (false, Some(2)), "{}", output.told());
        assert_eq!(output.stderr.matches("nowhere.toml").count(), 1, "{}", output.told());
        assert!(output.stderr.contains(said), "{}", output.told());
    }
}

/// Another MPI's launcher has started two processes, and each is alone: none of them says that all is well.
#[test]
fn ranks_that_do_not_find_each_other_say_so() {
    let other = if launcher().1 { "PMI_SIZE" } else { "OMPI_COMM_WORLD_SIZE" };
    for subcommand in ["verify", "bench", "tune"] {
        let mut command = Command::new(hypercoll());
        command.arg(subcommand);
        // Whatever has started this test.
        for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"] {
            command.env_remove(name);
        }
        command.env(other, "2");
        let output = {
            let _turn = turn();
            run(command)
        };
        assert_eq!((output.code, &*output.stdout), (Some(2), ""), "{subcommand}: {}", output.told());
        assert!(output.stderr.contains("has started 2 processes"), "{subcommand}: {}", output.told());
    }
}

/// A rank that stands still is found out by the one that waits for it.
#[test]
fn a_rank_that_waits_in_vain_ends_the_job() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("in-vain-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let results = folder.join("results.json");
    // Rank 1 stands still when it has used so many hundredths of a second, as it does in the measurement, which would take far longer than
    // all limits.
    let program = hypercoll();
    let bench =
        "bench broadcast --sizes 8 --algorithms direct --native none --repetitions 1000000000 --seconds 1000000";
    let bench = bench.split(' ').chain(["--out", results.to_str().expect("a path")]);
    let used = "cut -d ' ' -f 14,15 /proc/$$/stat | tr ' ' +";
    let stop = format!(r#"(while [ $(($({used}))) -lt 400 ]; do sleep 0.2; done; kill -s STOP $$) & exec "$0" "$@""#);
    let mut command = launch(1, &program, &bench.clone().collect::<Vec<_>>());
    command.args([":", "-n", "1", "sh", "-c", &stop]).arg(&program).args(bench);
    command.env("HYPERCOLL_TIMEOUT", "10");
    let output = {
        let _turn = turn();
        run(command)
    };
    std::fs::remove_dir_all(folder).expect("the folder is ours");
    assert!(!output.timed_out && output.code.is_some_and(|code| code > 0), "{}", output.told());
    let why = "rank 0: HYPERCOLL_TIMEOUT: no progress for 1";
    assert!(output.stderr.contains(why) && output.stderr.contains("waiting for rank 1"), "{}", output.told());
}

/// The runner itself: a program that does not end is ended, with all its ranks.
#[test]
fn the_time_limit_holds() {
    let command = launch(3, Path::new("sleep"), &["1000"]);
    let _turn = turn();
    let output = run_for(Duration::from_secs(1), command);
    assert!(output.timed_out && output.code.is_none(), "{}", output.told());
    assert!(output.seconds < 500.0, "{}", output.told());
}
