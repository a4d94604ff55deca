/* Reductions that send and receive into the same memory, where this MPI takes that: what comes of them is what comes of memory apart. Each rank
 * says "all is well", or what is wrong. With an argument, also those that Open MPI takes only where it does not look at arguments. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 64 };

static int rank, size, wrong;
static MPI_Comm comm = MPI_COMM_WORLD;
static long sent[ROOM], both[ROOM], expected[ROOM];

static void check(int code, int line) {
    if (code != MPI_SUCCESS || memcmp(both, expected, sizeof both)) printf("rank %d: wrong, line %d\n", rank, line), wrong = 1;
}

/* A call by PMPI_ with memory apart, and a blocking one and a nonblocking one with S and R at one place. */
#define SAME(NAME, INAME, ...)                                                                                       \
    do {                                                                                                             \
        MPI_Request request;                                                                                         \
        long *S = sent, *R = expected;                                                                               \
        for (int i = 0; i < ROOM; i++) sent[i] = expected[i] = 100 * rank + i + __LINE__;                            \
        PMPI_##NAME(__VA_ARGS__, comm);                                                                              \
        S = R = both;                                                                                                \
        for (int again = 0; again < 3; again++) {                                                                    \
            memcpy(both, sent, sizeof both);                                                                         \
            check(MPI_##NAME(__VA_ARGS__, comm), __LINE__);                                                          \
        }                                                                                                            \
        memcpy(both, sent, sizeof both);                                                                             \
        MPI_##INAME(__VA_ARGS__, comm, &request);                                                                    \
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), __LINE__);                                                      \
    } while (0)

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    int counts[ROOM];
    for (int r = 0; r < size; r++) counts[r] = r % 3;
    for (int count = 1; count < 8; count += 5) {
        if (count == 1 || argc > 1) SAME(Allreduce, Iallreduce, S, R, count, MPI_LONG, MPI_SUM);
        for (int root = 0; argc > 1 && root < size; root++) SAME(Reduce, Ireduce, S, R, count, MPI_LONG, MPI_SUM, root);
        SAME(Scan, Iscan, S, R, count, MPI_LONG, MPI_SUM);
        SAME(Exscan, Iexscan, S, R, count, MPI_LONG, MPI_SUM);
        SAME(Reduce_scatter_block, Ireduce_scatter_block, S, R, count, MPI_LONG, MPI_SUM);
        SAME(Reduce_scatter, Ireduce_scatter, S, R, counts, MPI_LONG, MPI_SUM);
    }
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
