//! `hypercoll preload`: runs an unchanged MPI program, with its collectives through hypercoll.

use crate::Failure;
use clap::Args;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

const LIBRARY: &str = "libhypercoll_preload.so";

/// Run an unchanged MPI program with its collectives through hypercoll: under mpirun, in place of the program.
///
/// The program runs in the place of this one, with libhypercoll_preload.so before its other libraries (LD_PRELOAD). That library is for
/// one MPI, the one that it was built with: a program of another MPI says so, and runs without.
///
///     mpirun -n 8 hypercoll preload --report - -- ./program its arguments
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct PreloadArgs {
    /// Write what was called, how often, what served it and how long it took to a file (JSON if it ends in .json), or to standard
    /// output: -
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Only these collectives, by MPI's names: bcast,allreduce,...; or of these forms: ibcast,bcast_init,...
    #[arg(long, value_name = "LIST")]
    only: Option<String>,
    /// Leave these collectives to MPI
    #[arg(long, value_name = "LIST")]
    native: Option<String>,
    /// The same bits in every run with as many ranks on as many hosts
    #[arg(long)]
    reproducible: bool,
    /// The library, if it is not where this program is
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// Where the library is: where builds and packages put it.
fn library() -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|error| format!("no place of this program: {error}"))?;
    let places =
        ["", "deps", "../lib", "../lib64", "../lib/hypercoll"].map(|place| own.with_file_name(place).join(LIBRARY));
    places.iter().find(|place| place.exists()).cloned().ok_or_else(|| {
        let profile = env!("HYPERCOLL_PROFILE");
        let profile = if profile == "debug" { "dev" } else { profile };
        let own = own.display();
        format!(
            "{LIBRARY} is not beside {own}; `scripts/install` installs both, `cargo build --profile {profile} -p hypercoll-preload` \
             builds it beside what else that profile builds (--library names one elsewhere)"
        )
    })
}

/// Becomes the program; what is returned is why not.
pub fn run(args: &PreloadArgs) -> Result<(), Failure> {
    let library = match &args.library {
        Some(library) if library.exists() => library.clone(),
        Some(library) => return Err(format!("--library: there is no {}", library.display()).into()),
        None => library()?,
    };
    // The loader takes a name with a slash as it is, wherever the program goes.
    let library = std::fs::canonicalize(&library).map_err(|error| format!("{}: {error}", library.display()))?;
    if library.as_os_str().as_encoded_bytes().iter().any(|byte| b" :".contains(byte)) {
        let why = "the loader takes what LD_PRELOAD says apart at spaces and colons; copy the library to a folder without, and name it (--library)";
        return Err(format!("{}: {why}", library.display()).into());
    }
    let mut preload = OsString::from(&library);
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let mut command = Command::new(&args.program[0]);
    command.args(&args.program[1..]).env("LD_PRELOAD", preload);
    if let Some(report) = &args.report {
        command.env("HYPERCOLL_REPORT", report);
    }
    for (name, value) in [("HYPERCOLL_ONLY", &args.only), ("HYPERCOLL_NATIVE", &args.native)] {
        value.iter().for_each(|value| _ = command.env(name, value));
    }
    if args.reproducible {
        command.env("HYPERCOLL_REPRODUCIBLE", "1");
    }
    let why = command.exec();
    Err(format!("{}: {why}", args.program[0].to_string_lossy()).into())
}
