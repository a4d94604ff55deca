//! Runs programs under `mpirun`; `HYPERCOLL_MPIRUN` names another launcher.

use super::process::{run, Output};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The launcher, and whether it is Open MPI's.
pub fn launcher() -> &'static (String, bool) {
    static LAUNCHER: OnceLock<(String, bool)> = OnceLock::new();
    LAUNCHER.get_or_init(|| {
        let name = std::env::var("HYPERCOLL_MPIRUN").unwrap_or_else(|_| "mpirun".into());
        let mut command = Command::new(&name);
        command.arg("--version");
        let output = run(command);
        assert_eq!(output.code, Some(0), "{name} --version: {}", output.told());
        let open_mpi = output.stdout.contains("Open MPI") || output.stdout.contains("OpenRTE");
        (name, open_mpi)
    })
}

/// The command that runs a program on so many ranks.
pub fn launch(ranks: usize, program: &Path, arguments: &[&str]) -> Command {
    let (launcher, open_mpi) = launcher();
    let mut command = Command::new(launcher);
    if *open_mpi {
        // More ranks than cores are welcome, and a rank that waits lets others run.
        command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    } else {
        // The same of MPICH's own waits: five ranks on two cores are done in a third of the time.
        command.env("MPIR_CVAR_POLLS_BEFORE_YIELD", "10").env("MPIR_CVAR_ENABLE_HEAVY_YIELD", "1");
    }
    command.args(["-n", &ranks.to_string()]).arg(program).args(arguments).env_remove("RUST_LOG");
    command
}

/// One run at a time: the ranks of one already share the cores.
pub fn turn() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program on so many ranks, with variables of the environment.
pub fn mpirun_with(variables: &[(&str, &str)], ranks: usize, program: &Path, arguments: &[&str]) -> Output {
    let mut command = launch(ranks, program, arguments);
    command.envs(variables.iter().copied());
    let _turn = turn();
    let output = run(command);
    eprintln!("{ranks:3} ranks {:7.2} s  {} {}", output.seconds, program.display(), arguments.join(" "));
    output
}
