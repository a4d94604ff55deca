//! Functions of mpi_f08 under MPICH whose wrappers call `PMPI_` functions and so would pass us by: those without buffers. (The others, and all
//! of mpif.h, call `MPI_` functions.)
//!
//! A handle of mpi_f08 is a structure of one integer, which is what C has; the address of an error code that is not wanted is null.

use crate::c;
use crate::native::ffi::MPI_Comm;
use std::ffi::c_int;

macro_rules! entries {
    ($($name:ident ($($p:ident: $type:ty),*) $call:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($p: $type,)* error: *mut c_int) {
            let code = $call;
            if !error.is_null() {
                *error = code;
            }
        }
    )*};
}

entries! {
    mpi_barrier_f08_(comm: *const MPI_Comm) c::ints::MPI_Barrier(*comm);
    mpi_comm_free_f08_(comm: *mut MPI_Comm) c::started::MPI_Comm_free(comm);
    mpi_comm_disconnect_f08_(comm: *mut MPI_Comm) c::started::MPI_Comm_disconnect(comm);
    mpi_init_f08_() c::MPI_Init(std::ptr::null_mut(), std::ptr::null_mut());
    mpi_init_thread_f08_(required: *const c_int, provided: *mut c_int)
        c::MPI_Init_thread(std::ptr::null_mut(), std::ptr::null_mut(), *required, provided);
}
