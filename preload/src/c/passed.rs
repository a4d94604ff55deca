//! Collectives that are left to MPI, counted.

use super::*;
use crate::calls::pass;

macro_rules! passed {
    ($why:literal: $($kind:ident: $name:ident $native:ident ($($p:ident: $letter:ident),*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($p: of_letter!($letter)),*) -> c_int {
            pass(&Native { kind: Kind::$kind, call: &|| ffi::$native($($p),*) }, $why)
        }
    )*};
}

mod ints {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

    passed! {
    "a nonblocking call":
    Barrier: MPI_Ibarrier PMPI_Ibarrier (comm: comm, request: request);
    Bcast: MPI_Ibcast PMPI_Ibcast (buffer: receive, count: n, datatype: kind, root: root, comm: comm, request: request);
    Gather: MPI_Igather PMPI_Igather (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, request: request);
    Scatter: MPI_Iscatter PMPI_Iscatter (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, request: request);
    Allgather: MPI_Iallgather PMPI_Iallgather (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, request: request);
    Alltoall: MPI_Ialltoall PMPI_Ialltoall (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, request: request);
    Gatherv: MPI_Igatherv PMPI_Igatherv (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, root: root, comm: comm, request: request);
    Scatterv: MPI_Iscatterv PMPI_Iscatterv (from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, request: request);
    Allgatherv: MPI_Iallgatherv PMPI_Iallgatherv (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, request: request);
    Alltoallv: MPI_Ialltoallv PMPI_Ialltoallv (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, request: request);
    Alltoallw: MPI_Ialltoallw PMPI_Ialltoallw (from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds, receive_types: kinds, comm: comm, request: request);
    Reduce: MPI_Ireduce PMPI_Ireduce (from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm, request: request);
    Allreduce: MPI_Iallreduce PMPI_Iallreduce (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, request: request);
    ReduceScatter: MPI_Ireduce_scatter PMPI_Ireduce_scatter (from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm, request: request);
    Scan: MPI_Iscan PMPI_Iscan (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, request: request);
    Exscan: MPI_Iexscan PMPI_Iexscan (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, request: request);
    ReduceScatterBlock: MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, request: request);
    }

    passed! {
    "a nonblocking call":
    NeighborAllgather: MPI_Ineighbor_allgather PMPI_Ineighbor_allgather (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, request: request);
    NeighborAllgatherv: MPI_Ineighbor_allgatherv PMPI_Ineighbor_allgatherv (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, request: request);
    NeighborAlltoall: MPI_Ineighbor_alltoall PMPI_Ineighbor_alltoall (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, request: request);
    NeighborAlltoallv: MPI_Ineighbor_alltoallv PMPI_Ineighbor_alltoallv (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, request: request);
    NeighborAlltoallw: MPI_Ineighbor_alltoallw PMPI_Ineighbor_alltoallw (from: send, sent: ns, sent_from: addresses, send_types: kinds, into: receive, received: ns, received_at: addresses, receive_types: kinds, comm: comm, request: request);
    }

    passed! {
    "neighbours":
    NeighborAllgather: MPI_Neighbor_allgather PMPI_Neighbor_allgather (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm);
    NeighborAllgatherv: MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm);
    NeighborAlltoall: MPI_Neighbor_alltoall PMPI_Neighbor_alltoall (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm);
    NeighborAlltoallv: MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm);
    NeighborAlltoallw: MPI_Neighbor_alltoallw PMPI_Neighbor_alltoallw (from: send, sent: ns, sent_from: addresses, send_types: kinds, into: receive, received: ns, received_at: addresses, receive_types: kinds, comm: comm);
    }
}

#[cfg(mpi4)]
mod persistent {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

    passed! {
    "a persistent call":
    Barrier: MPI_Barrier_init PMPI_Barrier_init (comm: comm, info: info, request: request);
    Bcast: MPI_Bcast_init PMPI_Bcast_init (buffer: receive, count: n, datatype: kind, root: root, comm: comm, info: info, request: request);
    Gather: MPI_Gather_init PMPI_Gather_init (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, info: info, request: request);
    Scatter: MPI_Scatter_init PMPI_Scatter_init (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, info: info, request: request);
    Allgather: MPI_Allgather_init PMPI_Allgather_init (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    Alltoall: MPI_Alltoall_init PMPI_Alltoall_init (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    Gatherv: MPI_Gatherv_init PMPI_Gatherv_init (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, root: root, comm: comm, info: info, request: request);
    Scatterv: MPI_Scatterv_init PMPI_Scatterv_init (from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, info: info, request: request);
    Allgatherv: MPI_Allgatherv_init PMPI_Allgatherv_init (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, info: info, request: request);
    Alltoallv: MPI_Alltoallv_init PMPI_Alltoallv_init (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, info: info, request: request);
    Alltoallw: MPI_Alltoallw_init PMPI_Alltoallw_init (from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds, receive_types: kinds, comm: comm, info: info, request: request);
    Reduce: MPI_Reduce_init PMPI_Reduce_init (from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm, info: info, request: request);
    Allreduce: MPI_Allreduce_init PMPI_Allreduce_init (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, info: info, request: request);
    ReduceScatter: MPI_Reduce_scatter_init PMPI_Reduce_scatter_init (from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm, info: info, request: request);
    Scan: MPI_Scan_init PMPI_Scan_init (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, info: info, request: request);
    Exscan: MPI_Exscan_init PMPI_Exscan_init (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, info: info, request: request);
    ReduceScatterBlock: MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, info: info, request: request);
    }

    passed! {
    "a persistent call":
    NeighborAllgather: MPI_Neighbor_allgather_init PMPI_Neighbor_allgather_init (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAllgatherv: MPI_Neighbor_allgatherv_init PMPI_Neighbor_allgatherv_init (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoall: MPI_Neighbor_alltoall_init PMPI_Neighbor_alltoall_init (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoallv: MPI_Neighbor_alltoallv_init PMPI_Neighbor_alltoallv_init (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoallw: MPI_Neighbor_alltoallw_init PMPI_Neighbor_alltoallw_init (from: send, sent: ns, sent_from: addresses, send_types: kinds, into: receive, received: ns, received_at: addresses, receive_types: kinds, comm: comm, info: info, request: request);
    }
}

#[cfg(mpi4)]
mod large {
    use super::*;
    type Count = ffi::MPI_Count;
    type Displacement = ffi::MPI_Aint;

    passed! {
    "a nonblocking call":
    Bcast: MPI_Ibcast_c PMPI_Ibcast_c (buffer: receive, count: n, datatype: kind, root: root, comm: comm, request: request);
    Gather: MPI_Igather_c PMPI_Igather_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, request: request);
    Scatter: MPI_Iscatter_c PMPI_Iscatter_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, request: request);
    Allgather: MPI_Iallgather_c PMPI_Iallgather_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, request: request);
    Alltoall: MPI_Ialltoall_c PMPI_Ialltoall_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, request: request);
    Gatherv: MPI_Igatherv_c PMPI_Igatherv_c (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, root: root, comm: comm, request: request);
    Scatterv: MPI_Iscatterv_c PMPI_Iscatterv_c (from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, request: request);
    Allgatherv: MPI_Iallgatherv_c PMPI_Iallgatherv_c (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, request: request);
    Alltoallv: MPI_Ialltoallv_c PMPI_Ialltoallv_c (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, request: request);
    Alltoallw: MPI_Ialltoallw_c PMPI_Ialltoallw_c (from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds, receive_types: kinds, comm: comm, request: request);
    Reduce: MPI_Ireduce_c PMPI_Ireduce_c (from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm, request: request);
    Allreduce: MPI_Iallreduce_c PMPI_Iallreduce_c (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, request: request);
    ReduceScatter: MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c (from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm, request: request);
    Scan: MPI_Iscan_c PMPI_Iscan_c (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, request: request);
    Exscan: MPI_Iexscan_c PMPI_Iexscan_c (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, request: request);
    ReduceScatterBlock: MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, request: request);
    }

    passed! {
    "a nonblocking call":
    NeighborAllgather: MPI_Ineighbor_allgather_c PMPI_Ineighbor_allgather_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, request: request);
    NeighborAllgatherv: MPI_Ineighbor_allgatherv_c PMPI_Ineighbor_allgatherv_c (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, request: request);
    NeighborAlltoall: MPI_Ineighbor_alltoall_c PMPI_Ineighbor_alltoall_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, request: request);
    NeighborAlltoallv: MPI_Ineighbor_alltoallv_c PMPI_Ineighbor_alltoallv_c (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, request: request);
    NeighborAlltoallw: MPI_Ineighbor_alltoallw_c PMPI_Ineighbor_alltoallw_c (from: send, sent: ns, sent_from: addresses, send_types: kinds, into: receive, received: ns, received_at: addresses, receive_types: kinds, comm: comm, request: request);
    }

    passed! {
    "neighbours":
    NeighborAllgather: MPI_Neighbor_allgather_c PMPI_Neighbor_allgather_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm);
    NeighborAllgatherv: MPI_Neighbor_allgatherv_c PMPI_Neighbor_allgatherv_c (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm);
    NeighborAlltoall: MPI_Neighbor_alltoall_c PMPI_Neighbor_alltoall_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm);
    NeighborAlltoallv: MPI_Neighbor_alltoallv_c PMPI_Neighbor_alltoallv_c (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm);
    NeighborAlltoallw: MPI_Neighbor_alltoallw_c PMPI_Neighbor_alltoallw_c (from: send, sent: ns, sent_from: addresses, send_types: kinds, into: receive, received: ns, received_at: addresses, receive_types: kinds, comm: comm);
    }

    passed! {
    "a persistent call":
    Bcast: MPI_Bcast_init_c PMPI_Bcast_init_c (buffer: receive, count: n, datatype: kind, root: root, comm: comm, info: info, request: request);
    Gather: MPI_Gather_init_c PMPI_Gather_init_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, info: info, request: request);
    Scatter: MPI_Scatter_init_c PMPI_Scatter_init_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, info: info, request: request);
    Allgather: MPI_Allgather_init_c PMPI_Allgather_init_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    Alltoall: MPI_Alltoall_init_c PMPI_Alltoall_init_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    Gatherv: MPI_Gatherv_init_c PMPI_Gatherv_init_c (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, root: root, comm: comm, info: info, request: request);
    Scatterv: MPI_Scatterv_init_c PMPI_Scatterv_init_c (from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm, info: info, request: request);
    Allgatherv: MPI_Allgatherv_init_c PMPI_Allgatherv_init_c (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, info: info, request: request);
    Alltoallv: MPI_Alltoallv_init_c PMPI_Alltoallv_init_c (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, info: info, request: request);
    Alltoallw: MPI_Alltoallw_init_c PMPI_Alltoallw_init_c (from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds, receive_types: kinds, comm: comm, info: info, request: request);
    Reduce: MPI_Reduce_init_c PMPI_Reduce_init_c (from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm, info: info, request: request);
    Allreduce: MPI_Allreduce_init_c PMPI_Allreduce_init_c (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, info: info, request: request);
    ReduceScatter: MPI_Reduce_scatter_init_c PMPI_Reduce_scatter_init_c (from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm, info: info, request: request);
    Scan: MPI_Scan_init_c PMPI_Scan_init_c (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, info: info, request: request);
    Exscan: MPI_Exscan_init_c PMPI_Exscan_init_c (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, info: info, request: request);
    ReduceScatterBlock: MPI_Reduce_scatter_block_init_c PMPI_Reduce_scatter_block_init_c (from: send, into: receive, count: n, datatype: kind, op: op, comm: comm, info: info, request: request);
    }

    passed! {
    "a persistent call":
    NeighborAllgather: MPI_Neighbor_allgather_init_c PMPI_Neighbor_allgather_init_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAllgatherv: MPI_Neighbor_allgatherv_init_c PMPI_Neighbor_allgatherv_init_c (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoall: MPI_Neighbor_alltoall_init_c PMPI_Neighbor_alltoall_init_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoallv: MPI_Neighbor_alltoallv_init_c PMPI_Neighbor_alltoallv_init_c (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoallw: MPI_Neighbor_alltoallw_init_c PMPI_Neighbor_alltoallw_init_c (from: send, sent: ns, sent_from: addresses, send_types: kinds, into: receive, received: ns, received_at: addresses, receive_types: kinds, comm: comm, info: info, request: request);
    }
}
