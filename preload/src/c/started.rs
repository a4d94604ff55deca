//! Nonblocking and persistent collectives, and what a program does with their requests and with what they use.

use super::*;
use crate::requests;
use ffi::{MPI_Info, MPI_Request};

macro_rules! started {
    ($how:ident: $($kind:ident $ours:ident: $name:ident $native:ident ($($p:ident: $letter:ident),*; $request:ident $(, $info:ident)?);)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($p: of_letter!($letter),)* $($info: MPI_Info,)? $request: *mut MPI_Request) -> c_int {
            let call = || ffi::$native($($p,)* $($info,)? $request);
            calls::$ours(&Native { kind: Kind::$kind, how: How::$how($request), call: &call }, $(argument!($letter $p)),*)
        }
    )*};
}

pub mod ints {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

    started! {
        Starts:
        Barrier barrier: MPI_Ibarrier PMPI_Ibarrier (comm: comm; request);
        Bcast bcast: MPI_Ibcast PMPI_Ibcast (
            buffer: receive, count: n, datatype: kind, root: root, comm: comm; request);
        Gather gather: MPI_Igather PMPI_Igather (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request);
        Scatter scatter: MPI_Iscatter PMPI_Iscatter (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request);
        Allgather allgather: MPI_Iallgather PMPI_Iallgather (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request);
        Alltoall alltoall: MPI_Ialltoall PMPI_Ialltoall (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request);
        Gatherv gatherv: MPI_Igatherv PMPI_Igatherv (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            root: root, comm: comm; request);
        Scatterv scatterv: MPI_Iscatterv PMPI_Iscatterv (
            from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind,
            root: root, comm: comm; request);
        Allgatherv allgatherv: MPI_Iallgatherv PMPI_Iallgatherv (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            comm: comm; request);
        Alltoallv alltoallv: MPI_Ialltoallv PMPI_Ialltoallv (
            from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds,
            receive_type: kind, comm: comm; request);
        Alltoallw alltoallw: MPI_Ialltoallw PMPI_Ialltoallw (
            from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds,
            receive_types: kinds, comm: comm; request);
        Reduce reduce: MPI_Ireduce PMPI_Ireduce (
            from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm; request);
        Allreduce allreduce: MPI_Iallreduce PMPI_Iallreduce (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request);
        ReduceScatter reduce_scatter: MPI_Ireduce_scatter PMPI_Ireduce_scatter (
            from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm; request);
        Scan scan: MPI_Iscan PMPI_Iscan (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request);
        Exscan exscan: MPI_Iexscan PMPI_Iexscan (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request);
        ReduceScatterBlock reduce_scatter_block: MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request);
    }

    #[cfg(mpi4)]
    started! {
        Prepares:
        Barrier barrier: MPI_Barrier_init PMPI_Barrier_init (comm: comm; request, info);
        Bcast bcast: MPI_Bcast_init PMPI_Bcast_init (
            buffer: receive, count: n, datatype: kind, root: root, comm: comm; request, info);
        Gather gather: MPI_Gather_init PMPI_Gather_init (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request, info);
        Scatter scatter: MPI_Scatter_init PMPI_Scatter_init (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request, info);
        Allgather allgather: MPI_Allgather_init PMPI_Allgather_init (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request, info);
        Alltoall alltoall: MPI_Alltoall_init PMPI_Alltoall_init (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request, info);
        Gatherv gatherv: MPI_Gatherv_init PMPI_Gatherv_init (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            root: root, comm: comm; request, info);
        Scatterv scatterv: MPI_Scatterv_init PMPI_Scatterv_init (
            from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind,
            root: root, comm: comm; request, info);
        Allgatherv allgatherv: MPI_Allgatherv_init PMPI_Allgatherv_init (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            comm: comm; request, info);
        Alltoallv alltoallv: MPI_Alltoallv_init PMPI_Alltoallv_init (
            from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds,
            receive_type: kind, comm: comm; request, info);
        Alltoallw alltoallw: MPI_Alltoallw_init PMPI_Alltoallw_init (
            from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds,
            receive_types: kinds, comm: comm; request, info);
        Reduce reduce: MPI_Reduce_init PMPI_Reduce_init (
            from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm; request, info);
        Allreduce allreduce: MPI_Allreduce_init PMPI_Allreduce_init (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        ReduceScatter reduce_scatter: MPI_Reduce_scatter_init PMPI_Reduce_scatter_init (
            from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm; request, info);
        Scan scan: MPI_Scan_init PMPI_Scan_init (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        Exscan exscan: MPI_Exscan_init PMPI_Exscan_init (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        ReduceScatterBlock reduce_scatter_block: MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
    }
}

#[cfg(mpi4)]
mod large {
    use super::*;
    use ffi::{MPI_Aint, MPI_Count};
    type Count = MPI_Count;
    type Displacement = MPI_Aint;

    started! {
        Starts:
        Bcast bcast: MPI_Ibcast_c PMPI_Ibcast_c (
            buffer: receive, count: n, datatype: kind, root: root, comm: comm; request);
        Gather gather: MPI_Igather_c PMPI_Igather_c (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request);
        Scatter scatter: MPI_Iscatter_c PMPI_Iscatter_c (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request);
        Allgather allgather: MPI_Iallgather_c PMPI_Iallgather_c (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request);
        Alltoall alltoall: MPI_Ialltoall_c PMPI_Ialltoall_c (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request);
        Gatherv gatherv: MPI_Igatherv_c PMPI_Igatherv_c (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            root: root, comm: comm; request);
        Scatterv scatterv: MPI_Iscatterv_c PMPI_Iscatterv_c (
            from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind,
            root: root, comm: comm; request);
        Allgatherv allgatherv: MPI_Iallgatherv_c PMPI_Iallgatherv_c (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            comm: comm; request);
        Alltoallv alltoallv: MPI_Ialltoallv_c PMPI_Ialltoallv_c (
            from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds,
            receive_type: kind, comm: comm; request);
        Alltoallw alltoallw: MPI_Ialltoallw_c PMPI_Ialltoallw_c (
            from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds,
            receive_types: kinds, comm: comm; request);
        Reduce reduce: MPI_Ireduce_c PMPI_Ireduce_c (
            from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm; request);
        Allreduce allreduce: MPI_Iallreduce_c PMPI_Iallreduce_c (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request);
        ReduceScatter reduce_scatter: MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c (
            from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm; request);
        Scan scan: MPI_Iscan_c PMPI_Iscan_c (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request);
        Exscan exscan: MPI_Iexscan_c PMPI_Iexscan_c (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request);
        ReduceScatterBlock reduce_scatter_block: MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request);
    }

    started! {
        Prepares:
        Bcast bcast: MPI_Bcast_init_c PMPI_Bcast_init_c (
            buffer: receive, count: n, datatype: kind, root: root, comm: comm; request, info);
        Gather gather: MPI_Gather_init_c PMPI_Gather_init_c (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request, info);
        Scatter scatter: MPI_Scatter_init_c PMPI_Scatter_init_c (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request, info);
        Allgather allgather: MPI_Allgather_init_c PMPI_Allgather_init_c (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request, info);
        Alltoall alltoall: MPI_Alltoall_init_c PMPI_Alltoall_init_c (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request, info);
        Gatherv gatherv: MPI_Gatherv_init_c PMPI_Gatherv_init_c (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            root: root, comm: comm; request, info);
        Scatterv scatterv: MPI_Scatterv_init_c PMPI_Scatterv_init_c (
            from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind,
            root: root, comm: comm; request, info);
        Allgatherv allgatherv: MPI_Allgatherv_init_c PMPI_Allgatherv_init_c (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            comm: comm; request, info);
        Alltoallv alltoallv: MPI_Alltoallv_init_c PMPI_Alltoallv_init_c (
            from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds,
            receive_type: kind, comm: comm; request, info);
        Alltoallw alltoallw: MPI_Alltoallw_init_c PMPI_Alltoallw_init_c (
            from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds,
            receive_types: kinds, comm: comm; request, info);
        Reduce reduce: MPI_Reduce_init_c PMPI_Reduce_init_c (
            from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm; request, info);
        Allreduce allreduce: MPI_Allreduce_init_c PMPI_Allreduce_init_c (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        ReduceScatter reduce_scatter: MPI_Reduce_scatter_init_c PMPI_Reduce_scatter_init_c (
            from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm; request, info);
        Scan scan: MPI_Scan_init_c PMPI_Scan_init_c (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        Exscan exscan: MPI_Exscan_init_c PMPI_Exscan_init_c (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        ReduceScatterBlock reduce_scatter_block: MPI_Reduce_scatter_block_init_c PMPI_Reduce_scatter_block_init_c (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
    }
}

/// Persistent collectives of Open MPI before version 5, which has them as an extension: as the functions need not be there, they are looked
/// for.
#[cfg(all(open_mpi, not(mpi4)))]
pub mod extension {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

    macro_rules! prepared {
        ($($kind:ident $ours:ident: $name:ident $native:ident ($($p:ident: $letter:ident),*; $request:ident, $info:ident);)*) => {$(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As MPI says.
            #[no_mangle]
            pub unsafe extern "C" fn $name($($p: of_letter!($letter),)* $info: MPI_Info, $request: *mut MPI_Request) -> c_int {
                type Function = unsafe extern "C" fn($(of_letter!($letter),)* MPI_Info, *mut MPI_Request) -> c_int;
                let call = || {
                    let name = concat!(stringify!($native), "\0");
                    let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast());
                    if found.is_null() {
                        return crate::native::error_other();
                    }
                    let native = std::mem::transmute::<*mut c_void, Function>(found);
                    native($($p,)* $info, $request)
                };
                calls::$ours(&Native { kind: Kind::$kind, how: How::Prepares($request), call: &call }, $(argument!($letter $p)),*)
            }
        )*};
    }

    prepared! {
        Barrier barrier: MPIX_Barrier_init PMPIX_Barrier_init (comm: comm; request, info);
        Bcast bcast: MPIX_Bcast_init PMPIX_Bcast_init (
            buffer: receive, count: n, datatype: kind, root: root, comm: comm; request, info);
        Gather gather: MPIX_Gather_init PMPIX_Gather_init (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request, info);
        Scatter scatter: MPIX_Scatter_init PMPIX_Scatter_init (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
            comm: comm; request, info);
        Allgather allgather: MPIX_Allgather_init PMPIX_Allgather_init (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request, info);
        Alltoall alltoall: MPIX_Alltoall_init PMPIX_Alltoall_init (
            from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind,
            comm: comm; request, info);
        Gatherv gatherv: MPIX_Gatherv_init PMPIX_Gatherv_init (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            root: root, comm: comm; request, info);
        Scatterv scatterv: MPIX_Scatterv_init PMPIX_Scatterv_init (
            from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind,
            root: root, comm: comm; request, info);
        Allgatherv allgatherv: MPIX_Allgatherv_init PMPIX_Allgatherv_init (
            from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind,
            comm: comm; request, info);
        Alltoallv alltoallv: MPIX_Alltoallv_init PMPIX_Alltoallv_init (
            from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds,
            receive_type: kind, comm: comm; request, info);
        Alltoallw alltoallw: MPIX_Alltoallw_init PMPIX_Alltoallw_init (
            from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds,
            receive_types: kinds, comm: comm; request, info);
        Reduce reduce: MPIX_Reduce_init PMPIX_Reduce_init (
            from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm; request, info);
        Allreduce allreduce: MPIX_Allreduce_init PMPIX_Allreduce_init (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        ReduceScatter reduce_scatter: MPIX_Reduce_scatter_init PMPIX_Reduce_scatter_init (
            from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm; request, info);
        Scan scan: MPIX_Scan_init PMPIX_Scan_init (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        Exscan exscan: MPIX_Exscan_init PMPIX_Exscan_init (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
        ReduceScatterBlock reduce_scatter_block: MPIX_Reduce_scatter_block_init PMPIX_Reduce_scatter_block_init (
            from: send, into: receive, count: n, datatype: kind, op: op, comm: comm; request, info);
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
    if !requests::are_known() {
        return ffi::PMPI_Startall(count, requests);
    }
    let codes = (0..count.max(0) as usize).map(|at| MPI_Start(requests.add(at)));
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
