//! Fortran under Open MPI, whose wrappers call `PMPI_` functions and so would pass us by: mpif.h, `use mpi`, and mpi_f08.
//!
//! All three pass the same: addresses of everything, handles as integers (mpi_f08 has them in a structure of one), and of mpi_f08 no
//! address of an error code that is not wanted. Each function here translates them, and calls ours of C. (MPICH's wrappers do that
//! themselves, but for those in `f08`.)

use crate::c::{self, ints};
use crate::native::{self, ffi, SUCCESS};
use ffi::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::OnceLock;

/// The addresses by which Fortran says `MPI_IN_PLACE` and `MPI_BOTTOM`: those of variables whose names compilers write in several ways.
struct Constants {
    in_place: [usize; 4],
    bottom: [usize; 4],
}

fn constants() -> &'static Constants {
    static CONSTANTS: OnceLock<Constants> = OnceLock::new();
    // The program may have its own, as common blocks are: the first that is found is that of all.
    let address = |name: &CStr| {
        // SAFETY: a name that ends.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast::<c_char>()) };
        found.addr()
    };
    CONSTANTS.get_or_init(|| Constants {
        in_place: [
            c"mpi_fortran_in_place_",
            c"mpi_fortran_in_place",
            c"mpi_fortran_in_place__",
            c"MPI_FORTRAN_IN_PLACE",
        ]
        .map(address),
        bottom: [c"mpi_fortran_bottom_", c"mpi_fortran_bottom", c"mpi_fortran_bottom__", c"MPI_FORTRAN_BOTTOM"]
            .map(address),
    })
}

/// A buffer as C has it.
fn buffer(at: *mut c_void) -> *mut c_void {
    let Constants { in_place, bottom } = constants();
    match at.addr() {
        0 => at,
        place if in_place.contains(&place) => native::in_place().cast_mut(),
        place if bottom.contains(&place) => native::bottom().cast_mut(),
        _ => at,
    }
}

/// What Fortran passes as what C takes.
trait Passed {
    type As;
    unsafe fn passed(self) -> Self::As;
}

macro_rules! passed {
    ($($(#[$doc:meta])* $name:ident($pointer:ty) as $c:ty: $passed:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name($pointer);

        impl Passed for $name {
            type As = $c;
            unsafe fn passed(self) -> $c {
                let passed: unsafe fn($pointer) -> $c = $passed;
                passed(self.0)
            }
        }
    )*};
}

unsafe fn value(at: *const c_int) -> c_int {
    *at
}

passed! {
    /// An integer.
    Integer(*const c_int) as c_int: value;
    /// Integers of all ranks.
    Integers(*const c_int) as *const c_int: |at| at;
    /// Memory.
    Buffer(*mut c_void) as *mut c_void: buffer;
    /// The handle of a datatype.
    Type(*const c_int) as MPI_Datatype: |at| unsafe { ffi::PMPI_Type_f2c(value(at)) };
    /// The handle of an operation.
    Op(*const c_int) as MPI_Op: |at| unsafe { ffi::PMPI_Op_f2c(value(at)) };
    /// The handle of hints.
    Info(*const c_int) as ffi::MPI_Info: |at| unsafe { ffi::PMPI_Info_f2c(value(at)) };
    /// The handle of a communicator.
    Comm(*const c_int) as MPI_Comm: |at| unsafe { ffi::PMPI_Comm_f2c(value(at)) };
}

pub unsafe fn answer(error: *mut c_int, code: c_int) {
    if !error.is_null() {
        *error = code;
    }
}

/// The type of a parameter by its letter.
macro_rules! of_letter {
    (send) => {
        Buffer
    };
    (receive) => {
        Buffer
    };
    (n) => {
        Integer
    };
    (ns) => {
        Integers
    };
    (ds) => {
        Integers
    };
    (kind) => {
        Type
    };
    (op) => {
        Op
    };
    (root) => {
        Integer
    };
    (comm) => {
        Comm
    };
}

/// Calls a function of C, and gives back what it gives: an error code, and after a function that makes one the handle of a request.
macro_rules! called {
    ($error:ident () $c:path: $($argument:expr),*) => {
        answer($error, $c($($argument),*))
    };
    ($error:ident ($($info:ident)? -> $request:ident) $c:path: $($argument:expr),*) => {{
        let mut made = ffi::RSMPI_REQUEST_NULL;
        let code = $c($($argument,)* $($info.passed(),)? &mut made);
        if code == SUCCESS {
            *$request = ffi::PMPI_Request_c2f(made);
        }
        answer($error, code);
    }};
}

macro_rules! entry {
    ([$module:ident $c:ident $name:ident ($($($info:ident)? -> $request:ident)?)] $kind:ident $ours:ident ($($p:ident: $letter:ident),*)) => {
        #[doc = concat!("`", stringify!($c), "` of Fortran.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name(
            $($p: of_letter!($letter),)* $($($info: Info,)? $request: *mut c_int,)? error: *mut c_int
        ) {
            called!(error ($($($info)? -> $request)?) $module::$c: $($p.passed()),*);
        }
    };
}

/// Functions of mpif.h and `use mpi`, and of mpi_f08, that call those of C in a module; what they have besides the collective's
/// parameters.
macro_rules! entries {
    ($module:ident $more:tt: $($kind:ident: $c:ident $mpifh:ident $f08:ident;)*) => {$(
        signature!(entry [$module $c $mpifh $more] $kind);
        signature!(entry [$module $c $f08 $more] $kind);
    )*};
}

entries! {
    ints ():
    Barrier: MPI_Barrier mpi_barrier_ mpi_barrier_f08_;
    Bcast: MPI_Bcast mpi_bcast_ mpi_bcast_f08_;
    Gather: MPI_Gather mpi_gather_ mpi_gather_f08_;
    Scatter: MPI_Scatter mpi_scatter_ mpi_scatter_f08_;
    Allgather: MPI_Allgather mpi_allgather_ mpi_allgather_f08_;
    Alltoall: MPI_Alltoall mpi_alltoall_ mpi_alltoall_f08_;
    Gatherv: MPI_Gatherv mpi_gatherv_ mpi_gatherv_f08_;
    Scatterv: MPI_Scatterv mpi_scatterv_ mpi_scatterv_f08_;
    Allgatherv: MPI_Allgatherv mpi_allgatherv_ mpi_allgatherv_f08_;
    Alltoallv: MPI_Alltoallv mpi_alltoallv_ mpi_alltoallv_f08_;
    Reduce: MPI_Reduce mpi_reduce_ mpi_reduce_f08_;
    Allreduce: MPI_Allreduce mpi_allreduce_ mpi_allreduce_f08_;
    Scan: MPI_Scan mpi_scan_ mpi_scan_f08_;
    Exscan: MPI_Exscan mpi_exscan_ mpi_exscan_f08_;
    ReduceScatterBlock: MPI_Reduce_scatter_block mpi_reduce_scatter_block_ mpi_reduce_scatter_block_f08_;
    ReduceScatter: MPI_Reduce_scatter mpi_reduce_scatter_ mpi_reduce_scatter_f08_;
}

mod alltoallw;
pub mod behind;
// Here, as it uses the macros above.
mod made;
mod passed;
pub mod started;

macro_rules! init {
    ($($init:ident $init_thread:ident)*) => {$(
        /// `MPI_Init` of Fortran.
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $init(error: *mut c_int) {
            answer(error, c::MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()));
        }

        /// `MPI_Init_thread` of Fortran.
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $init_thread(required: *const c_int, provided: *mut c_int, error: *mut c_int) {
            let nothing = (std::ptr::null_mut(), std::ptr::null_mut());
            answer(error, c::MPI_Init_thread(nothing.0, nothing.1, *required, provided));
        }
    )*};
}

init!(mpi_init_ mpi_init_thread_ mpi_init_f08_ mpi_init_thread_f08_);
