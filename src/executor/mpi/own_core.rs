//! Threads that stay on one core for a while.

#[cfg(target_os = "linux")]
type Set = libc::cpu_set_t;
#[cfg(not(target_os = "linux"))]
type Set = ();

/// A thread that stays on a core; when this is dropped, it may run where it could before.
#[must_use]
pub(crate) struct OwnCore {
    before: Set,
}

#[cfg(target_os = "linux")]
impl OwnCore {
    /// The cores that this thread may run on, the one that it is on first; empty if the system does not tell.
    pub fn choices() -> Vec<usize> {
        // SAFETY: it asks for a number.
        let now = unsafe { libc::sched_getcpu() };
        let now = usize::try_from(now).unwrap_or(usize::MAX);
        allowed().map_or_else(Vec::new, |set| {
            // SAFETY: bits within the set.
            let is_in = |core: &usize| unsafe { libc::CPU_ISSET(*core, &set) };
            let mut cores = Vec::from_iter((0..libc::CPU_SETSIZE as usize).filter(is_in));
            cores.sort_by_key(|core| *core != now);
            cores
        })
    }

    /// Keeps this thread on one of its [`choices`](OwnCore::choices).
    pub fn keep(core: usize) -> Option<OwnCore> {
        let before = allowed()?;
        // SAFETY: a set of no core is all zeros, and the core is a bit of it.
        let own = unsafe {
            let mut own: Set = std::mem::zeroed();
            if core < libc::CPU_SETSIZE as usize {
                libc::CPU_SET(core, &mut own);
            }
            own
        };
        allow(&own).then_some(OwnCore { before })
    }
}

#[cfg(target_os = "linux")]
impl Drop for OwnCore {
    fn drop(&mut self) {
        allow(&self.before);
    }
}

#[cfg(target_os = "linux")]
fn allowed() -> Option<Set> {
    // SAFETY: a set of no core is all zeros; the kernel writes one of that size for this thread.
    unsafe {
        let mut set: Set = std::mem::zeroed();
        (libc::sched_getaffinity(0, size_of::<Set>(), &mut set) == 0).then_some(set)
    }
}

#[cfg(target_os = "linux")]
fn allow(set: &Set) -> bool {
    // SAFETY: a set of that size, which the kernel reads for this thread.
    unsafe { libc::sched_setaffinity(0, size_of::<Set>(), set) == 0 }
}

#[cfg(not(target_os = "linux"))]
impl OwnCore {
    pub fn choices() -> Vec<usize> {
        Vec::new()
    }

    pub fn keep(_: usize) -> Option<OwnCore> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_on_each_core_that_it_may_use_and_goes_where_it_could_before() {
        let sorted = || {
            let mut cores = OwnCore::choices();
            cores.sort_unstable();
            cores
        };
        let before = sorted();
        assert!(!before.is_empty());
        for &core in &before {
            let kept = OwnCore::keep(core);
            assert!(kept.is_some());
            assert_eq!(OwnCore::choices(), [core]);
            drop(kept);
            assert_eq!(sorted(), before);
        }
        assert!(OwnCore::keep(usize::MAX).is_none(), "a core that is not there");
        assert_eq!(sorted(), before);
    }
}
