//! What tests of unchanged programs have in common.

#![allow(dead_code)] // not every test uses all of it

#[path = "../../../tests/common/mpirun.rs"]
pub mod mpirun;
#[path = "../../../tests/common/process.rs"]
pub mod process;

use mpirun::mpirun_with;
use process::{run, Output};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// What is loaded before the program; Cargo has built it for this test.
pub fn library() -> PathBuf {
    let library = std::env::current_exe().expect("this test").with_file_name("libhypercoll_preload.so");
    assert!(library.exists(), "{} is not there", library.display());
    library
}

pub fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Compiles a program.
pub fn built(source: &str, name: &str, flags: &[&str]) -> PathBuf {
    built_with(source, name, flags, &[])
}

/// Compiles a program, unless that says that "this MPI has none" of what it calls.
pub fn built_if_possible(source: &str, name: &str, flags: &[&str]) -> Option<PathBuf> {
    let output = run(compiler(source, name, flags, &[]));
    assert!(output.code == Some(0) || output.stderr.contains("this MPI has none"), "{source}: {}", output.told());
    (output.code == Some(0)).then(|| place(name))
}

/// Whether this MPI comes with Fortran: if not, `MPIFORT` is empty (`scripts/mpi`).
pub fn has_fortran() -> bool {
    std::env::var("MPIFORT").as_deref() != Ok("")
}

/// Compiles a program, with libraries.
pub fn built_with(source: &str, name: &str, flags: &[&str], libraries: &[&str]) -> PathBuf {
    let output = run(compiler(source, name, flags, libraries));
    assert_eq!(output.code, Some(0), "{source}: {}", output.told());
    place(name)
}

fn compiler(source: &str, name: &str, flags: &[&str], libraries: &[&str]) -> Command {
    let (variable, usual) = if source.ends_with(".c") { ("MPICC", "mpicc") } else { ("MPIFORT", "mpifort") };
    let mut command = Command::new(std::env::var(variable).unwrap_or_else(|_| usual.into()));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["-O1"])
        .args(flags)
        .arg("-o")
        .arg(place(name))
        .arg(source)
        .args(libraries);
    command
}

/// Runs a program with the library before it.
pub fn through_hypercoll(variables: &[(&str, &str)], ranks: usize, program: &Path, arguments: &[&str]) -> Output {
    let preload = format!("LD_PRELOAD={}", library().display());
    let words = [&[preload.as_str(), program.to_str().expect("a path")], arguments].concat();
    mpirun_with(variables, ranks, Path::new("env"), &words)
}

/// All that can be ours is, from the first call on.
pub const ALL: [(&str, &str); 2] = [("HYPERCOLL_FROM_CALL", "1"), ("HYPERCOLL_COMPARE", "off")];

/// No memory is shared.
pub const OFF: (&str, &str) = ("HYPERCOLL_SHARED_MEMORY", "off");

/// Runs a program that writes a file a rank, natively and through hypercoll, and compares them; the report.
pub fn says_the_same(program: &Path, name: &str, ranks: usize, variables: &[(&str, &str)]) -> String {
    says_what_another_says(program, program, name, ranks, variables)
}

/// The same of a program through hypercoll that should say what another one says natively; the report.
pub fn says_what_another_says(
    other: &Path,
    program: &Path,
    name: &str,
    ranks: usize,
    variables: &[(&str, &str)],
) -> String {
    let native = said_natively(other, ranks);
    let ours = place(&format!("{name}-{ranks}-ours"));
    let ours = ours.to_str().expect("a path");
    let report = format!("{ours}.json");
    let output = through_hypercoll(&[variables, &[("HYPERCOLL_REPORT", &report)]].concat(), ranks, program, &[ours]);
    assert_eq!(output.code, Some(0), "{ranks} ranks {variables:?}: {}", output.told());
    for rank in 0..ranks {
        let [expected, found] =
            [&native[..], ours].map(|prefix| std::fs::read_to_string(format!("{prefix}.{rank}")).expect("a file"));
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
    if variables.starts_with(&ALL) {
        let usual = |row: &str| row.contains("one rank alone") || row.contains("no hypercube yet");
        let left = told.lines().find(|row| row.contains("\"served_by\":\"native\"") && !usual(row));
        assert_eq!(left, None, "{told}");
    }
    told
}

/// Where the files begin that a program writes natively. It is run once on so many ranks: more of them than cores may take minutes, where
/// ranks of MPI that wait let no others run.
fn said_natively(program: &Path, ranks: usize) -> String {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let files = format!("{}-{ranks}-native", program.display());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&files) {
        let output = mpirun_with(&[], ranks, program, &[&files]);
        assert_eq!(output.code, Some(0), "{ranks} ranks: {}", output.told());
        said.insert(files.clone());
    }
    files
}

/// Where gfortran puts modules.
pub const MODULES: &str = concat!("-J", env!("CARGO_TARGET_TMPDIR"));
