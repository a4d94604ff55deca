//! Attributes of the program's communicators: a duplicate that we make for ourselves has none of them.
//!
//! A hypercube has its messages on a duplicate of the communicator, as no other function of MPI makes one without waiting. MPI would ask
//! the program's functions for each attribute whether the duplicate gets a copy, though the program has duplicated nothing. So keys are
//! made with functions of ours, which call the program's for whatever the program duplicates itself.

use crate::native::{self, ffi, SUCCESS};
use ffi::MPI_Comm;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Communicators of the program's that are being duplicated by us.
static DUPLICATED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn duplicated() -> MutexGuard<'static, Vec<usize>> {
    DUPLICATED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// We duplicate a communicator, until this is dropped.
pub struct Duplicated(usize);

impl Duplicated {
    pub fn by_us(comm: MPI_Comm) -> Duplicated {
        let word = native::word(comm);
        duplicated().push(word);
        Duplicated(word)
    }

    fn is(comm: MPI_Comm) -> bool {
        duplicated().contains(&native::word(comm))
    }
}

impl Drop for Duplicated {
    fn drop(&mut self) {
        let mut all = duplicated();
        if let Some(place) = all.iter().position(|&word| word == self.0) {
            all.swap_remove(place);
        }
    }
}

type Copy = unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type Delete = unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;

/// What the program has made a key with. It stays, as an attribute may outlive its key.
struct Functions {
    copy: Copy,
    delete: Option<Delete>,
    state: *mut c_void,
}

unsafe extern "C" fn copied(
    comm: MPI_Comm,
    key: c_int,
    state: *mut c_void,
    value: *mut c_void,
    into: *mut c_void,
    copies: *mut c_int,
) -> c_int {
    if Duplicated::is(comm) {
        *copies = 0;
        return SUCCESS;
    }
    let Functions { copy, state, .. } = *state.cast::<Functions>();
    copy(comm, key, state, value, into, copies)
}

unsafe extern "C" fn deleted(comm: MPI_Comm, key: c_int, value: *mut c_void, state: *mut c_void) -> c_int {
    let Functions { delete, state, .. } = *state.cast::<Functions>();
    delete.map_or(SUCCESS, |delete| delete(comm, key, value, state))
}

/// `MPI_Comm_create_keyval`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Comm_create_keyval(
    copy: Option<Copy>,
    delete: Option<Delete>,
    key: *mut c_int,
    state: *mut c_void,
) -> c_int {
    #[cfg(not(open_mpi))]
    proxies::forget();
    // With some MPIs that is what copies nothing.
    let Some(copy) = copy else { return ffi::PMPI_Comm_create_keyval(None, delete, key, state) };
    let functions = Box::into_raw(Box::new(Functions { copy, delete, state }));
    let code = ffi::PMPI_Comm_create_keyval(Some(copied), Some(deleted), key, functions.cast());
    #[cfg(not(open_mpi))]
    if code == SUCCESS {
        proxies::made(key, functions);
    }
    code
}

/// Functions of other languages under MPICH: its wrappers of Fortran and C++ have a key made as if its functions were C's, and then say by what they
/// are to be called. Such a key is made again without us.
#[cfg(not(open_mpi))]
mod proxies {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// The key that was made last, where it was written, and for what.
        static LAST: Cell<Option<(c_int, *mut c_int, *mut Functions)>> = const { Cell::new(None) };
    }

    pub fn forget() {
        LAST.set(None);
    }

    /// # Safety
    /// A key that has been made with these functions.
    pub unsafe fn made(key: *mut c_int, functions: *mut Functions) {
        LAST.set(Some((*key, key, functions)));
    }

    type SetProxy = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void);

    /// MPICH's function of this name.
    ///
    /// # Safety
    /// As its wrappers call it, when they have made a key.
    #[no_mangle]
    pub unsafe extern "C" fn MPII_Keyval_set_proxy(mut key: c_int, copy: *mut c_void, delete: *mut c_void) {
        let found = libc::dlsym(libc::RTLD_NEXT, c"MPII_Keyval_set_proxy".as_ptr());
        if found.is_null() {
            return;
        }
        let ours = LAST.take().filter(|&(last, at, _)| last == key && *at == key);
        if let Some((_, at, functions)) = ours {
            let mut own = key;
            let Functions { copy, delete, state } = *functions;
            if ffi::PMPI_Comm_create_keyval(Some(copy), delete, &mut key, state) == SUCCESS {
                *at = key;
                ffi::PMPI_Comm_free_keyval(&mut own);
                drop(Box::from_raw(functions));
            }
        }
        // SAFETY: the function that ours has the name of.
        let set: SetProxy = std::mem::transmute(found);
        set(key, copy, delete);
    }
}

/// `MPI_Keyval_create`, its name of old.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Keyval_create(
    copy: Option<Copy>,
    delete: Option<Delete>,
    key: *mut c_int,
    state: *mut c_void,
) -> c_int {
    MPI_Comm_create_keyval(copy, delete, key, state)
}

/// The same in Fortran, where functions take addresses. (For MPICH's wrappers see `proxies`.)
#[cfg(open_mpi)]
pub mod fortran {
    use super::*;

    type Passed = *mut c_void;
    type Copy = unsafe extern "C" fn(*const c_int, Passed, *const isize, Passed, Passed, *mut c_int, *mut c_int);
    type Delete = unsafe extern "C" fn(*const c_int, Passed, Passed, *const isize, *mut c_int);

    struct Functions {
        copy: Copy,
        delete: Delete,
        state: isize,
    }

    unsafe extern "C" fn copied(
        comm: *const c_int,
        key: Passed,
        state: *const isize,
        value: Passed,
        into: Passed,
        copies: *mut c_int,
        error: *mut c_int,
    ) {
        if Duplicated::is(ffi::PMPI_Comm_f2c(*comm)) {
            (*copies, *error) = (0, SUCCESS);
            return;
        }
        let functions = *state as *const Functions;
        ((*functions).copy)(comm, key, &(*functions).state, value, into, copies, error);
    }

    unsafe extern "C" fn deleted(
        comm: *const c_int,
        key: Passed,
        value: Passed,
        state: *const isize,
        error: *mut c_int,
    ) {
        let functions = *state as *const Functions;
        ((*functions).delete)(comm, key, value, &(*functions).state, error);
    }

    macro_rules! create {
        ($($name:ident)*) => {$(
            /// `MPI_Comm_create_keyval` of Fortran.
            ///
            /// # Safety
            /// As MPI says.
            #[no_mangle]
            pub unsafe extern "C" fn $name(
                copy: Copy,
                delete: Delete,
                key: *mut c_int,
                state: *const isize,
                error: *mut c_int,
            ) {
                type Function = unsafe extern "C" fn(Copy, Delete, *mut c_int, *const isize, *mut c_int);
                let name = concat!(stringify!($name), "\0");
                let Some(native) = crate::fortran::behind::behind::<Function>(name, $name as *const c_void) else {
                    return crate::fortran::answer(error, native::error_other());
                };
                let functions = Box::into_raw(Box::new(Functions { copy, delete, state: *state }));
                let state = functions as isize;
                native(copied, deleted, key, &state, error);
            }
        )*};
    }

    create!(mpi_comm_create_keyval_ mpi_comm_create_keyval_f08_);
}
