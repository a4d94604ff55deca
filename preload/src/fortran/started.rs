//! Nonblocking and persistent collectives of Fortran, and what a program does with their requests and with what they use. Its waits and
//! tests are MPI's own.

use super::*;
#[cfg(not(persistent))]
use crate::c::started::extension;
use crate::c::started::{self, ints};
use ffi::MPI_Request;

entries! {
    ints (-> request):
    Barrier: MPI_Ibarrier mpi_ibarrier_ mpi_ibarrier_f08_;
    Bcast: MPI_Ibcast mpi_ibcast_ mpi_ibcast_f08_;
    Gather: MPI_Igather mpi_igather_ mpi_igather_f08_;
    Scatter: MPI_Iscatter mpi_iscatter_ mpi_iscatter_f08_;
    Allgather: MPI_Iallgather mpi_iallgather_ mpi_iallgather_f08_;
    Alltoall: MPI_Ialltoall mpi_ialltoall_ mpi_ialltoall_f08_;
    Gatherv: MPI_Igatherv mpi_igatherv_ mpi_igatherv_f08_;
    Scatterv: MPI_Iscatterv mpi_iscatterv_ mpi_iscatterv_f08_;
    Allgatherv: MPI_Iallgatherv mpi_iallgatherv_ mpi_iallgatherv_f08_;
    Alltoallv: MPI_Ialltoallv mpi_ialltoallv_ mpi_ialltoallv_f08_;
    Reduce: MPI_Ireduce mpi_ireduce_ mpi_ireduce_f08_;
    Allreduce: MPI_Iallreduce mpi_iallreduce_ mpi_iallreduce_f08_;
    Scan: MPI_Iscan mpi_iscan_ mpi_iscan_f08_;
    Exscan: MPI_Iexscan mpi_iexscan_ mpi_iexscan_f08_;
    ReduceScatterBlock: MPI_Ireduce_scatter_block mpi_ireduce_scatter_block_ mpi_ireduce_scatter_block_f08_;
    ReduceScatter: MPI_Ireduce_scatter mpi_ireduce_scatter_ mpi_ireduce_scatter_f08_;
}

// (Arrays of datatypes would have to be kept for as long as a persistent call is there: its `alltoallw` is MPI's.)
#[cfg(not(persistent))]
entries! {
    extension (info -> request):
    Barrier: MPIX_Barrier_init mpix_barrier_init_ mpix_barrier_init_f08_;
    Bcast: MPIX_Bcast_init mpix_bcast_init_ mpix_bcast_init_f08_;
    Gather: MPIX_Gather_init mpix_gather_init_ mpix_gather_init_f08_;
    Scatter: MPIX_Scatter_init mpix_scatter_init_ mpix_scatter_init_f08_;
    Allgather: MPIX_Allgather_init mpix_allgather_init_ mpix_allgather_init_f08_;
    Alltoall: MPIX_Alltoall_init mpix_alltoall_init_ mpix_alltoall_init_f08_;
    Gatherv: MPIX_Gatherv_init mpix_gatherv_init_ mpix_gatherv_init_f08_;
    Scatterv: MPIX_Scatterv_init mpix_scatterv_init_ mpix_scatterv_init_f08_;
    Allgatherv: MPIX_Allgatherv_init mpix_allgatherv_init_ mpix_allgatherv_init_f08_;
    Alltoallv: MPIX_Alltoallv_init mpix_alltoallv_init_ mpix_alltoallv_init_f08_;
    Reduce: MPIX_Reduce_init mpix_reduce_init_ mpix_reduce_init_f08_;
    Allreduce: MPIX_Allreduce_init mpix_allreduce_init_ mpix_allreduce_init_f08_;
    Scan: MPIX_Scan_init mpix_scan_init_ mpix_scan_init_f08_;
    Exscan: MPIX_Exscan_init mpix_exscan_init_ mpix_exscan_init_f08_;
    ReduceScatterBlock: MPIX_Reduce_scatter_block_init mpix_reduce_scatter_block_init_ mpix_reduce_scatter_block_init_f08_;
    ReduceScatter: MPIX_Reduce_scatter_init mpix_reduce_scatter_init_ mpix_reduce_scatter_init_f08_;
}

#[cfg(persistent)]
entries! {
    ints (info -> request):
    Barrier: MPI_Barrier_init mpi_barrier_init_ mpi_barrier_init_f08_;
    Bcast: MPI_Bcast_init mpi_bcast_init_ mpi_bcast_init_f08_;
    Gather: MPI_Gather_init mpi_gather_init_ mpi_gather_init_f08_;
    Scatter: MPI_Scatter_init mpi_scatter_init_ mpi_scatter_init_f08_;
    Allgather: MPI_Allgather_init mpi_allgather_init_ mpi_allgather_init_f08_;
    Alltoall: MPI_Alltoall_init mpi_alltoall_init_ mpi_alltoall_init_f08_;
    Gatherv: MPI_Gatherv_init mpi_gatherv_init_ mpi_gatherv_init_f08_;
    Scatterv: MPI_Scatterv_init mpi_scatterv_init_ mpi_scatterv_init_f08_;
    Allgatherv: MPI_Allgatherv_init mpi_allgatherv_init_ mpi_allgatherv_init_f08_;
    Alltoallv: MPI_Alltoallv_init mpi_alltoallv_init_ mpi_alltoallv_init_f08_;
    Reduce: MPI_Reduce_init mpi_reduce_init_ mpi_reduce_init_f08_;
    Allreduce: MPI_Allreduce_init mpi_allreduce_init_ mpi_allreduce_init_f08_;
    Scan: MPI_Scan_init mpi_scan_init_ mpi_scan_init_f08_;
    Exscan: MPI_Exscan_init mpi_exscan_init_ mpi_exscan_init_f08_;
    ReduceScatterBlock: MPI_Reduce_scatter_block_init mpi_reduce_scatter_block_init_ mpi_reduce_scatter_block_init_f08_;
    ReduceScatter: MPI_Reduce_scatter_init mpi_reduce_scatter_init_ mpi_reduce_scatter_init_f08_;
}

/// Functions that take a handle, and may change it.
macro_rules! of_handles {
    ($($c:ident: $mpifh:ident $f08:ident ($f2c:ident $c2f:ident);)*) => {$(
        of_handles!(@one $c $mpifh $f2c $c2f);
        of_handles!(@one $c $f08 $f2c $c2f);
    )*};
    (@one $c:ident $name:ident $f2c:ident $c2f:ident) => {
        #[doc = concat!("`", stringify!($c), "` of Fortran.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name(handle: *mut c_int, error: *mut c_int) {
            let mut given = ffi::$f2c(*handle);
            let code = started::$c(&mut given);
            if code == SUCCESS {
                *handle = ffi::$c2f(given);
            }
            answer(error, code);
        }
    };
}

of_handles! {
    MPI_Start: mpi_start_ mpi_start_f08_ (PMPI_Request_f2c PMPI_Request_c2f);
    MPI_Request_free: mpi_request_free_ mpi_request_free_f08_ (PMPI_Request_f2c PMPI_Request_c2f);
    MPI_Cancel: mpi_cancel_ mpi_cancel_f08_ (PMPI_Request_f2c PMPI_Request_c2f);
    MPI_Comm_free: mpi_comm_free_ mpi_comm_free_f08_ (PMPI_Comm_f2c PMPI_Comm_c2f);
    MPI_Comm_disconnect: mpi_comm_disconnect_ mpi_comm_disconnect_f08_ (PMPI_Comm_f2c PMPI_Comm_c2f);
    MPI_Type_free: mpi_type_free_ mpi_type_free_f08_ (PMPI_Type_f2c PMPI_Type_c2f);
    MPI_Op_free: mpi_op_free_ mpi_op_free_f08_ (PMPI_Op_f2c PMPI_Op_c2f);
}

macro_rules! startall {
    ($($name:ident)*) => {$(
        /// `MPI_Startall` of Fortran.
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name(count: *const c_int, requests: *mut c_int, error: *mut c_int) {
            let all = (0..(*count).max(0) as usize).map(|at| ffi::PMPI_Request_f2c(*requests.add(at)));
            let mut all: Vec<MPI_Request> = all.collect();
            answer(error, started::MPI_Startall(*count, all.as_mut_ptr()));
            // MPI may have given them others, whether it could start all of them or not.
            for (at, &request) in all.iter().enumerate() {
                *requests.add(at) = ffi::PMPI_Request_c2f(request);
            }
        }
    )*};
}

startall!(mpi_startall_ mpi_startall_f08_);
