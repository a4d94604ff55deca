//! Open MPI's giving up of the core, put off for a moment.
//!
//! Where it was told so (`mpi_yield_when_idle`, or more ranks than slots), every test, probe or wait of Open MPI that finds nothing to do
//! gives the core to another rank. That is right for a rank that waits. One that computes, and looks at its calls from time to time,
//! loses its core at each look for as long as the others compute: with four ranks a core some 4 ms a look were measured, while the
//! links stood still. Open MPI has a function for it, `opal_progress_set_yield_when_idle`, that is not of MPI's: where it is not to be
//! found, as in other MPI libraries, nothing is put off. They do not give up the core in a test.

use std::sync::{Mutex, OnceLock, PoisonError};

/// Sets whether the core is given up; returns whether it was.
type Set = unsafe extern "C" fn(bool) -> bool;

/// How many threads keep their cores at the moment, and whether cores are to be given up when none does: the setting is the process's.
static KEEPING: Mutex<(usize, bool)> = Mutex::new((0, false));

/// While it is there, Open MPI gives up no core.
pub(super) struct Kept(Set);

/// Keeps the core, if that can be done.
pub(super) fn keep_core() -> Option<Kept> {
    let set = setter()?;
    let mut keeping = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
    if keeping.0 == 0 {
        // SAFETY: Open MPI's function, of that type in all its versions from 1.3 to 5.0; it writes a variable.
        keeping.1 = unsafe { set(false) };
    }
    keeping.0 += 1;
    Some(Kept(set))
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut keeping = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
        keeping.0 -= 1;
        if keeping.0 == 0 {
            // SAFETY: as above.
            unsafe { self.0(keeping.1) };
        }
    }
}

/// Whether MPI, when nobody keeps the core, gives it up in a test that finds nothing. It is looked up once.
pub(super) fn tests_give_up_core() -> bool {
    static GIVE_UP: OnceLock<bool> = OnceLock::new();
    *GIVE_UP.get_or_init(|| {
        let keeping = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
        match setter() {
            // SAFETY: as above.
            Some(set) if keeping.0 == 0 => unsafe {
                let does = set(true);
                set(does);
                does
            },
            Some(_) => keeping.1,
            None => false,
        }
    })
}

/// Looked up once.
fn setter() -> Option<Set> {
    static SETTER: OnceLock<Option<Set>> = OnceLock::new();
    *SETTER.get_or_init(|| {
        // SAFETY: a string that ends with 0. The symbol, if there is one, is that function of Open MPI's.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"opal_progress_set_yield_when_idle".as_ptr());
            (!found.is_null()).then(|| std::mem::transmute::<*mut libc::c_void, Set>(found))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In whatever order threads come and go; where there is no such function, nothing is kept.
    #[test]
    fn what_was_set_is_set_again_when_the_last_thread_has_looked() {
        let Some(set) = setter() else {
            assert!(keep_core().is_none());
            return;
        };
        // SAFETY: as above.
        let before = unsafe { set(true) };
        assert!(tests_give_up_core());
        let (first, second) = (keep_core(), keep_core());
        drop(first);
        // SAFETY: as above.
        assert!(!unsafe { set(false) }, "a thread still looks");
        drop(second);
        // SAFETY: as above.
        assert!(unsafe { set(before) }, "no thread looks");
    }
}
