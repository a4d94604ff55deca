//! Functions that make communicators: see [`communicator::is_made`].

use super::*;
use ffi::{MPI_Group, MPI_Info};

macro_rules! makes {
    ($($(#[$where:meta])* $name:ident $native:ident ($($p:ident: $type:ty),*);)*) => {$(
        $(#[$where])*
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($p: $type,)* made: *mut MPI_Comm) -> c_int {
            let code = ffi::$native($($p,)* made);
            if code == SUCCESS {
                communicator::is_made(*made);
            }
            code
        }
    )*};
}

makes! {
    MPI_Comm_dup PMPI_Comm_dup (comm: MPI_Comm);
    MPI_Comm_dup_with_info PMPI_Comm_dup_with_info (comm: MPI_Comm, info: MPI_Info);
    MPI_Comm_create PMPI_Comm_create (comm: MPI_Comm, group: MPI_Group);
    MPI_Comm_create_group PMPI_Comm_create_group (comm: MPI_Comm, group: MPI_Group, tag: c_int);
    #[cfg(sessions)]
    MPI_Comm_create_from_group PMPI_Comm_create_from_group (
        group: MPI_Group, tag: *const c_char, info: MPI_Info, handler: ffi::MPI_Errhandler);
    MPI_Comm_split PMPI_Comm_split (comm: MPI_Comm, color: c_int, key: c_int);
    MPI_Comm_split_type PMPI_Comm_split_type (comm: MPI_Comm, kind: c_int, key: c_int, info: MPI_Info);
    MPI_Intercomm_merge PMPI_Intercomm_merge (comm: MPI_Comm, high: c_int);
    MPI_Cart_create PMPI_Cart_create (comm: MPI_Comm, dimensions: c_int, sizes: *const c_int, rings: *const c_int, reorder: c_int);
    MPI_Cart_sub PMPI_Cart_sub (comm: MPI_Comm, remain: *const c_int);
    MPI_Graph_create PMPI_Graph_create (comm: MPI_Comm, nodes: c_int, index: *const c_int, edges: *const c_int, reorder: c_int);
    MPI_Dist_graph_create PMPI_Dist_graph_create (
        comm: MPI_Comm, n: c_int, sources: *const c_int, degrees: *const c_int, destinations: *const c_int,
        weights: *const c_int, info: MPI_Info, reorder: c_int);
    MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent (
        comm: MPI_Comm, in_degree: c_int, sources: *const c_int, source_weights: *const c_int, out_degree: c_int,
        destinations: *const c_int, destination_weights: *const c_int, info: MPI_Info, reorder: c_int);
}
