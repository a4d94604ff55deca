//! The start-up that all examples share: under `mpirun` the ranks are those of MPI, otherwise they are threads.

use hypercoll::{threads, Hypercube};

/// Runs `program` on every rank.
///
/// Started by `mpirun`, every process is a rank. Started by hand, or with `--threads N`, the ranks are N threads (8 if
/// nothing is said) of this one process, and no MPI is needed. The program is the same.
#[allow(dead_code)] // one example has options
pub fn run(program: impl Fn(&Hypercube) + Sync) {
    run_with([], |cube, []| program(cube));
}

/// The same of a program with options that have numbers as values: their names, and what they are if nothing is said.
pub fn run_with<const N: usize>(mut options: [(&str, usize); N], program: impl Fn(&Hypercube, [usize; N]) + Sync) {
    env_logger::init(); // RUST_LOG=hypercoll=debug tells what every collective did
    let (asked, _) = words(&mut options);
    let program = |cube: &Hypercube| program(cube, options.map(|(_, value)| value));
    #[cfg(feature = "mpi")]
    if asked.is_none() && started_by_mpirun() {
        return under_mpi(program);
    }
    threads::run(asked.unwrap_or(8), program);
}

/// What the example is told besides: the words that are neither an option nor its value.
#[allow(dead_code)] // not every example is told anything
pub fn arguments() -> Vec<String> {
    words(&mut []).1
}

/// N of `--threads N`, and the words that are left to the example; fills in the options.
fn words(options: &mut [(&str, usize)]) -> (Option<usize>, Vec<String>) {
    let (mut threads, mut rest) = (None, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|number| number.parse().ok()).unwrap_or_else(|| usage());
        match options.iter_mut().find(|(name, _)| *name == word) {
            Some((_, value)) => *value = number(),
            None if word == "--threads" => threads = Some(number()).filter(|&number| number > 0).or_else(|| usage()),
            None if word.starts_with('-') => usage(),
            None => rest.push(word),
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
