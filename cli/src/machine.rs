//! The machine for which an algorithm is chosen, for every subcommand that asks what a call gets.

use crate::Failure;
use hypercoll::select::tuning::{Here, Tuning};
use hypercoll::select::{Settings, Sources};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where the machine's parameters come from.
#[derive(clap::Args)]
pub struct MachineArgs {
    /// Machine: shared-memory or network, or a tuning file, whatever machine it was made for [default: network with several
    /// --hosts and for export, else shared-memory]
    #[arg(long, value_name = "shared-memory|network|FILE")]
    machine: Option<Where>,
    /// Tuning file to use if it was made for this machine, as HYPERCOLL_TUNING does
    #[arg(long, value_name = "FILE")]
    tuning: Option<PathBuf>,
}

#[derive(Clone, PartialEq, Debug)]
enum Where {
    SharedMemory,
    Network,
    File(PathBuf),
}

impl FromStr for Where {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Where, Self::Err> {
        Ok(match text.replace('_', "-").as_str() {
            "shared-memory" => Where::SharedMemory,
            "network" => Where::Network,
            _ => Where::File(text.into()),
        })
    }
}

impl MachineArgs {
    /// Whether the user says anything of a machine.
    pub fn is_said(&self) -> bool {
        self.machine.is_some() || self.tuning.is_some()
    }

    /// The machine and what the environment asks for; `spread`: ranks are on several hosts.
    ///
    /// # Errors
    /// A message that names what is wrong with a file or a variable.
    pub fn settings(&self, spread: bool) -> Result<Settings, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let usual = if spread { Where::Network } else { Where::SharedMemory };
        let machine = self.machine.as_ref().unwrap_or(&usual);
        let cores = (*machine != Where::Network).then_some(cores);
        let sources = Sources::read(here(cores.is_some()), self.tuning.as_deref());
        let Where::File(path) = machine else {
            return sources.resolve(cores, None).map_err(|error| Failure::Usage(error.to_string()));
        };
        if self.tuning.is_some() {
            return Err(Failure::Usage("tuning: there is a machine's file already (--machine)".into()));
        }
        let mut settings = sources.without_file().resolve(cores, None).map_err(|error| error.to_string())?;
        settings.machine = read(path)?.machine(None);
        Ok(settings)
    }
}

fn read(path: &Path) -> Result<Tuning, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    let tuning = text.and_then(|text| Tuning::parse(&text));
    tuning.map_err(|why| {
        Failure::Usage(format!("machine: {}: {why} (known besides files: shared-memory, network)", path.display()))
    })
}

/// What a tuning file is held against; without MPI nothing is known of its version.
fn here(shares_memory: bool) -> Here {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::env::var("HOSTNAME"));
    Here::of(host.unwrap_or_default().trim(), library().as_deref(), shares_memory)
}

#[cfg(feature = "mpi")]
fn library() -> Option<String> {
    // One of the few functions of MPI that may be called before its start.
    mpi::environment::library_version().ok()
}

#[cfg(not(feature = "mpi"))]
fn library() -> Option<String> {
    None
}
