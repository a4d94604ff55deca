/* Communicators that are duplicated, used and freed one after another, as libraries do; some are left to MPI_Finalize.
 *
 * usage: many HOW_MANY     says by how many kB the memory of a rank grew after the first tenth, and what one took */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) exit(2);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int many = argc > 1 ? atoi(argv[1]) : 1000, rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long before = 0;
    double start = MPI_Wtime();
    for (int i = 0; i < many; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        double sum = 0, one = i;
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        if (sum != (double)i * size) {
            fprintf(stderr, "the sum is %g\n", sum);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        MPI_Comm_free(&comm);
        if (i == many / 10) before = resident();
    }
    double took = MPI_Wtime() - start;
    long grown = resident() - before;
    for (int i = 0; i < 5; i++) {
        MPI_Comm left;
        MPI_Comm_dup(MPI_COMM_WORLD, &left);
        MPI_Barrier(left);
    }
    printf("rank %d grew by %ld kB, %.1f us each\n", rank, grown, took / many * 1e6);
    MPI_Finalize();
    return 0;
}
