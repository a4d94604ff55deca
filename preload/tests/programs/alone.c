/* Calls that rank 0 alone makes, and MPI refuses, among calls of all ranks: those are made as if there were none. Each rank says "all is well", or
 * what is wrong.
 *
 * usage: alone [long]      with an argument, there are as many as it takes until it has been tried out who makes calls */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, wrong;
static int numbers[20000], all[40000];

static void refused(int code) {
    if (code == MPI_SUCCESS) printf("rank %d: wrong: a call that makes no sense\n", rank), wrong = 1;
}

static void made(int code) {
    if (code != MPI_SUCCESS) printf("rank %d: wrong: a call that is not made\n", rank), wrong = 1;
}

/* A sum of all ranks. */
static void together(MPI_Comm comm) {
    int mine = rank + 1, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size * (size + 1) / 2) printf("rank %d: wrong: a sum\n", rank), wrong = 1;
}

static void few(MPI_Comm comm) {
    int *ones = malloc(2 * size * sizeof(int)), *places = ones + size;
    for (int r = 0; r < size; r++) ones[r] = 1, places[r] = r;
    if (rank == 0) {
        refused(MPI_Bcast(numbers, 1, MPI_INT, -1, comm));
        refused(MPI_Reduce(numbers, all, 1, MPI_INT, MPI_SUM, size, comm));
        refused(MPI_Gather(numbers, 1, MPI_INT, all, 1, MPI_INT, -7, comm));
        refused(MPI_Allgatherv(numbers, -1, MPI_INT, all, ones, places, MPI_INT, comm));
#ifdef OPEN_MPI
        MPI_Request request;
        refused(MPI_Ibcast(numbers, -1, MPI_INT, 0, comm, &request));
#else /* which looks for memory that is sent and received into at once */
        refused(MPI_Reduce(all, all, 1, MPI_INT, MPI_SUM, 0, comm));
        refused(MPI_Gatherv(all, 1, MPI_INT, all, ones, places, MPI_INT, 0, comm));
        refused(MPI_Scatter(all, 1, MPI_INT, all, 1, MPI_INT, 0, comm));
#endif
    }
    for (int call = 0; call < 40; call++) together(comm);
    free(ones);
}

/* Of a length, so many that it stands who makes them, and again is seen to: for which time it stands is the same on all ranks. */
static void many(int count) {
    for (int call = 0; call < 3000; call++) {
        if (call == 300 && rank == 0)
            for (int root = -1; root > -4000; root--) refused(MPI_Bcast(numbers, count, MPI_INT, root, MPI_COMM_WORLD));
        MPI_Bcast(numbers, count, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

/* The same of calls with blocks, and with lists of counts that differ from call to call. */
static void blocks(void) {
    int *counts = malloc(3 * size * sizeof(int)), *places = counts + size, *none = places + size;
    for (int r = 0; r < size; r++) places[r] = 8 * r, none[r] = -(r == size - 1);
    for (int call = 0; call < 3000; call++) {
        int other = call == 300 && rank == 0 ? 4000 : 0;
        for (int r = 0; r < size; r++) counts[r] = 1 + (call + r + rank) % 7;
        while (other--) {
            refused(MPI_Alltoallv(numbers, counts, places, MPI_INT, all, none, places, MPI_INT, MPI_COMM_WORLD));
            refused(MPI_Gatherv(numbers, -1, MPI_INT, all, counts, places, MPI_INT, size - 1, MPI_COMM_WORLD));
            refused(MPI_Scatterv(numbers, none, places, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
            refused(MPI_Alltoall(numbers, -1, MPI_INT, all, -1, MPI_INT, MPI_COMM_WORLD));
            refused(MPI_Gather(numbers, 1, MPI_INT, all, 1, MPI_INT, size + other, MPI_COMM_WORLD));
        }
        made(MPI_Alltoallv(numbers, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD));
        made(MPI_Gatherv(numbers, counts[size - 1], MPI_INT, all, counts, places, MPI_INT, size - 1, MPI_COMM_WORLD));
        made(MPI_Scatterv(numbers, counts, places, MPI_INT, all, counts[0], MPI_INT, 0, MPI_COMM_WORLD));
        made(MPI_Alltoall(numbers, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
        made(MPI_Gather(numbers, 1, MPI_INT, all, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
    }
    free(counts);
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 1) {
        /* Nothing stands before the machine has been measured. */
        for (int call = 0; call < 8200; call++) MPI_Barrier(MPI_COMM_WORLD);
        many(1), many(1000), many(10000), blocks();
    } else {
        few(MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        few(comm);
        MPI_Comm_free(&comm);
    }
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
