/* Spawns as many ranks again, which nothing need be loaded before, and has collectives of all of them together. */

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MPI_Comm parent, between, all;
    int ranks, rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_get_parent(&parent);
    int is_parent = parent == MPI_COMM_NULL;
    if (is_parent) MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, ranks, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    else between = parent;
    MPI_Intercomm_merge(between, !is_parent, &all);
    MPI_Comm_rank(all, &rank);
    for (int call = 0; call < 30; call++) {
        int sum = 0, own = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
        wrong |= sum != ranks * (2 * ranks - 1);
        /* Those of one job alone are like any other. */
        MPI_Allreduce(&call, &own, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong |= own != call * ranks;
    }
    if (is_parent) printf("rank %d: %s\n", rank, wrong ? "wrong sums" : "all is well");
    fflush(stdout);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    MPI_Finalize();
    return wrong;
}
