//! What `scripts/install` installs is found by the tools that programs are built with.

mod common;

use common::mpirun::mpirun_with;
use common::process::run;
use common::{library, place, ALL};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory like those that the script installs to, without the command.
fn prefix(name: &str) -> PathBuf {
    let prefix = place(name);
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, folder) in [
        (library(), "lib"),
        (own.join("include/hypercoll.h"), "include"),
        (own.join("hypercoll.pc"), "lib/pkgconfig"),
        (own.join("hypercoll-config.cmake"), "lib/cmake/hypercoll"),
        (own.join("hypercoll-config-version.cmake"), "lib/cmake/hypercoll"),
    ] {
        let folder = prefix.join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::copy(&file, folder.join(file.file_name().expect("a file"))).expect("a copy");
    }
    prefix
}

/// The program runs, and its collectives are ours.
fn explains(program: &Path) {
    let output = mpirun_with(&ALL, 2, program, &[]);
    assert_eq!(output.code, Some(0), "{}", output.told());
    assert!(output.stdout.contains("broadcast of 8000 x 1 B on 2 ranks"), "{}", output.told());
}

#[test]
fn pkg_config_finds_it() {
    let (prefix, program) = (prefix("prefix-pkg-config"), place("explain-pkg-config"));
    let script = "\"${MPICC:-mpicc}\" examples/explain.c -o \"$0\" $(pkg-config --cflags --libs 'hypercoll = '\"$1\")";
    let mut shell = Command::new("sh");
    shell.current_dir(env!("CARGO_MANIFEST_DIR")).args(["-c", script]);
    shell.arg(&program).arg(env!("CARGO_PKG_VERSION")).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let output = run(shell);
    assert_eq!(output.code, Some(0), "{}", output.told());
    explains(&program);
}

/// As a program would that names MPI, too, and first; and no program for another version.
#[test]
fn cmake_finds_it() {
    let mut cmake = Command::new("cmake");
    cmake.arg("--version");
    if cmake.output().is_err() {
        return eprintln!("there is no cmake here: its package is not tried");
    }
    let (prefix, project) = (prefix("prefix-cmake"), place("cmake"));
    std::fs::create_dir_all(&project).expect("a folder");
    let configured = |version: &str| {
        let text = format!(
            "cmake_minimum_required(VERSION 3.13)\nproject(explain C)\nfind_package(MPI REQUIRED COMPONENTS C)\n\
             find_package(hypercoll {version} REQUIRED)\nadd_executable(explain {}/examples/explain.c)\n\
             target_link_libraries(explain PRIVATE MPI::MPI_C hypercoll::hypercoll)\n",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::write(project.join("CMakeLists.txt"), text).expect("a file");
        let _ = std::fs::remove_dir_all(project.join("build"));
        let mut cmake = Command::new("cmake");
        cmake.current_dir(&project).args(["-S", ".", "-B", "build"]);
        cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
        cmake.args(std::env::var("MPICC").map(|compiler| format!("-DMPI_C_COMPILER={compiler}")));
        run(cmake)
    };
    let output = configured("99");
    assert!(output.code != Some(0) && output.stderr.contains("version"), "{}", output.told());
    for version in [env!("CARGO_PKG_VERSION"), ""] {
        let output = configured(version);
        assert_eq!(output.code, Some(0), "{}", output.told());
    }
    let mut cmake = Command::new("cmake");
    cmake.current_dir(&project).args(["--build", "build"]);
    let output = run(cmake);
    assert_eq!(output.code, Some(0), "{}", output.told());
    explains(&project.join("build/explain"));
}
