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
            pass(&Native { kind: Kind::$kind, how: How::Waits, call: &|| ffi::$native($($p),*) }, $why)
        }
    )*};
}

mod ints {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

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

#[cfg(persistent)]
mod persistent {
    use super::*;
    type Count = c_int;
    type Displacement = c_int;

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
    NeighborAllgather: MPI_Neighbor_allgather_init_c PMPI_Neighbor_allgather_init_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAllgatherv: MPI_Neighbor_allgatherv_init_c PMPI_Neighbor_allgatherv_init_c (from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoall: MPI_Neighbor_alltoall_init_c PMPI_Neighbor_alltoall_init_c (from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoallv: MPI_Neighbor_alltoallv_init_c PMPI_Neighbor_alltoallv_init_c (from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds, receive_type: kind, comm: comm, info: info, request: request);
    NeighborAlltoallw: MPI_Neighbor_alltoallw_init_c PMPI_Neighbor_alltoallw_init_c (from: send, sent: ns, sent_from: addresses, send_types: kinds, into: receive, received: ns, received_at: addresses, receive_types: kinds, comm: comm, info: info, request: request);
    }
}
