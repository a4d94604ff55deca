//! Functions of Fortran that make communicators: MPI's own, and then [`communicator::is_made`].
//!
//! They take logicals and more that only MPI knows how to translate: so MPI's are looked for behind ours, and get what was passed. (Of text
//! that is the length as well: compilers pass it by value, behind all else.)

use super::behind::behind;
use crate::communicator;
use crate::native::{self, ffi, SUCCESS};
use std::ffi::{c_int, c_void};

type Passed = *mut c_void;

macro_rules! makes {
    ($($(#[$where:meta])* $mpifh:ident $f08:ident ($($p:ident)*) $($length:ident)?;)*) => {$(
        makes!(@one $(#[$where])* $mpifh ($($p)*) $($length)?);
        makes!(@one $(#[$where])* $f08 ($($p)*) $($length)?);
    )*};
    (@one $(#[$where:meta])* $name:ident ($($p:ident)*) $($length:ident)?) => {
        $(#[$where])*
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        #[allow(clippy::too_many_arguments)] // MPI's
        pub unsafe extern "C" fn $name($($p: Passed,)* made: *mut c_int, error: *mut c_int $(, $length: usize)?) {
            type Function = unsafe extern "C" fn($(makes!(@passed $p),)* *mut c_int, *mut c_int $(, makes!(@length $length))?);
            let mut code = native::error_other();
            if let Some(native) = behind::<Function>(concat!(stringify!($name), "\0"), $name as *const c_void) {
                native($($p,)* made, &mut code $(, $length)?);
            }
            if code == SUCCESS {
                communicator::is_made(ffi::PMPI_Comm_f2c(*made));
            }
            super::answer(error, code);
        }
    };
    (@passed $p:ident) => { Passed };
    (@length $length:ident) => { usize };
}

makes! {
    mpi_comm_dup_ mpi_comm_dup_f08_ (comm);
    mpi_comm_dup_with_info_ mpi_comm_dup_with_info_f08_ (comm info);
    mpi_comm_create_ mpi_comm_create_f08_ (comm group);
    mpi_comm_create_group_ mpi_comm_create_group_f08_ (comm group tag);
    #[cfg(sessions)]
    mpi_comm_create_from_group_ mpi_comm_create_from_group_f08_ (group tag info handler) length;
    mpi_comm_split_ mpi_comm_split_f08_ (comm color key);
    mpi_comm_split_type_ mpi_comm_split_type_f08_ (comm kind key info);
    mpi_intercomm_merge_ mpi_intercomm_merge_f08_ (comm high);
    mpi_cart_create_ mpi_cart_create_f08_ (comm dimensions sizes rings reorder);
    mpi_cart_sub_ mpi_cart_sub_f08_ (comm remain);
    mpi_graph_create_ mpi_graph_create_f08_ (comm nodes index edges reorder);
    mpi_dist_graph_create_ mpi_dist_graph_create_f08_ (comm n sources degrees destinations weights info reorder);
    mpi_dist_graph_create_adjacent_ mpi_dist_graph_create_adjacent_f08_ (
        comm in_degree sources source_weights out_degree destinations destination_weights info reorder);
}
