//! Unchanged programs under `mpirun`: through hypercoll they do what they do natively.
//!
//! `HYPERCOLL_MPIRUN` names another launcher than `mpirun`, `MPICC` and `MPIFORT` other compilers than those of that name: all of one MPI.

#[path = "../../tests/common/mpirun.rs"]
mod mpirun;
#[path = "../../tests/common/process.rs"]
mod process;

use mpirun::mpirun_with;
use process::{run, Output};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is loaded before the program; Cargo has built it for this test.
fn library() -> PathBuf {
    let library = std::env::current_exe().expect("this test").with_file_name("libhypercoll_preload.so");
    assert!(library.exists(), "{} is not there", library.display());
    library
}

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Compiles a program.
fn built(source: &str, name: &str, flags: &[&str]) -> PathBuf {
    let (variable, usual) = if source.ends_with(".c") { ("MPICC", "mpicc") } else { ("MPIFORT", "mpifort") };
    let mut command = Command::new(std::env::var(variable).unwrap_or_else(|_| usual.into()));
    let program = place(name);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["-O1"]).args(flags).arg("-o").arg(&program).arg(source);
    let output = run(command);
    assert_eq!(output.code, Some(0), "{source}: {}", output.told());
    program
}

/// Runs a program with the library before it.
fn through_hypercoll(variables: &[(&str, &str)], ranks: usize, program: &Path, arguments: &[&str]) -> Output {
    let preload = format!("LD_PRELOAD={}", library().display());
    let words = [&[preload.as_str(), program.to_str().expect("a path")], arguments].concat();
    mpirun_with(variables, ranks, Path::new("env"), &words)
}

/// Runs a program that writes a file a rank, natively and through hypercoll, and compares them.
fn says_the_same(program: &Path, name: &str, ranks: usize, variables: &[(&str, &str)]) {
    let files = |how: &str| place(&format!("{name}-{ranks}-{how}"));
    let [native, ours] = ["native", "ours"].map(files);
    let [native, ours] = [native.to_str().expect("a path"), ours.to_str().expect("a path")];
    let report = format!("{ours}.json");
    let output = mpirun_with(&[], ranks, program, &[native]);
    assert_eq!(output.code, Some(0), "{ranks} ranks: {}", output.told());
    let output = through_hypercoll(&[variables, &[("HYPERCOLL_REPORT", &report)]].concat(), ranks, program, &[ours]);
    assert_eq!(output.code, Some(0), "{ranks} ranks {variables:?}: {}", output.told());
    for rank in 0..ranks {
        let [expected, found] =
            [native, ours].map(|prefix| std::fs::read_to_string(format!("{prefix}.{rank}")).expect("a file"));
        assert!(expected.lines().count() > 100, "{name}: {expected}");
        for (expected, found) in expected.lines().zip(found.lines()) {
            assert_eq!(found, expected, "rank {rank} of {ranks}, {variables:?}");
        }
        assert_eq!(found.lines().count(), expected.lines().count());
    }
    // Else both went the same way.
    let told = std::fs::read_to_string(&report).expect("a report");
    let ours = told.lines().filter(|row| row.contains("\"served_by\":\"ours\"")).count();
    assert_eq!(ours > 0, ranks > 1, "{ranks} ranks: {told}");
    let left = told.lines().find(|row| row.contains("\"served_by\":\"native\"") && !row.contains("one rank alone"));
    assert_eq!(left, None, "{told}");
}

#[test]
fn c_programs_get_the_same_results() {
    let program = built("tests/programs/collectives.c", "collectives", &[]);
    for ranks in [1, 2, 3, 5, 8] {
        says_the_same(&program, "collectives", ranks, &[]);
    }
    for (shared_memory, ranks) in [("off", 3), ("off", 4), ("two-copies", 3), ("none", 3)] {
        says_the_same(&program, "collectives", ranks, &[("HYPERCOLL_SHARED_MEMORY", shared_memory)]);
    }
}

#[test]
fn fortran_programs_get_the_same_results() {
    for (name, flags) in [("mpif", &["-cpp"][..]), ("f08", &["-cpp", "-DF08"])] {
        let program = built("tests/programs/collectives.f90", name, flags);
        for ranks in [1, 2, 3, 4] {
            says_the_same(&program, name, ranks, &[]);
        }
    }
}
