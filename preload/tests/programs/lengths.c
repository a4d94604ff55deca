/* Blocks of other lengths in every call, and on every rank: all-to-alls, gathers and scatters by all roots, all-gathers and
 * reduce-scatters, whose every byte is looked at. Each rank says "all is well", or how many are wrong.
 *
 * usage: lengths HOW_MANY */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 8
#define LONGEST (97 * 50)

static int rank, size, wrong;
static unsigned char out[MOST * LONGEST], in[MOST * LONGEST];
static int sent[MOST], received[MOST], places[MOST], numbers[MOST * 97], sums[97];

/* Those of one rank are long. */
static int length(int from, int to, int call) {
    return (from == call % size ? 50 : 1) * ((7 * call + 13 * from + 31 * to) % 97);
}

static unsigned char byte(int from, int to, int at, int call) { return 3 * from + 5 * to + 7 * at + call; }

static void fill(int from, int to, int call, unsigned char *block) {
    for (int at = 0; at < length(from, to, call); at++) block[at] = byte(from, to, at, call);
}

static void look(int from, int to, int call, const unsigned char *block) {
    for (int at = 0; at < length(from, to, call); at++) wrong += block[at] != byte(from, to, at, call);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    int many = argc > 1 ? atoi(argv[1]) : 100;
    for (int r = 0; r < size; r++) places[r] = r * LONGEST;
    for (int call = 0; call < many; call++) {
        int root = call % size;
        for (int r = 0; r < size; r++) {
            sent[r] = length(rank, r, call), received[r] = length(r, rank, call);
            fill(rank, r, call, out + places[r]);
        }
        MPI_Alltoallv(out, sent, places, MPI_BYTE, in, received, places, MPI_BYTE, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++) look(r, rank, call, in + places[r]);

        for (int r = 0; r < size; r++) received[r] = length(r, root, call);
        MPI_Gatherv(out + places[root], sent[root], MPI_BYTE, in, received, places, MPI_BYTE, root, MPI_COMM_WORLD);
        for (int r = 0; r < size && rank == root; r++) look(r, root, call, in + places[r]);

        MPI_Scatterv(out, sent, places, MPI_BYTE, in, length(root, rank, call), MPI_BYTE, root, MPI_COMM_WORLD);
        look(root, rank, call, in);

        for (int r = 0; r < size; r++) received[r] = length(r, 0, call);
        MPI_Allgatherv(out, sent[0], MPI_BYTE, in, received, places, MPI_BYTE, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++) look(r, 0, call, in + places[r]);

        int all = 0, before = 0;
        for (int r = 0; r < size; r++) {
            received[r] = (call + 17 * r) % 97;
            before += r < rank ? received[r] : 0, all += received[r];
        }
        for (int at = 0; at < all; at++) numbers[at] = rank + at * call;
        MPI_Reduce_scatter(numbers, sums, received, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int at = 0; at < received[rank]; at++)
            wrong += sums[at] != size * (size - 1) / 2 + size * (before + at) * call;
    }
    if (wrong) printf("rank %d: %d are wrong\n", rank, wrong);
    else printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong != 0;
}
