/* Blocks of other lengths in every call, and on every rank: all-to-alls, also in place and nonblocking, gathers and scatters by all roots,
 * all-gathers, also in place, and reduce-scatters, whose every byte is looked at. Each rank says "all is well", or how many are wrong.
 *
 * usage: lengths HOW_MANY */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, LONGEST = 97 * 50, ROOM = LONGEST + 1, UNTOUCHED = 0xa5 };

static int rank, size, call, kind;
static long wrong;
static unsigned char out[MOST * ROOM], in[MOST * ROOM];
static int sent[MOST], received[MOST], places[MOST], numbers[MOST * 97], sums[97 + 1];

/* Those of one rank are long. */
static int length(int from, int to) { return (from == call % size ? 50 : 1) * ((7 * call + 13 * from + 31 * to) % 97); }

/* The same both ways. */
static int length_of_pair(int one, int other) { return (call + 5 * (one + other)) % 97; }

static unsigned char byte(int from, int to, int at) { return 3 * from + 5 * to + 7 * at + call + 11 * kind; }

static void fill(int from, int to, int len, unsigned char *block) {
    for (int at = 0; at < len; at++) block[at] = byte(from, to, at);
}

/* Nothing of the call before is there any more. */
static void begin(void) { kind++, memset(in, UNTOUCHED, sizeof in); }

static void look(int from, int to, int len, const unsigned char *block) {
    for (int at = 0; at < len; at++) wrong += block[at] != byte(from, to, at);
    wrong += block[len] != UNTOUCHED;
}

static void fill_all(void) {
    begin();
    for (int r = 0; r < size; r++) {
        sent[r] = length(rank, r), received[r] = length(r, rank);
        fill(rank, r, sent[r], out + places[r]);
    }
}

static void exchange(int waits) {
    MPI_Request request;
    fill_all();
    if (waits) {
        MPI_Alltoallv(out, sent, places, MPI_BYTE, in, received, places, MPI_BYTE, MPI_COMM_WORLD);
    } else {
        MPI_Ialltoallv(out, sent, places, MPI_BYTE, in, received, places, MPI_BYTE, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int r = 0; r < size; r++) look(r, rank, received[r], in + places[r]);
}

static void exchange_in_place(void) {
    begin();
    for (int r = 0; r < size; r++) received[r] = length_of_pair(rank, r), fill(rank, r, received[r], in + places[r]);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_BYTE, in, received, places, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) look(r, rank, received[r], in + places[r]);
}

static void gather(int root) {
    fill_all();
    for (int r = 0; r < size; r++) received[r] = length(r, root);
    MPI_Gatherv(out + places[root], sent[root], MPI_BYTE, in, received, places, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int r = 0; r < size && rank == root; r++) look(r, root, received[r], in + places[r]);
}

static void scatter(int root) {
    fill_all();
    MPI_Scatterv(out, sent, places, MPI_BYTE, in, length(root, rank), MPI_BYTE, root, MPI_COMM_WORLD);
    look(root, rank, length(root, rank), in);
}

static void all_gather(int in_place) {
    fill_all();
    for (int r = 0; r < size; r++) received[r] = length(r, 0);
    if (in_place) memcpy(in + places[rank], out, sent[0]);
    MPI_Allgatherv(in_place ? MPI_IN_PLACE : out, sent[0], MPI_BYTE, in, received, places, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) look(r, 0, received[r], in + places[r]);
}

static void reduce_scatter(void) {
    int all = 0, before = 0;
    for (int r = 0; r < size; r++) {
        received[r] = (call + 17 * r) % 97;
        before += r < rank ? received[r] : 0, all += received[r];
    }
    for (int at = 0; at < all; at++) numbers[at] = rank + at * call;
    memset(sums, -1, sizeof sums);
    MPI_Reduce_scatter(numbers, sums, received, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int at = 0; at < received[rank]; at++) wrong += sums[at] != size * (size - 1) / 2 + size * (before + at) * call;
    wrong += sums[received[rank]] != -1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    int many = argc > 1 ? atoi(argv[1]) : 100;
    for (int r = 0; r < size; r++) places[r] = r * ROOM;
    for (call = 0; call < many; call++) {
        exchange(1), exchange(0), exchange_in_place();
        gather(call % size), scatter(call % size);
        all_gather(0), all_gather(1), reduce_scatter();
    }
    if (wrong) printf("rank %d: %ld are wrong\n", rank, wrong);
    else printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong != 0;
}
