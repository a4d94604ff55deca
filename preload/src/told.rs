//! What the environment of the first rank asks for, told to all: `mpirun` of Open MPI passes variables to other hosts only if it is told
//! to, and ranks that are asked for different things would wait for each other. (Launchers of other MPIs, and Slurm's, pass all variables.)

use hypercoll::error::Result;
use hypercoll::raw;
use mpi::topology::SimpleCommunicator;
use std::collections::BTreeMap;

/// What the names of our variables begin with.
const OURS: &str = "HYPERCOLL_";
/// Those of which the library says that ranks may differ.
const OWN: [&str; 2] = ["HYPERCOLL_SHARED_MEMORY", "HYPERCOLL_PROGRESS"];

/// From now on our variables are on all ranks of `MPI_COMM_WORLD` what they are on the first one, where they may differ and must not: where
/// `mpirun` of Open MPI says that it has started one program, on several hosts.
///
/// MPI is up, by a function that all these ranks have called.
///
/// # Errors
/// As [`raw::told_by_rank_0`].
pub fn to_all() -> Result<()> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let on_several_hosts = match (number("OMPI_COMM_WORLD_LOCAL_SIZE"), number("OMPI_COMM_WORLD_SIZE")) {
        (Some(here), Some(all)) => here < all,
        _ => false,
    };
    // Of several programs some may run without us.
    if number("OMPI_NUM_APP_CTX") == Some(1) && on_several_hosts {
        let call =
            "MPI_Init (does the library run before the program on all hosts? `mpirun -x LD_PRELOAD` passes it on)";
        follow(&raw::told_by_rank_0(&SimpleCommunicator::world(), call, written(&of_this_process()))?);
    }
    Ok(())
}

type Variables = BTreeMap<String, String>;

/// Our variables in the environment. (One that is no text asks for nothing that there is.)
fn of_this_process() -> Variables {
    let all =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    all.filter(|(name, _)| name.starts_with(OURS) && !OWN.contains(&name.as_str())).collect()
}

/// A name, a zero, a value, a zero, and so on: neither has one.
fn written(variables: &Variables) -> String {
    variables.iter().map(|(name, value)| format!("{name}\0{value}\0")).collect()
}

fn read(text: &str) -> Variables {
    let words: Vec<&str> = text.split('\0').collect();
    words.chunks_exact(2).map(|pair| (pair[0].into(), pair[1].into())).collect()
}

/// Sets what differs. (A thread of the program's, or of MPI's, that looks into the environment at that moment may see what is no more:
/// they do so when they begin.)
fn follow(text: &str) {
    let (own, first) = (of_this_process(), read(text));
    for name in own.keys().filter(|name| !first.contains_key(*name)) {
        std::env::remove_var(name);
    }
    for (name, value) in first.iter().filter(|(name, value)| own.get(*name) != Some(*value)) {
        std::env::set_var(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for pairs in [&[][..], &[("HYPERCOLL_REPORT", "-")], &[("HYPERCOLL_A", ""), ("HYPERCOLL_B", "x=y;\n")]] {
            let variables: Variables = pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect();
            assert_eq!(read(&written(&variables)), variables);
        }
    }
}
