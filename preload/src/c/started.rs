//! Nonblocking and persistent collectives, and what a program does with their requests and with what they use.

use super::*;
use crate::requests;
use ffi::{MPI_Info, MPI_Request};

macro_rules! known_if_started {
    (Starts $($call:tt)*) => { known!($($call)*) };
    (Prepares $($call:tt)*) => {};
}

macro_rules! entry {
    ([$how:ident ($($info:ident)?) $name:ident $native:ident] $kind:ident $ours:ident ($($p:ident: $letter:ident),*)) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($p: of_letter!($letter),)* $($info: MPI_Info,)? request: *mut MPI_Request) -> c_int {
            #[inline(never)]
            #[allow(clippy::too_many_arguments)] // MPI's
            unsafe fn looked_at($($p: of_letter!($letter),)* $($info: MPI_Info,)? request: *mut MPI_Request) -> c_int {
                let call = || ffi::$native($($p,)* $($info,)? request);
                let native = Native { kind: Kind::$kind, how: How::$how(request), call: &call };
                calls::$ours(&native, $(argument!($letter $p)),*)
            }
            known_if_started!($how $ours Kind::$kind, $native [request] ($($p)*));
            looked_at($($p,)* $($info,)? request)
        }
    };
}

macro_rules! started {
    ($($kind:ident: $name:ident $native:ident;)*) => {$( signature!(entry [Starts () $name $native] $kind); )*};
}

#[cfg(persistent)]
macro_rules! prepared {
    ($($kind:ident: $name:ident $native:ident;)*) => {$( signature!(entry [Prepares (info) $name $native] $kind); )*};
}

pub mod ints {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

    started! {
        Barrier: MPI_Ibarrier PMPI_Ibarrier;
        Bcast: MPI_Ibcast PMPI_Ibcast;
        Gather: MPI_Igather PMPI_Igather;
        Scatter: MPI_Iscatter PMPI_Iscatter;
        Allgather: MPI_Iallgather PMPI_Iallgather;
        Alltoall: MPI_Ialltoall PMPI_Ialltoall;
        Gatherv: MPI_Igatherv PMPI_Igatherv;
        Scatterv: MPI_Iscatterv PMPI_Iscatterv;
        Allgatherv: MPI_Iallgatherv PMPI_Iallgatherv;
        Alltoallv: MPI_Ialltoallv PMPI_Ialltoallv;
        Alltoallw: MPI_Ialltoallw PMPI_Ialltoallw;
        Reduce: MPI_Ireduce PMPI_Ireduce;
        Allreduce: MPI_Iallreduce PMPI_Iallreduce;
        Scan: MPI_Iscan PMPI_Iscan;
        Exscan: MPI_Iexscan PMPI_Iexscan;
        ReduceScatterBlock: MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block;
        ReduceScatter: MPI_Ireduce_scatter PMPI_Ireduce_scatter;
    }

    #[cfg(persistent)]
    prepared! {
        Barrier: MPI_Barrier_init PMPI_Barrier_init;
        Bcast: MPI_Bcast_init PMPI_Bcast_init;
        Gather: MPI_Gather_init PMPI_Gather_init;
        Scatter: MPI_Scatter_init PMPI_Scatter_init;
        Allgather: MPI_Allgather_init PMPI_Allgather_init;
        Alltoall: MPI_Alltoall_init PMPI_Alltoall_init;
        Gatherv: MPI_Gatherv_init PMPI_Gatherv_init;
        Scatterv: MPI_Scatterv_init PMPI_Scatterv_init;
        Allgatherv: MPI_Allgatherv_init PMPI_Allgatherv_init;
        Alltoallv: MPI_Alltoallv_init PMPI_Alltoallv_init;
        Alltoallw: MPI_Alltoallw_init PMPI_Alltoallw_init;
        Reduce: MPI_Reduce_init PMPI_Reduce_init;
        Allreduce: MPI_Allreduce_init PMPI_Allreduce_init;
        Scan: MPI_Scan_init PMPI_Scan_init;
        Exscan: MPI_Exscan_init PMPI_Exscan_init;
        ReduceScatterBlock: MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init;
        ReduceScatter: MPI_Reduce_scatter_init PMPI_Reduce_scatter_init;
    }
}

#[cfg(mpi4)]
mod large {
    use super::*;
    use ffi::{MPI_Aint, MPI_Count};
    type Count = MPI_Count;
    type Displacement = MPI_Aint;

    started! {
        Bcast: MPI_Ibcast_c PMPI_Ibcast_c;
        Gather: MPI_Igather_c PMPI_Igather_c;
        Scatter: MPI_Iscatter_c PMPI_Iscatter_c;
        Allgather: MPI_Iallgather_c PMPI_Iallgather_c;
        Alltoall: MPI_Ialltoall_c PMPI_Ialltoall_c;
        Gatherv: MPI_Igatherv_c PMPI_Igatherv_c;
        Scatterv: MPI_Iscatterv_c PMPI_Iscatterv_c;
        Allgatherv: MPI_Iallgatherv_c PMPI_Iallgatherv_c;
        Alltoallv: MPI_Ialltoallv_c PMPI_Ialltoallv_c;
        Alltoallw: MPI_Ialltoallw_c PMPI_Ialltoallw_c;
        Reduce: MPI_Ireduce_c PMPI_Ireduce_c;
        Allreduce: MPI_Iallreduce_c PMPI_Iallreduce_c;
        Scan: MPI_Iscan_c PMPI_Iscan_c;
        Exscan: MPI_Iexscan_c PMPI_Iexscan_c;
        ReduceScatterBlock: MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c;
        ReduceScatter: MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c;
    }

    prepared! {
        Bcast: MPI_Bcast_init_c PMPI_Bcast_init_c;
        Gather: MPI_Gather_init_c PMPI_Gather_init_c;
        Scatter: MPI_Scatter_init_c PMPI_Scatter_init_c;
        Allgather: MPI_Allgather_init_c PMPI_Allgather_init_c;
        Alltoall: MPI_Alltoall_init_c PMPI_Alltoall_init_c;
        Gatherv: MPI_Gatherv_init_c PMPI_Gatherv_init_c;
        Scatterv: MPI_Scatterv_init_c PMPI_Scatterv_init_c;
        Allgatherv: MPI_Allgatherv_init_c PMPI_Allgatherv_init_c;
        Alltoallv: MPI_Alltoallv_init_c PMPI_Alltoallv_init_c;
        Alltoallw: MPI_Alltoallw_init_c PMPI_Alltoallw_init_c;
        Reduce: MPI_Reduce_init_c PMPI_Reduce_init_c;
        Allreduce: MPI_Allreduce_init_c PMPI_Allreduce_init_c;
        Scan: MPI_Scan_init_c PMPI_Scan_init_c;
        Exscan: MPI_Exscan_init_c PMPI_Exscan_init_c;
        ReduceScatterBlock: MPI_Reduce_scatter_block_init_c PMPI_Reduce_scatter_block_init_c;
        ReduceScatter: MPI_Reduce_scatter_init_c PMPI_Reduce_scatter_init_c;
    }
}

/// Persistent collectives of Open MPI before version 5, which has them as an extension: as the functions need not be there, they are looked
/// for.
#[cfg(all(open_mpi, not(persistent)))]
pub mod extension {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

    macro_rules! entry {
        ([$name:ident $native:ident] $kind:ident $ours:ident ($($p:ident: $letter:ident),*)) => {
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As MPI says.
            #[no_mangle]
            pub unsafe extern "C" fn $name($($p: of_letter!($letter),)* info: MPI_Info, request: *mut MPI_Request) -> c_int {
                type Function = unsafe extern "C" fn($(of_letter!($letter),)* MPI_Info, *mut MPI_Request) -> c_int;
                let call = || {
                    let name = concat!(stringify!($native), "\0");
                    let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast());
                    if found.is_null() {
                        return crate::native::error_other();
                    }
                    let native = std::mem::transmute::<*mut c_void, Function>(found);
                    native($($p,)* info, request)
                };
                calls::$ours(&Native { kind: Kind::$kind, how: How::Prepares(request), call: &call }, $(argument!($letter $p)),*)
            }
        };
    }

    macro_rules! entries {
        ($($kind:ident: $name:ident $native:ident;)*) => {$( signature!(entry [$name $native] $kind); )*};
    }

    entries! {
        Barrier: MPIX_Barrier_init PMPIX_Barrier_init;
        Bcast: MPIX_Bcast_init PMPIX_Bcast_init;
        Gather: MPIX_Gather_init PMPIX_Gather_init;
        Scatter: MPIX_Scatter_init PMPIX_Scatter_init;
        Allgather: MPIX_Allgather_init PMPIX_Allgather_init;
        Alltoall: MPIX_Alltoall_init PMPIX_Alltoall_init;
        Gatherv: MPIX_Gatherv_init PMPIX_Gatherv_init;
        Scatterv: MPIX_Scatterv_init PMPIX_Scatterv_init;
        Allgatherv: MPIX_Allgatherv_init PMPIX_Allgatherv_init;
        Alltoallv: MPIX_Alltoallv_init PMPIX_Alltoallv_init;
        Alltoallw: MPIX_Alltoallw_init PMPIX_Alltoallw_init;
        Reduce: MPIX_Reduce_init PMPIX_Reduce_init;
        Allreduce: MPIX_Allreduce_init PMPIX_Allreduce_init;
        Scan: MPIX_Scan_init PMPIX_Scan_init;
        Exscan: MPIX_Exscan_init PMPIX_Exscan_init;
        ReduceScatterBlock: MPIX_Reduce_scatter_block_init PMPIX_Reduce_scatter_block_init;
        ReduceScatter: MPIX_Reduce_scatter_init PMPIX_Reduce_scatter_init;
    }
}

/// `MPI_Start`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Start(request: *mut MPI_Request) -> c_int {
    requests::start(request).unwrap_or_else(|| ffi::PMPI_Start(request))
}

/// `MPI_Startall`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Startall(count: c_int, requests: *mut MPI_Request) -> c_int {
    if !requests::are_known() || requests.is_null() || count < 0 {
        return ffi::PMPI_Startall(count, requests);
    }
    // MPI looks at all of them before it starts any.
    let list = std::slice::from_raw_parts_mut(requests, count as usize);
    let null = crate::native::word(ffi::RSMPI_REQUEST_NULL);
    if let Some(none) = list.iter_mut().find(|request| crate::native::word(**request) == null) {
        return ffi::PMPI_Startall(1, none);
    }
    let codes = (0..count as usize).map(|at| MPI_Start(requests.add(at)));
    codes.into_iter().find(|&code| code != SUCCESS).unwrap_or(SUCCESS)
}

/// `MPI_Request_free`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Request_free(request: *mut MPI_Request) -> c_int {
    requests::free(request).unwrap_or_else(|| ffi::PMPI_Request_free(request))
}

/// `MPI_Cancel`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Cancel(request: *mut MPI_Request) -> c_int {
    requests::cancel(request).unwrap_or_else(|| ffi::PMPI_Cancel(request))
}

/// `MPI_Comm_free`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Comm_free(comm: *mut MPI_Comm) -> c_int {
    communicator::free(comm, ffi::PMPI_Comm_free)
}

/// `MPI_Comm_disconnect`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Comm_disconnect(comm: *mut MPI_Comm) -> c_int {
    communicator::free(comm, ffi::PMPI_Comm_disconnect)
}

/// `MPI_Type_free`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Type_free(datatype: *mut MPI_Datatype) -> c_int {
    if !datatype.is_null() && requests::free_type_later(*datatype) {
        *datatype = ffi::RSMPI_DATATYPE_NULL;
        return SUCCESS;
    }
    ffi::PMPI_Type_free(datatype)
}

/// `MPI_Op_free`.
///
/// # Safety
/// As MPI says.
#[no_mangle]
pub unsafe extern "C" fn MPI_Op_free(op: *mut MPI_Op) -> c_int {
    if !op.is_null() && requests::free_operation_later(*op) {
        *op = crate::native::null_operation();
        return SUCCESS;
    }
    ffi::PMPI_Op_free(op)
}
