//! Whether the processes that a launcher has started find each other.

use hypercoll::select::tuning::mpi_name;
use mpi::traits::Communicator;

/// Where launchers tell each process how many there are: `mpirun` of Open MPI; Hydra, which is that of MPICH and Intel MPI; Slurm's `srun`.
/// Variables of an allocation (SLURM_NTASKS) say nothing of a program that is started in it by itself.
const STARTED: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// How many processes a launcher says that it has started, and in which variable, if that is more than one. One launcher may have been
/// started by another (Open MPI starts its daemons by `srun`): if any says one, that is what was asked for.
fn started(variable: impl Fn(&str) -> Option<String>) -> Option<(usize, &'static str)> {
    let told = STARTED.into_iter().filter_map(|name| Some((variable(name)?.parse().ok()?, name)));
    told.min().filter(|&(processes, _)| processes > 1)
}

/// Refuses to go on where MPI sees one process and its launcher has started several: each of them would believe that it is alone, and be
/// content.
///
/// # Errors
/// A message that says so.
pub fn check(world: &impl Communicator) -> Result<(), String> {
    let several = started(|name| std::env::var(name).ok()).filter(|_| world.size() == 1);
    several.map_or(Ok(()), |(processes, variable)| {
        Err(format!(
            "the launcher has started {processes} processes ({variable}), but MPI ({}) sees one: mpirun is of another MPI than this \
             program; under Slurm see `srun --mpi=list`. (On one rank: mpirun -n 1)",
            library()
        ))
    })
}

/// The name and version out of what the MPI library says of itself.
pub fn library() -> String {
    mpi_name(&mpi::environment::library_version().unwrap_or_else(|_| "unknown".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_those_that_the_launcher_itself_has_started() {
        let told = |variables: &[(&str, &str)]| {
            let of = |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_string());
            started(of)
        };
        for (variables, expected) in [
            (&[][..], None),
            (&[("OMPI_COMM_WORLD_SIZE", "8")], Some((8, "OMPI_COMM_WORLD_SIZE"))),
            (&[("PMI_SIZE", "2")], Some((2, "PMI_SIZE"))),
            (&[("SLURM_STEP_NUM_TASKS", "32")], Some((32, "SLURM_STEP_NUM_TASKS"))),
            (&[("OMPI_COMM_WORLD_SIZE", "1")], None),
            // A program by itself in a shell of an allocation.
            (&[("SLURM_NTASKS", "32"), ("SLURM_NPROCS", "32")], None),
            // One process, by daemons that srun has started, or within another run.
            (&[("OMPI_COMM_WORLD_SIZE", "1"), ("SLURM_STEP_NUM_TASKS", "4")], None),
            (&[("OMPI_COMM_WORLD_SIZE", "8"), ("PMI_SIZE", "1")], None),
            (&[("PMI_SIZE", "many")], None),
        ] {
            assert_eq!(told(variables), expected, "{variables:?}");
        }
    }
}
