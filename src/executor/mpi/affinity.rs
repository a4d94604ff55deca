//! Which cores a process may use.

use super::control_variables::yields;

/// Words of a set of cores: 64 cores a word. Cores beyond are not counted.
pub(super) const WORDS: usize = 16;

/// The cores that this process may run on, as bits, and how many it may keep busy at a time (a container may allow less).
///
/// Linux tells the set; elsewhere it is taken to be the first cores of the machine.
///
/// They are looked up once.
pub(super) fn cores() -> ([u64; WORDS], usize) {
    static CORES: std::sync::OnceLock<([u64; WORDS], usize)> = std::sync::OnceLock::new();
    *CORES.get_or_init(look_up)
}

/// Whether ranks of other communicators may wait for the core of one that waits: MPI has been told that they do, or the job has more ranks
/// on this host than it has cores.
///
/// It is looked up once.
pub(super) fn job_is_crowded() -> bool {
    static CROWDED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *CROWDED.get_or_init(|| {
        // Those of the machine or, in a container, of all that runs there. (A rank's own may be far fewer.)
        let listed = [
            "/sys/devices/system/cpu/online",
            "/sys/fs/cgroup/cpuset.cpus.effective",
            "/sys/fs/cgroup/cpuset/cpuset.effective_cpus",
        ];
        let sets = listed.iter().filter_map(|file| count(&std::fs::read_to_string(file).ok()?));
        crowded(|name| std::env::var(name).ok(), sets.chain([cores().1]).min())
    })
}

/// Open MPI says both; MPICH and Intel MPI say how many ranks there are.
fn crowded(variable: impl Fn(&str) -> Option<String>, cores: Option<usize>) -> bool {
    let ranks = |name| variable(name).and_then(|value| value.parse::<usize>().ok());
    yields(&variable)
        || ranks("OMPI_COMM_WORLD_LOCAL_SIZE").or_else(|| ranks("MPI_LOCALNRANKS")) > cores.or(Some(usize::MAX))
}

/// Reads how many cores are in a list as the kernel prints it: numbers and ranges, with commas between.
fn count(list: &str) -> Option<usize> {
    let cores = |part: &str| match part.split_once('-') {
        Some((first, last)) => (last.parse::<usize>().ok()? + 1).checked_sub(first.parse().ok()?),
        None => part.parse::<usize>().ok().map(|_| 1),
    };
    list.trim().split(',').map(cores).sum()
}

fn look_up() -> ([u64; WORDS], usize) {
    let busy = std::thread::available_parallelism().map_or(1, usize::from);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let listed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:")).and_then(parse);
    let set = listed.unwrap_or_else(|| {
        let mut set = [0; WORDS];
        (0..busy.min(64 * WORDS)).for_each(|core| set[core / 64] |= 1 << (core % 64));
        set
    });
    let own: u32 = set.iter().map(|word| word.count_ones()).sum();
    (set, if busy < own as usize { busy } else { usize::MAX })
}

/// Reads a mask as the kernel prints it: hexadecimal words of 32 bits, the highest first, with commas between.
fn parse(mask: &str) -> Option<[u64; WORDS]> {
    let mut set = [0; WORDS];
    for (index, word) in mask.trim().rsplit(',').enumerate() {
        let bits = u64::from(u32::from_str_radix(word, 16).ok()?);
        if let Some(place) = set.get_mut(index / 2) {
            *place |= bits << (32 * (index % 2));
        }
    }
    set.iter().any(|word| *word != 0).then_some(set)
}

#[cfg(test)]
mod tests {
    use super::super::OwnCore;
    use super::*;

    #[test]
    fn masks_are_read_as_the_kernel_prints_them() {
        assert_eq!(parse("\t3").map(|set| set[0]), Some(3));
        assert_eq!(parse("f0000001,00000002").map(|set| set[0]), Some(0xf0000001_00000002));
        assert_eq!(parse("1,00000000,00000000").map(|set| (set[0], set[1])), Some((0, 1)));
        assert_eq!(parse("0"), None);
        assert_eq!(parse("yes"), None);
    }

    #[test]
    fn a_job_is_crowded_where_mpi_says_so_or_it_has_more_ranks_than_cores() {
        assert_eq!(
            [count("0-1\n"), count("0,2-5,9"), count("3"), count(""), count("5-2")],
            [Some(2), Some(6), Some(1), None, None]
        );
        let job = |name: &'static str, value: &'static str, cores| {
            crowded(|asked| (asked == name).then(|| value.into()), cores)
        };
        for name in ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"] {
            assert_eq!([job(name, "4", Some(4)), job(name, "5", Some(4)), job(name, "5", None)], [false, true, false]);
        }
        for name in ["OMPI_MCA_mpi_yield_when_idle", "OMPI_MCA_mpi_oversubscribe"] {
            assert_eq!([job(name, "1", Some(4)), job(name, "0", Some(4))], [true, false]);
        }
    }

    #[test]
    fn this_process_may_use_a_core() {
        let (set, limit) = cores();
        let is_in_it = |core: &usize| set[core / 64] & 1 << (core % 64) != 0;
        let choices = OwnCore::choices();
        assert!(choices.iter().all(is_in_it) && choices.is_empty() == cfg!(not(target_os = "linux")), "{choices:?}");
        assert!(set.iter().any(|word| *word != 0) && limit > 0);
    }
}
