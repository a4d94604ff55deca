//! The start-up that all examples share: under `mpirun` the ranks are those of MPI, otherwise they are threads.

use hypercoll::{threads, Hypercube};

/// Runs `program` on every rank.
///
/// Started by `mpirun`, every process is a rank. Started by hand, or with `--threads N`, the ranks are N threads (8 if
/// nothing is said) of this one process, and no MPI is needed. The program is the same.
pub fn run(program: impl Fn(&Hypercube) + Sync) {
    env_logger::init(); // RUST_LOG=hypercoll=debug tells what every collective did
    let (asked, _) = words();
    #[cfg(feature = "mpi")]
    if asked.is_none() && started_by_mpirun() {
        return under_mpi(program);
    }
    threads::run(asked.unwrap_or(8), program);
}

/// What the example is told besides: the words that are neither an option nor its value.
#[allow(dead_code)] // not every example is told anything
pub fn arguments() -> Vec<String> {
    words().1
}

/// N of `--threads N`, and the words that are left to the example.
fn words() -> (Option<usize>, Vec<String>) {
    let (mut threads, mut rest) = (None, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--threads" => {
                let number = words.next().and_then(|number| number.parse().ok());
                threads = Some(number.filter(|&number| number > 0).unwrap_or_else(|| usage()));
            }
            option if option.starts_with('-') => usage(),
            _ => rest.push(word),
        }
    }
    (threads, rest)
}

fn usage() -> ! {
    eprintln!("usage: [mpirun -n N] EXAMPLE [ITS ARGUMENTS] [--threads N]");
    std::process::exit(2);
}

/// Launchers tell the processes that they start how many they are.
#[cfg(feature = "mpi")]
fn started_by_mpirun() -> bool {
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"].iter().any(|name| std::env::var_os(name).is_some())
}

#[cfg(feature = "mpi")]
fn under_mpi(program: impl Fn(&Hypercube)) {
    use mpi::traits::Communicator;
    use std::panic::{catch_unwind, AssertUnwindSafe};

    let universe = mpi::initialize().expect("MPI starts once");
    let world = universe.world();
    let cube = Hypercube::new(&world).expect("a duplicate of the communicator");
    // If an assertion fails on one rank, the others must not wait for it: end them all.
    if catch_unwind(AssertUnwindSafe(|| program(&cube))).is_err() {
        world.abort(101);
    }
}
