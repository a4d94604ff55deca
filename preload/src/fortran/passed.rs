//! Collectives of Fortran that are left to MPI, counted: MPI's own get what was passed.

use super::behind::behind;
use crate::calls::{pass, How, Native};
use crate::kind::Kind;
use crate::native::{self, SUCCESS};
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

type Address = *mut c_void;

macro_rules! left {
    ($why:literal $parameters:tt: $($kind:ident: $mpifh:ident $f08:ident;)*) => {$(
        left!(@one $why $kind $mpifh $parameters);
        left!(@one $why $kind $f08 $parameters);
    )*};
    (@one $why:literal $kind:ident $name:ident ($($p:ident)*)) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        #[allow(clippy::too_many_arguments)] // MPI's
        pub unsafe extern "C" fn $name($($p: Address,)* error: *mut c_int) {
            type Function = unsafe extern "C" fn($(left!(@address $p),)* *mut c_int);
            static NATIVE: OnceLock<Option<Function>> = OnceLock::new();
            let native = *NATIVE.get_or_init(|| behind::<Function>(concat!(stringify!($name), "\0"), $name as *const c_void));
            let call = || {
                let mut code = native::error_other();
                if let Some(native) = native {
                    code = SUCCESS;
                    native($($p,)* &mut code);
                }
                code
            };
            crate::fortran::answer(error, pass(&Native { kind: Kind::$kind, how: How::Waits, call: &call }, $why));
        }
    };
    (@address $p:ident) => { Address };
}

left! {
    "neighbours" (from sent send_type into received receive_type comm):
    NeighborAllgather: mpi_neighbor_allgather_ mpi_neighbor_allgather_f08_;
    NeighborAlltoall: mpi_neighbor_alltoall_ mpi_neighbor_alltoall_f08_;
}

left! {
    "neighbours" (from sent send_type into received places receive_type comm):
    NeighborAllgatherv: mpi_neighbor_allgatherv_ mpi_neighbor_allgatherv_f08_;
}

left! {
    "neighbours" (from sent sent_from send_type into received received_at receive_type comm):
    NeighborAlltoallv: mpi_neighbor_alltoallv_ mpi_neighbor_alltoallv_f08_;
    NeighborAlltoallw: mpi_neighbor_alltoallw_ mpi_neighbor_alltoallw_f08_;
}

left! {
    "a nonblocking call" (from sent send_type into received receive_type comm request):
    NeighborAllgather: mpi_ineighbor_allgather_ mpi_ineighbor_allgather_f08_;
    NeighborAlltoall: mpi_ineighbor_alltoall_ mpi_ineighbor_alltoall_f08_;
}

left! {
    "a nonblocking call" (from sent send_type into received places receive_type comm request):
    NeighborAllgatherv: mpi_ineighbor_allgatherv_ mpi_ineighbor_allgatherv_f08_;
}

left! {
    "a nonblocking call" (from sent sent_from send_type into received received_at receive_type comm request):
    NeighborAlltoallv: mpi_ineighbor_alltoallv_ mpi_ineighbor_alltoallv_f08_;
    NeighborAlltoallw: mpi_ineighbor_alltoallw_ mpi_ineighbor_alltoallw_f08_;
}

#[cfg(persistent)]
mod persistent {
    use super::*;

    left! {
        "a persistent call" (from sent send_type into received receive_type comm info request):
        NeighborAllgather: mpi_neighbor_allgather_init_ mpi_neighbor_allgather_init_f08_;
        NeighborAlltoall: mpi_neighbor_alltoall_init_ mpi_neighbor_alltoall_init_f08_;
    }

    left! {
        "a persistent call" (from sent send_type into received places receive_type comm info request):
        NeighborAllgatherv: mpi_neighbor_allgatherv_init_ mpi_neighbor_allgatherv_init_f08_;
    }

    left! {
        "a persistent call" (from sent sent_from send_type into received received_at receive_type comm info request):
        NeighborAlltoallv: mpi_neighbor_alltoallv_init_ mpi_neighbor_alltoallv_init_f08_;
        NeighborAlltoallw: mpi_neighbor_alltoallw_init_ mpi_neighbor_alltoallw_init_f08_;
    }
}
