/* Blocks at absolute addresses, which rank 0 passes as displacements from MPI_BOTTOM, and the others from their buffers. Each rank says "all is well", or
 * what is wrong. (To be linked where addresses fit into C's int.) */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { RANKS = 8 };
static int rank, size, wrong, sent[RANKS], received[RANKS];

/* What comes from rank r is `first` and r times `step` more. */
static void check(const char *name, int first, int step) {
    for (int r = 0; r < size; r++)
        if (received[r] != first + r * step) printf("rank %d: wrong: %s\n", rank, name), wrong = 1;
    for (int r = 0; r < size; r++) received[r] = -1;
}

int main(int argc, char **argv) {
    int ones[RANKS], from[RANKS], into[RANKS], from_bytes[RANKS], into_bytes[RANKS];
    MPI_Datatype ints[RANKS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *s = rank ? sent : MPI_BOTTOM, *r = rank ? received : MPI_BOTTOM;
    for (int i = 0; i < size; i++) {
        sent[i] = 100 * rank + i, received[i] = -1, ones[i] = 1, ints[i] = MPI_INT;
        from_bytes[i] = i * sizeof(int) + (rank ? 0 : (int)(intptr_t)sent), from[i] = from_bytes[i] / (int)sizeof(int);
        into_bytes[i] = i * sizeof(int) + (rank ? 0 : (int)(intptr_t)received), into[i] = into_bytes[i] / (int)sizeof(int);
    }
    MPI_Alltoallv(sent, ones, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, MPI_INT, r, ones, into, MPI_INT, MPI_COMM_WORLD);
    check("alltoallv into absolute addresses", rank, 100);
    MPI_Alltoallv(s, ones, from, MPI_INT, received, ones, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, MPI_INT, MPI_COMM_WORLD);
    check("alltoallv from absolute addresses", rank, 100);
    MPI_Alltoallw(s, ones, from_bytes, ints, received, ones, (int[]){0, 4, 8, 12, 16, 20, 24, 28}, ints, MPI_COMM_WORLD);
    check("alltoallw from absolute addresses", rank, 100);
    MPI_Allgatherv(sent, 1, MPI_INT, r, ones, into, MPI_INT, MPI_COMM_WORLD);
    check("allgatherv into absolute addresses", 0, 100);
    MPI_Scatterv(s, ones, from, MPI_INT, received + size - 1, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (received[size - 1] != rank) printf("rank %d: wrong: scatterv from absolute addresses\n", rank), wrong = 1;
    MPI_Gatherv(sent, 1, MPI_INT, r, ones, into, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) check("gatherv into absolute addresses", 0, 100);
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
