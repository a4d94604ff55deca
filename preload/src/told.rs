//! What the environment of the first rank asks for, told to all: `mpirun` of Open MPI passes variables to other hosts only if it is told
//! to, and ranks that are asked for different things would wait for each other. (Launchers of other MPIs, and Slurm's, pass all variables.)

use crate::native::{ffi, SUCCESS};
use ffi::{MPI_Comm, MPI_Request};
use std::collections::BTreeMap;
use std::ffi::{c_int, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::{Duration, Instant};

/// What the names of our variables begin with.
const OURS: &str = "HYPERCOLL_";
/// After so long a rank says whom it waits for.
const PATIENCE: Duration = Duration::from_secs(10);

/// From now on our variables are on all ranks of `MPI_COMM_WORLD` what they are on the first one, where they may differ: where `mpirun` of
/// Open MPI says that it has started one program, on several hosts.
///
/// MPI is up, by a function that all these ranks have called.
pub fn to_all() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let on_several_hosts = match (number("OMPI_COMM_WORLD_LOCAL_SIZE"), number("OMPI_COMM_WORLD_SIZE")) {
        (Some(here), Some(all)) => here < all,
        _ => false,
    };
    // Of several programs some may run without us.
    if number("OMPI_NUM_APP_CTX") != Some(1) || !on_several_hosts {
        return;
    }
    match told() {
        Some(text) => follow(&text),
        None => {
            eprintln!("hypercoll: ranks cannot be told what the first one is asked for; each reads its own variables")
        }
    }
}

/// The variables of the first rank, as [`written`]; `None` if MPI has refused something.
fn told() -> Option<Vec<u8>> {
    // SAFETY: constants of the support library.
    let (mut world, mut request) = unsafe { (ffi::RSMPI_COMM_NULL, ffi::RSMPI_REQUEST_NULL) };
    let mut rank = 0;
    // Messages of our own, as those of a rank that has nobody to take them must not be taken for the program's.
    // SAFETY: MPI is up; valid out parameters, which stay until the request is complete.
    let made = unsafe {
        ffi::PMPI_Comm_rank(ffi::RSMPI_COMM_WORLD, &mut rank) == SUCCESS
            && ffi::PMPI_Comm_idup(ffi::RSMPI_COMM_WORLD, &mut world, &mut request) == SUCCESS
    };
    if !made || !wait(&mut request) {
        return None;
    }
    let text = broadcast(world, rank);
    // SAFETY: a communicator of ours on which nothing is under way.
    unsafe { ffi::PMPI_Comm_free(&mut world) };
    text
}

fn broadcast(world: MPI_Comm, rank: c_int) -> Option<Vec<u8>> {
    let mut text = if rank == 0 { written(&of_this_process()) } else { Vec::new() };
    let mut len = text.len() as u64;
    // SAFETY: as many bytes as there are at that address, on all ranks of the communicator.
    let known = unsafe { ffi::PMPI_Bcast((&raw mut len).cast(), 8, ffi::RSMPI_UINT8_T, 0, world) } == SUCCESS;
    let bytes = c_int::try_from(len).ok().filter(|_| known)?;
    text.resize(len as usize, 0);
    // Open MPI refuses an address of nothing.
    // SAFETY: as above.
    let told = bytes == 0
        || unsafe { ffi::PMPI_Bcast(text.as_mut_ptr().cast(), bytes, ffi::RSMPI_UINT8_T, 0, world) } == SUCCESS;
    told.then_some(text)
}

/// Waits until a request is complete, and says so if that takes long.
fn wait(request: &mut MPI_Request) -> bool {
    let (start, mut said, mut is_over) = (Instant::now(), false, 0);
    loop {
        // SAFETY: a request of ours, a valid out parameter, and a status that nobody asks for.
        if unsafe { ffi::PMPI_Test(request, &mut is_over, ffi::RSMPI_STATUS_IGNORE) } != SUCCESS {
            return false;
        }
        if is_over != 0 {
            return true;
        }
        if !said && start.elapsed() >= PATIENCE {
            said = true;
            eprintln!(
                "hypercoll: in MPI_Init this rank has waited {} s for others that run without hypercoll, or have not called it: mpirun \
                 passes LD_PRELOAD to other hosts if it is told to, by `-x LD_PRELOAD`",
                PATIENCE.as_secs()
            );
        }
    }
}

type Variables = BTreeMap<OsString, OsString>;

/// Our variables in the environment.
fn of_this_process() -> Variables {
    std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(OURS.as_bytes())).collect()
}

/// A name, a zero, a value, a zero, and so on: neither has one.
fn written(variables: &Variables) -> Vec<u8> {
    variables.iter().flat_map(|(name, value)| [name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat()).collect()
}

fn read(text: &[u8]) -> Variables {
    let words: Vec<&[u8]> = text.split(|&byte| byte == 0).collect();
    let word = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    words.chunks_exact(2).map(|pair| (word(pair[0]), word(pair[1]))).collect()
}

/// Sets what differs.
fn follow(text: &[u8]) {
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
