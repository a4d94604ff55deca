//! The functions of MPI that a program calls instead of MPI's own: C's, which the others come down to.
//!
//! A macro writes them, once with C's `int` for counts, and once for large counts where this MPI has such functions.

use crate::calls::{self, How, List, Native};
use crate::communicator;
use crate::foreign;
use crate::kind::Kind;
use crate::native::{self, ffi, SUCCESS};
use crate::quick::{self, Key, Who};
use crate::session;
use ffi::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::ffi::{c_char, c_int, c_void};

#[macro_use]
mod known;

/// An argument of MPI's as our functions take it.
trait Given {
    type As;
    fn given(self) -> Self::As;
}

macro_rules! given {
    ($($from:ty => $into:ty: $how:expr;)*) => {$(
        impl Given for $from {
            type As = $into;
            fn given(self) -> $into {
                #[allow(clippy::redundant_closure_call)]
                ($how)(self)
            }
        }
    )*};
}

given! {
    c_int => i64: i64::from;
    i64 => i64: |count| count;
    *const c_int => List: List::Ints;
    *const i64 => List: List::Counts;
    *const isize => List: List::Addresses;
    *const c_void => *const c_void: |at| at;
    *mut c_void => *const c_void: |at: *mut c_void| at.cast_const();
}

/// The type of a parameter by its letter.
macro_rules! of_letter {
    (send) => { *const c_void };
    (receive) => { *mut c_void };
    (n) => { Count };
    (ns) => { *const Count };
    (ds) => { *const Displacement };
    (kind) => { MPI_Datatype };
    (kinds) => { *const MPI_Datatype };
    (op) => { MPI_Op };
    (root) => { c_int };
    (comm) => { MPI_Comm };
    (addresses) => { *const ffi::MPI_Aint };
    (info) => { ffi::MPI_Info };
    (request) => { *mut ffi::MPI_Request };
}

macro_rules! argument {
    (kind $p:ident) => {
        $p
    };
    (kinds $p:ident) => {
        $p
    };
    (op $p:ident) => {
        $p
    };
    (comm $p:ident) => {
        $p
    };
    ($other:ident $p:ident) => {
        Given::given($p)
    };
}

macro_rules! entry {
    ([$name:ident $native:ident] $kind:ident $ours:ident ($($p:ident: $letter:ident),*)) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($p: of_letter!($letter)),*) -> c_int {
            // These by themselves, so that a call that is known has no more to do than to go on.
            #[inline(never)]
            #[allow(clippy::too_many_arguments)] // MPI's
            unsafe fn looked_at($($p: of_letter!($letter)),*) -> c_int {
                let native = Native { kind: Kind::$kind, how: How::Waits, call: &|| ffi::$native($($p),*) };
                calls::$ours(&native, $(argument!($letter $p)),*)
            }
            #[inline(never)]
            #[allow(clippy::too_many_arguments)] // MPI's
            unsafe fn looked_for($($p: of_letter!($letter)),*) -> c_int {
                known!($ours Kind::$kind, $native [] ($($p)*));
                looked_at($($p),*)
            }
            known!($ours Kind::$kind, $native [last] ($($p)*));
            looked_for($($p),*)
        }
    };
}

macro_rules! entries {
    ($($kind:ident: $name:ident $native:ident;)*) => {$( signature!(entry [$name $native] $kind); )*};
}

pub mod ints {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

    entries! {
        Barrier: MPI_Barrier PMPI_Barrier;
        Bcast: MPI_Bcast PMPI_Bcast;
        Gather: MPI_Gather PMPI_Gather;
        Scatter: MPI_Scatter PMPI_Scatter;
        Allgather: MPI_Allgather PMPI_Allgather;
        Alltoall: MPI_Alltoall PMPI_Alltoall;
        Gatherv: MPI_Gatherv PMPI_Gatherv;
        Scatterv: MPI_Scatterv PMPI_Scatterv;
        Allgatherv: MPI_Allgatherv PMPI_Allgatherv;
        Alltoallv: MPI_Alltoallv PMPI_Alltoallv;
        Alltoallw: MPI_Alltoallw PMPI_Alltoallw;
        Reduce: MPI_Reduce PMPI_Reduce;
        Allreduce: MPI_Allreduce PMPI_Allreduce;
        Scan: MPI_Scan PMPI_Scan;
        Exscan: MPI_Exscan PMPI_Exscan;
        ReduceScatterBlock: MPI_Reduce_scatter_block PMPI_Reduce_scatter_block;
        ReduceScatter: MPI_Reduce_scatter PMPI_Reduce_scatter;
    }
}

#[cfg(mpi4)]
pub mod large {
    use super::*;
    use ffi::{MPI_Aint, MPI_Count};
    type Count = MPI_Count;
    type Displacement = MPI_Aint;

    entries! {
        Bcast: MPI_Bcast_c PMPI_Bcast_c;
        Gather: MPI_Gather_c PMPI_Gather_c;
        Scatter: MPI_Scatter_c PMPI_Scatter_c;
        Allgather: MPI_Allgather_c PMPI_Allgather_c;
        Alltoall: MPI_Alltoall_c PMPI_Alltoall_c;
        Gatherv: MPI_Gatherv_c PMPI_Gatherv_c;
        Scatterv: MPI_Scatterv_c PMPI_Scatterv_c;
        Allgatherv: MPI_Allgatherv_c PMPI_Allgatherv_c;
        Alltoallv: MPI_Alltoallv_c PMPI_Alltoallv_c;
        Alltoallw: MPI_Alltoallw_c PMPI_Alltoallw_c;
        Reduce: MPI_Reduce_c PMPI_Reduce_c;
        Allreduce: MPI_Allreduce_c PMPI_Allreduce_c;
        Scan: MPI_Scan_c PMPI_Scan_c;
        Exscan: MPI_Exscan_c PMPI_Exscan_c;
        ReduceScatterBlock: MPI_Reduce_scatter_block_c PMPI_Reduce_scatter_block_c;
        ReduceScatter: MPI_Reduce_scatter_c PMPI_Reduce_scatter_c;
    }
}

mod made;
mod passed;
pub mod started;

/// `MPIX_Comm_revoke`.
///
/// # Safety
/// As the MPIs say that have it.
#[cfg(revoke)]
#[no_mangle]
pub unsafe extern "C" fn MPIX_Comm_revoke(comm: MPI_Comm) -> c_int {
    let found = libc::dlsym(libc::RTLD_DEFAULT, c"PMPIX_Comm_revoke".as_ptr());
    if found.is_null() {
        return crate::native::error_other();
    }
    let native = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(MPI_Comm) -> c_int>(found);
    let code = native(comm);
    if code == SUCCESS {
        communicator::is_revoked(comm);
    }
    code
}

/// MPI is up, by a function that all ranks of `MPI_COMM_WORLD` call.
unsafe fn begin() {
    session::begin(true);
    communicator::is_made(ffi::RSMPI_COMM_WORLD);
}

/// `MPI_Init`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    foreign::start_again_if_there_are_two();
    session::starts();
    let code = ffi::PMPI_Init(argc, argv);
    if code == SUCCESS {
        begin();
    }
    code
}

/// `MPI_Init_thread`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    foreign::start_again_if_there_are_two();
    session::starts();
    let code = ffi::PMPI_Init_thread(argc, argv, required, provided);
    if code == SUCCESS {
        begin();
    }
    code
}
