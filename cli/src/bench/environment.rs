//! Where the ranks are and what is known of the machine.

use super::fabric::Fabric;
use super::results::{Environment, Host};
use super::Side;
use hypercoll::select::tuning::cpu_name;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a host's name, and of the set of its processors, in what ranks tell each other.
const NAME: usize = 256;
const PROCESSORS: usize = 256;

/// The beginnings of the names of variables that are worth recording, and among those the ones that are not: they say how
/// Open MPI's processes find each other.
const VARIABLES: &[&str] =
    &["OMPI_MCA_", "UCX_", "MPICH_", "MPIR_CVAR_", "I_MPI_", "FI_", "HYPERCOLL_", "RUST_LOG", "SLURM_JOB_NUM_NODES"];
const NOISE: &[&str] = &["OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir", "OMPI_MCA_shmem_"];

/// The hosts of all ranks (all ranks call this together).
pub(super) fn hosts(side: &Side, name: &str) -> Vec<Host> {
    let ranks = side.cube.size();
    let available = std::thread::available_parallelism().map_or(1, |n| n.get());
    let Some(native) = side.native else {
        return vec![Host { name: name.into(), ranks, cores: available }];
    };
    let own = processors();
    let mut message = vec![0u8; NAME + PROCESSORS + 8];
    for (to, from) in message.iter_mut().zip(name.bytes().take(NAME)) {
        *to = from;
    }
    for processor in own.iter().filter(|p| **p < PROCESSORS * 8) {
        message[NAME + processor / 8] |= 1 << (processor % 8);
    }
    // A quota of processor time can be less than the processors that a rank may use.
    let quota = if available < own.len() || own.is_empty() { available as u64 } else { u64::MAX };
    message[NAME + PROCESSORS..].copy_from_slice(&quota.to_le_bytes());
    // Where the library knows no hosts, they are one or as many as ranks.
    let host = |rank| match side.cube.hosts() {
        Some(hosts) => hosts.host(hosts.place(rank)),
        None if side.over_links() => rank,
        None => 0,
    };
    united(&native.all_gather(&message), host)
}

/// The hosts that the ranks' messages tell of, given the number of each rank's, as names may be alike. Ranks may be bound to different processors
/// of a host.
fn united(messages: &[u8], host: impl Fn(usize) -> usize) -> Vec<Host> {
    struct Seen {
        number: usize,
        name: String,
        ranks: usize,
        processors: Vec<u8>,
        quota: u64,
    }
    let mut hosts: Vec<Seen> = Vec::new();
    for (rank, message) in messages.chunks_exact(NAME + PROCESSORS + 8).enumerate() {
        let (name, rest) = message.split_at(NAME);
        let (processors, quota) = rest.split_at(PROCESSORS);
        let quota = quota.try_into().map_or(u64::MAX, u64::from_le_bytes);
        let number = host(rank);
        match hosts.iter_mut().find(|host| host.number == number) {
            Some(host) => {
                host.ranks += 1;
                host.quota = host.quota.min(quota);
                host.processors.iter_mut().zip(processors).for_each(|(all, own)| *all |= own);
            }
            None => {
                let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_string();
                hosts.push(Seen { number, name, ranks: 1, processors: processors.to_vec(), quota });
            }
        }
    }
    let cores = |host: &Seen| match host.processors.iter().map(|byte| byte.count_ones() as u64).sum::<u64>() {
        0 => host.quota,
        n => n.min(host.quota),
    };
    hosts.iter().map(|host| Host { name: host.name.clone(), ranks: host.ranks, cores: cores(host) as usize }).collect()
}

/// The processors that this process may use; empty if the system does not say.
fn processors() -> BTreeSet<usize> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    let mut processors = BTreeSet::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            processors.extend(first..=last.min(first + PROCESSORS * 8));
        }
    }
    processors
}

/// The network between the hosts, if the environment tells of one.
pub fn fabric() -> Result<Option<Fabric>, String> {
    match std::env::var("HYPERCOLL_FABRIC") {
        Ok(text) if !text.is_empty() => Fabric::parse(&text).map(Some).map_err(|e| format!("HYPERCOLL_FABRIC: {e}")),
        _ => Ok(None),
    }
}

/// All that is recorded. Rank 0 calls this.
pub fn environment(
    hosts: Vec<Host>,
    fabric: Option<Fabric>,
    mpi_library: String,
    mpi_standard: Option<String>,
) -> Environment {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    Environment {
        hypercoll: env!("CARGO_PKG_VERSION").into(),
        commit: commit().map(String::from),
        profile: env!("HYPERCOLL_PROFILE").into(),
        date: now(),
        hosts,
        fabric,
        cpu: cpu_name(),
        kernel: kernel.map(|release| release.trim().to_string()),
        mpi_library,
        mpi_standard,
        variables: variables(),
        command_line: command_line(),
        debug_build: cfg!(debug_assertions),
    }
}

/// That of the source that the program was built from, if it is known.
pub fn commit() -> Option<&'static str> {
    Some(env!("HYPERCOLL_COMMIT")).filter(|commit| !commit.is_empty())
}

/// What the program was called with.
pub fn command_line() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

fn variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| VARIABLES.iter().any(|start| name.starts_with(start)))
        .filter(|(name, _)| !NOISE.iter().any(|start| name.starts_with(start)))
        .collect()
}

/// Whether waiting ranks give up the processor, as far as Open MPI's settings tell.
pub fn yields() -> bool {
    #[cfg(feature = "mpi")]
    return hypercoll::control_variables::ranks_yield();
    #[cfg(not(feature = "mpi"))]
    false
}

/// The time as RFC 3339, in UTC.
pub fn now() -> String {
    date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()))
}

/// Seconds since 1970 in this form.
fn date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days from 0000-03-01, so that leap days come last (Hinnant, "chrono-compatible low-level date algorithms").
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (1_774_960_496, "2026-03-31T12:34:56Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
        ] {
            assert_eq!(date(seconds), text);
        }
    }

    fn message(name: &str, processors: &[usize], quota: u64) -> Vec<u8> {
        let mut message = vec![0; NAME + PROCESSORS];
        message[..name.len()].copy_from_slice(name.as_bytes());
        processors.iter().for_each(|p| message[NAME + p / 8] |= 1 << (p % 8));
        message.extend(quota.to_le_bytes());
        message
    }

    #[test]
    fn cores_are_those_of_all_ranks_of_a_host() {
        let bound =
            [message("a", &[0], u64::MAX), message("a", &[9], u64::MAX), message("b", &[0, 1, 2, 3], 2)].concat();
        let host = |name: &str, ranks, cores| Host { name: name.into(), ranks, cores };
        assert_eq!(united(&bound, |rank| rank / 2), [host("a", 2, 2), host("b", 1, 2)]);
        // Hosts with names alike.
        assert_eq!(united(&bound, |rank| rank), [host("a", 1, 1), host("a", 1, 1), host("b", 1, 2)]);
    }
}
