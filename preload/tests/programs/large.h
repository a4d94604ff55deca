/* Included before a program: its collective calls become those for large counts (`_c`), where MPI has them. */

#include <mpi.h>
#include <stdlib.h>

#if MPI_VERSION < 4
#error this MPI has none
#endif

/* Numbers of all ranks as MPI_Count and as MPI_Aint has them; they are of one width here. */
_Static_assert(sizeof(MPI_Count) == sizeof(MPI_Aint), "one list for both");

static inline MPI_Count *large(const int *list, MPI_Comm comm) {
    static MPI_Count *lists[8];
    static int last;
    int size;
    MPI_Comm_size(comm, &size);
    if (!list) return NULL;
    last = (last + 1) % 8; /* four at most are in use */
    lists[last] = realloc(lists[last], size * sizeof(MPI_Count));
    for (int r = 0; r < size; r++) lists[last][r] = list[r];
    return lists[last];
}
#define N(list, comm) large(list, comm)
#define D(list, comm) ((MPI_Aint *)large(list, comm))

/* Datatypes that are made with large counts, of which the functions for others tell nothing. */
#define MPI_Type_contiguous MPI_Type_contiguous_c
#define MPI_Type_vector MPI_Type_vector_c
#define MPI_Type_create_resized MPI_Type_create_resized_c

#define MPI_Bcast MPI_Bcast_c
#define MPI_Gather MPI_Gather_c
#define MPI_Scatter MPI_Scatter_c
#define MPI_Allgather MPI_Allgather_c
#define MPI_Alltoall MPI_Alltoall_c
#define MPI_Reduce MPI_Reduce_c
#define MPI_Allreduce MPI_Allreduce_c
#define MPI_Scan MPI_Scan_c
#define MPI_Exscan MPI_Exscan_c
#define MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
#define MPI_Gatherv(s, n, t, r, ns, ds, u, root, comm) MPI_Gatherv_c(s, n, t, r, N(ns, comm), D(ds, comm), u, root, comm)
#define MPI_Scatterv(s, ns, ds, t, r, n, u, root, comm) MPI_Scatterv_c(s, N(ns, comm), D(ds, comm), t, r, n, u, root, comm)
#define MPI_Allgatherv(s, n, t, r, ns, ds, u, comm) MPI_Allgatherv_c(s, n, t, r, N(ns, comm), D(ds, comm), u, comm)
#define MPI_Alltoallv(s, ns, ds, t, r, ms, es, u, comm) \
    MPI_Alltoallv_c(s, N(ns, comm), D(ds, comm), t, r, N(ms, comm), D(es, comm), u, comm)
#define MPI_Alltoallw(s, ns, ds, ts, r, ms, es, us, comm) \
    MPI_Alltoallw_c(s, N(ns, comm), D(ds, comm), ts, r, N(ms, comm), D(es, comm), us, comm)
#define MPI_Reduce_scatter(s, r, ns, t, op, comm) MPI_Reduce_scatter_c(s, r, N(ns, comm), t, op, comm)
