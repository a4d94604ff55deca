/* Short calls that come again and again, and others between them that differ in little: counts, roots, operations, datatypes, buffers in
 * place, communicators that go and others that come in their place. Each result is compared with what it has to be. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, wrong;

static void check(int right, const char *what, int turn) {
    if (!right && wrong++ < 5) printf("rank %d: %s is wrong in turn %d\n", rank, what, turn);
}

static void turn(MPI_Comm comm, int t) {
    double reals[3] = {rank + t, 2 * t, 0.5}, sums[3] = {-1, -1, -1};
    int numbers[2] = {rank - t, rank * t}, most[2];
    double ranks = size * (size - 1) / 2.0;
    int count = 1 + t % 2;
    MPI_Allreduce(reals, sums, count, MPI_DOUBLE, MPI_SUM, comm);
    check(sums[0] == ranks + size * t && sums[1] == (count > 1 ? 2.0 * size * t : -1) && sums[2] == -1, "a sum", t);
    MPI_Allreduce(numbers, most, 2, MPI_INT, MPI_MAX, comm);
    check(most[0] == size - 1 - t && most[1] == (size - 1) * t, "a maximum", t);
    MPI_Allreduce(numbers, most, 2, MPI_INT, MPI_SUM, comm);
    check(most[0] == (int)ranks - size * t && most[1] == (int)ranks * t, "a sum of integers", t);
    if (t % 3 == 0) {
        MPI_Allreduce(MPI_IN_PLACE, reals, 1, MPI_DOUBLE, MPI_SUM, comm);
        check(reals[0] == ranks + size * t && reals[1] == 2 * t, "a sum in place", t);
    }
    int root = t / 4 % size, said[2] = {rank == root ? 7 * t : -1, -2};
    MPI_Bcast(said, 1, MPI_INT, root, comm);
    check(said[0] == 7 * t && said[1] == -2, "a broadcast", t);
    /* The same calls with nothing between them. */
    for (int again = 0; again < 3; again++) {
        said[0] = rank == root ? 9 * t + again : -1;
        MPI_Bcast(said, 1, MPI_INT, root, comm);
        check(said[0] == 9 * t + again && said[1] == -2, "a broadcast once more", t);
    }
    for (int again = 0; again < 3; again++) {
        numbers[0] = rank - t + again;
        MPI_Allreduce(numbers, most, 2, MPI_INT, MPI_MAX, comm);
        check(most[0] == size - 1 - t + again && most[1] == (size - 1) * t, "a maximum once more", t);
    }
    numbers[0] = rank - t;
    MPI_Barrier(comm);
    MPI_Barrier(comm);
    most[0] = most[1] = -3;
    MPI_Reduce(numbers, most, 1, MPI_INT, MPI_MIN, root, comm);
    check(most[0] == (rank == root ? -t : -3) && most[1] == -3, "a reduction", t);
    most[0] = rank;
    MPI_Reduce(rank == root ? MPI_IN_PLACE : most, rank == root ? most : NULL, 1, MPI_INT, MPI_SUM, root, comm);
    check(most[0] == (rank == root ? (int)ranks : rank), "a reduction in place", t);
    MPI_Scan(&rank, most, 1, MPI_INT, MPI_SUM, comm);
    check(most[0] == rank * (rank + 1) / 2, "a prefix sum", t);
    MPI_Exscan(&rank, most, 1, MPI_INT, MPI_SUM, comm);
    check(!rank || most[0] == rank * (rank - 1) / 2, "a prefix sum without its own", t);
    MPI_Request requests[4];
    int blocks[32], sent[32];
    for (int r = 0; r < size; r++) sent[r] = 100 * rank + r + t, blocks[r] = -1;
    said[0] = rank == root ? 8 * t : -1, most[0] = most[1] = -4;
    MPI_Ibcast(said, 1, MPI_INT, root, comm, &requests[0]);
    MPI_Iallreduce(numbers, most, count, MPI_INT, MPI_MAX, comm, &requests[1]);
    MPI_Ialltoall(sent, 1, MPI_INT, blocks, 1, MPI_INT, comm, &requests[2]);
    MPI_Ibarrier(comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    check(said[0] == 8 * t && said[1] == -2, "a broadcast that is started", t);
    check(most[0] == size - 1 - t && most[1] == (count > 1 ? (size - 1) * t : -4), "a maximum that is started", t);
    int right = 1;
    for (int r = 0; r < size; r++) right &= blocks[r] == 100 * r + rank + t;
    check(right, "an exchange that is started", t);
    MPI_Barrier(comm);
}

/* Calls with a block for every rank, which may have another datatype where it is received. */
static void blocks(MPI_Comm comm, int t) {
    enum { MOST = 16 };
    int own[2 * MOST], all[2 * MOST + 1], root = t / 4 % size, count = 1 + t % 2, right = 1;
    MPI_Datatype pair = count == 2 && t % 3 ? MPI_2INT : MPI_INT;
    int pairs = pair == MPI_INT ? count : 1, is_root = rank == root;
    for (int i = 0; i < 2 * size; i++) own[i] = 1000 * rank + 10 * t + i;
#define FRESH memset(all, -1, sizeof all)
#define BLOCK(from, at) (all[(from) * count] == (at) && all[(from) * count + count - 1] == (at) + count - 1)
    FRESH;
    MPI_Gather(own, count, MPI_INT, all, is_root ? pairs : t, is_root ? pair : MPI_DATATYPE_NULL, root, comm);
    for (int i = 0; i < size; i++) right &= is_root ? BLOCK(i, 1000 * i + 10 * t) : all[i] == -1;
    check(right && all[size * count] == -1, "a gather", t);
    FRESH;
    if (is_root) memcpy(all + rank * count, own, count * sizeof(int));
    MPI_Gather(is_root ? MPI_IN_PLACE : own, count, MPI_INT, all, count, MPI_INT, root, comm);
    for (int i = 0; i < size; i++) right &= is_root ? BLOCK(i, 1000 * i + 10 * t) : all[i] == -1;
    check(right && all[size * count] == -1, "a gather in place", t);
    FRESH;
    MPI_Scatter(own, count, MPI_INT, all, pairs, pair, root, comm);
    check(BLOCK(0, 1000 * root + 10 * t + rank * count) && all[count] == -1, "a scatter", t);
    FRESH;
    MPI_Scatter(own, count, MPI_INT, is_root ? MPI_IN_PLACE : all, pairs, pair, root, comm);
    check(is_root ? all[0] == -1 : BLOCK(0, 1000 * root + 10 * t + rank * count), "a scatter in place", t);
    FRESH;
    MPI_Allgather(own, count, MPI_INT, all, pairs, pair, comm);
    for (int i = 0; i < size; i++) right &= BLOCK(i, 1000 * i + 10 * t);
    check(right && all[size * count] == -1, "an all-gather", t);
    FRESH;
    memcpy(all + rank * count, own, count * sizeof(int));
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, comm);
    for (int i = 0; i < size; i++) right &= BLOCK(i, 1000 * i + 10 * t);
    check(right && all[size * count] == -1, "an all-gather in place", t);
    FRESH;
    MPI_Alltoall(own, count, MPI_INT, all, pairs, pair, comm);
    for (int i = 0; i < size; i++) right &= BLOCK(i, 1000 * i + 10 * t + rank * count);
    check(right && all[size * count] == -1, "an all-to-all", t);
    memcpy(all, own, sizeof own);
    MPI_Alltoall(MPI_IN_PLACE, count, MPI_INT, all, count, MPI_INT, comm);
    for (int i = 0; i < size; i++) right &= BLOCK(i, 1000 * i + 10 * t + rank * count);
    check(right, "an all-to-all in place", t);
    FRESH;
    MPI_Datatype made; /* another one every time, under what may be the same handle */
    MPI_Type_contiguous(count, MPI_INT, &made), MPI_Type_commit(&made);
    MPI_Alltoall(own, 1, made, all, count, MPI_INT, comm);
    MPI_Type_free(&made);
    for (int i = 0; i < size; i++) right &= BLOCK(i, 1000 * i + 10 * t + rank * count);
    check(right && all[size * count] == -1, "an all-to-all of a type of its own", t);
    FRESH;
    int counts[MOST], before = 0;
    for (int i = 0; i < size; i++) counts[i] = t % 4 ? count : i % 3, before += i < rank ? counts[i] : 0;
    MPI_Reduce_scatter(own, all, counts, MPI_INT, MPI_MAX, comm);
    for (int i = 0; i < counts[rank]; i++) right &= all[i] == 1000 * (size - 1) + 10 * t + before + i;
    check(right && all[counts[rank]] == -1, "a reduction of blocks", t);
    FRESH;
    MPI_Reduce_scatter_block(own, all, count, MPI_INT, t % 5 ? MPI_MAX : MPI_MIN, comm);
    check(BLOCK(0, 1000 * (t % 5 ? size - 1 : 0) + 10 * t + rank * count) && all[count] == -1, "a reduction of equal blocks", t);
}

/* Calls with lists, of which ranks that are no root have none. */
static void lists(MPI_Comm comm, int t) {
    enum { MOST = 16 };
    int own[4 * MOST], all[4 * MOST], counts[MOST], places[MOST], root = t / 4 % size, is_root = rank == root, right = 1;
    for (int r = 0; r < size; r++) counts[r] = (t + r + rank) % 4, places[r] = 4 * r;
    for (int i = 0; i < 4 * size; i++) own[i] = 1000 * rank + 10 * t + i, all[i] = -1;
    int mine = (t + root + rank) % 4; /* what the root has for this rank, and this rank for the root */
    MPI_Gatherv(own, mine, MPI_INT, is_root ? all : NULL, is_root ? counts : NULL, is_root ? places : NULL,
        is_root ? MPI_INT : MPI_DATATYPE_NULL, root, comm);
    for (int i = 0; i < 4 * size; i++)
        right &= all[i] == (is_root && i % 4 < counts[i / 4] ? 1000 * (i / 4) + 10 * t + i % 4 : -1);
    check(right, "a gather of lengths", t);
    memset(all, -1, sizeof all);
    MPI_Scatterv(is_root ? own : NULL, is_root ? counts : NULL, is_root ? places : NULL, is_root ? MPI_INT : MPI_DATATYPE_NULL,
        all, mine, MPI_INT, root, comm);
    for (int i = 0; i < 4; i++) right &= all[i] == (i < mine ? 1000 * root + 10 * t + 4 * rank + i : -1);
    check(right, "a scatter of lengths", t);
    memset(all, -1, sizeof all);
    MPI_Alltoallv(own, counts, places, MPI_INT, all, counts, places, MPI_INT, comm);
    for (int i = 0; i < 4 * size; i++)
        right &= all[i] == (i % 4 < counts[i / 4] ? 1000 * (i / 4) + 10 * t + 4 * rank + i % 4 : -1);
    check(right, "an all-to-all of lengths", t);
    memcpy(all, own, sizeof own);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, comm);
    for (int i = 0; i < 4 * size; i++)
        right &= all[i] == (i % 4 < counts[i / 4] ? 1000 * (i / 4) + 10 * t + 4 * rank + i % 4 : own[i]);
    check(right, "an all-to-all of lengths in place", t);
    memset(all, -1, sizeof all);
    for (int r = 0; r < size; r++) counts[r] = (t / 3 + r) % (t % 16 < 12 ? 4 : 2);
    MPI_Allgatherv(own, counts[rank], MPI_INT, all, counts, places, MPI_INT, comm);
    for (int i = 0; i < 4 * size; i++) right &= all[i] == (i % 4 < counts[i / 4] ? 1000 * (i / 4) + 10 * t + i % 4 : -1);
    check(right, "an all-gather of lengths", t);
    memset(all, -1, sizeof all);
    MPI_Reduce_scatter(own, all, counts, MPI_INT, MPI_MAX, comm);
    int before = 0;
    for (int r = 0; r < rank; r++) before += counts[r];
    for (int i = 0; i < 4; i++) right &= all[i] == (i < counts[rank] ? 1000 * (size - 1) + 10 * t + before + i : -1);
    check(right, "a reduction of lengths", t);
}

/* More of them than can be remembered, of which some come in the places of others; and enough for the machine to be measured. */
static void many(MPI_Comm comm, int t) {
    int count = 1 + t * 37 % 300, root = t % size;
    double ranks = size * (size - 1) / 2.0, own[301], sums[301], said[301];
    for (int i = 0; i < 301; i++) own[i] = rank + i + t, sums[i] = -1, said[i] = rank == root ? 3 * t + i : -2;
    MPI_Allreduce(own, sums, count, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Bcast(said, count, MPI_DOUBLE, root, comm);
    int right = sums[count] == -1 && (rank == root || said[count] == -2);
    for (int i = 0; i < count; i++) right &= sums[i] == ranks + size * (double)(i + t) && said[i] == 3 * t + i;
    check(right, "one of many", t);
}

/* Calls that are known but for their buffers, a count or a root, which make no sense: what comes of them is what comes of them natively. */
#define WRONG(call)                                                                                                  \
    do {                                                                                                             \
        int classes[2];                                                                                              \
        memcpy(most, numbers, sizeof most);                                                                          \
        MPI_Error_class(MPI_##call, &classes[0]), MPI_Error_class(PMPI_##call, &classes[1]);                         \
        check(classes[0] == classes[1] && most[0] == numbers[0] && all[0] == -1, #call, t);                                          \
    } while (0)

static void mistakes(MPI_Comm comm, int t) {
    int numbers[2] = {rank - t, rank * t}, most[2];
    int all[16] = {-1};
    WRONG(Allgather(MPI_IN_PLACE, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
    WRONG(Allgather(most, 1, MPI_INT, all, -1, MPI_INT, comm));
    WRONG(Gather(most, 1, MPI_INT, all, 1, MPI_INT, size, comm));
    int counts[16];
    for (int r = 0; r < size; r++) counts[r] = r < size - 1 ? 1 : -1;
    WRONG(Reduce_scatter(most, all, counts, MPI_INT, MPI_MAX, comm));
    WRONG(Allreduce(most, MPI_IN_PLACE, 2, MPI_INT, MPI_MAX, comm));
    WRONG(Scan(most, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
#ifdef OPEN_MPI /* some MPIs do not look at all of it */
    WRONG(Bcast(MPI_IN_PLACE, 1, MPI_INT, t % size, comm));
#else
    WRONG(Bcast(NULL, 1, MPI_INT, t % size, comm));
    WRONG(Allreduce(NULL, most, 2, MPI_INT, MPI_MAX, comm));
    WRONG(Allreduce(most, NULL, 2, MPI_INT, MPI_MAX, comm));
    WRONG(Allreduce(most, most, 2, MPI_INT, MPI_MAX, comm));
    WRONG(Scan(most, most, 1, MPI_INT, MPI_SUM, comm));
    WRONG(Allgather(all + rank, 1, MPI_INT, all, 1, MPI_INT, comm));
    WRONG(Alltoall(all, 1, MPI_INT, all, 1, MPI_INT, comm));
    WRONG(Exscan(most, most, 1, MPI_INT, MPI_SUM, comm));
#endif
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* those of its parts have it, too */
    for (int round = 0; round < 4; round++) {
        MPI_Comm comm;
        /* Ranks in another order every time, under what may be the same handle. */
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? -rank : rank, &comm);
        MPI_Comm_rank(comm, &rank);
        for (int t = 0; t < 150; t++) turn(comm, t), blocks(comm, t), lists(comm, t);
        for (int t = 0; t < 3800; t++) many(comm, t);
        for (int t = 0; t < 2 * size; t++) turn(comm, t), blocks(comm, t), lists(comm, t), mistakes(comm, t);
        MPI_Comm_free(&comm);
    }
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return 0;
}
