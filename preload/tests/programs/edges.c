/* Memory to its edges: buffers that end at a page that nobody may touch, or begin behind one, gaps of the last element included; send
 * buffers that nobody may write; numbers at addresses that are not aligned. Each call is made by MPI_ and by PMPI_ functions. Each rank
 * says "all is well", or what is wrong. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
static int rank, size, wrong;
static const MPI_Comm comm = MPI_COMM_WORLD;

static void check(int right, const char *what, int kind, int count) {
    if (!right) printf("rank %d: wrong: %s, %d of type %d\n", rank, what, count, kind), fflush(stdout), wrong = 1;
}

/* So many bytes, at an edge: the last one, or the first, is next to it. */
struct area { char *pages, *at; size_t length; };
static struct area area(size_t bytes, int last) {
    struct area a = {.length = (bytes + PAGE - 1) / PAGE * PAGE + 2 * PAGE};
    a.pages = mmap(NULL, a.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a.pages == MAP_FAILED) MPI_Abort(comm, 1);
    mprotect(a.pages + PAGE, a.length - 2 * PAGE, PROT_READ | PROT_WRITE);
    a.at = last ? a.pages + a.length - PAGE - bytes : a.pages + PAGE;
    return a;
}
static void seal(struct area a) { mprotect(a.pages + PAGE, a.length - 2 * PAGE, PROT_READ); }
static void release(struct area a) { munmap(a.pages, a.length); }

/* Does not commute: x -> a x + b after another such, of 16 bits each. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
    MPI_Aint low, extent;
    MPI_Type_get_extent(*type, &low, &extent);
    for (int i = 0; i < *n; i++) {
        unsigned *x = (unsigned *)((char *)in + i * extent), *y = (unsigned *)((char *)inout + i * extent);
        unsigned a = *x >> 16, b = *x & 65535, a2 = *y >> 16, b2 = *y & 65535;
        *y = (a * a2 & 65535) << 16 | ((a2 * b + b2) & 65535);
    }
}

static struct { MPI_Datatype type; size_t extent, within; } kinds[4];
static size_t bytes(int kind, int count) { return count ? (count - 1) * kinds[kind].extent + kinds[kind].within : 0; }

enum { BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, SCATTER, SCATTERV, REDUCE_SCATTER_BLOCK, GATHER, GATHERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, CALLS };

#ifndef OPEN_MPI
/* MPICH's own broadcast, and Intel's, may write to where the root's data is: here it is a copy. And Intel's has been seen to give some of
 * five ranks data of an earlier call: this one is nonblocking, which has not. */
static void other_bcast(char *buffer, int count, int kind, int root) {
    MPI_Request request;
    char *copy = malloc(bytes(kind, count) + 1);
    if (rank == root) memcpy(copy, buffer, bytes(kind, count));
    PMPI_Ibcast(rank == root ? copy : buffer, count, kinds[kind].type, root, comm, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    free(copy);
}
#define PMPI_Bcast(buffer, count, type, root, comm) other_bcast(buffer, count, kind, root)
#endif

static void call(int what, int is_native, char *s, char *r, int kind, int count, int root, MPI_Op op) {
    MPI_Datatype type = kinds[kind].type, types[16];
    int counts[16], places[16], offsets[16];
    for (int i = 0; i < size; i++) counts[i] = count, places[i] = i * count, offsets[i] = places[i] * (int)kinds[kind].extent, types[i] = type;
    char *of_root = rank == root ? r : NULL, *by_root = rank == root ? s : NULL;
#define CASE(name, ...) case name: if (is_native) PMPI_##__VA_ARGS__; else MPI_##__VA_ARGS__; break;
    switch (what) {
        CASE(BCAST, Bcast(rank == root ? s : r, count, type, root, comm))
        CASE(REDUCE, Reduce(s, of_root, count, type, op, root, comm))
        CASE(ALLREDUCE, Allreduce(s, r, count, type, op, comm))
        CASE(SCAN, Scan(s, r, count, type, op, comm))
        CASE(EXSCAN, Exscan(s, r, count, type, op, comm))
        CASE(SCATTER, Scatter(by_root, count, type, r, count, type, root, comm))
        CASE(SCATTERV, Scatterv(by_root, counts, places, type, r, count, type, root, comm))
        CASE(REDUCE_SCATTER_BLOCK, Reduce_scatter_block(s, r, count, type, op, comm))
        CASE(GATHER, Gather(s, count, type, of_root, count, type, root, comm))
        CASE(GATHERV, Gatherv(s, count, type, of_root, counts, places, type, root, comm))
        CASE(ALLGATHER, Allgather(s, count, type, r, count, type, comm))
        CASE(ALLGATHERV, Allgatherv(s, count, type, r, counts, places, type, comm))
        CASE(ALLTOALL, Alltoall(s, count, type, r, count, type, comm))
        CASE(ALLTOALLV, Alltoallv(s, counts, places, type, r, counts, places, type, comm))
        CASE(ALLTOALLW, Alltoallw(s, counts, offsets, types, r, counts, offsets, types, comm))
    }
}

static void edges(void) {
    MPI_Datatype inner;
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &inner);
    kinds[0].type = MPI_INT, kinds[0].extent = kinds[0].within = 4;
    kinds[1].extent = 12, kinds[1].within = 4, MPI_Type_create_resized(MPI_INT, 0, 12, &kinds[1].type);
    kinds[2].extent = 64, kinds[2].within = 32, MPI_Type_create_resized(inner, 0, 64, &kinds[2].type);
    kinds[3].type = MPI_CHAR, kinds[3].extent = kinds[3].within = 1;
    MPI_Type_free(&inner), MPI_Type_commit(&kinds[1].type), MPI_Type_commit(&kinds[2].type);
    static const int counts[] = {0, 1, 50, 1500, 20000};
    for (int at = 0; at < 5 * 4 * 2 * CALLS; at++) {
        int what = at % CALLS, last = at / CALLS % 2, kind = at / CALLS / 2 % 4, count = counts[at / CALLS / 8], root = at % size;
        if (kind == 2 && count > 1500) continue;
#ifndef OPEN_MPI
        /* For operations that do not commute, MPICH's own, and Intel's, has room for elements without their gaps, and writes beyond it. */
        if (what == REDUCE_SCATTER_BLOCK && (kind == 1 || kind == 2)) continue;
#endif
        int sends_all = what >= SCATTER && what <= REDUCE_SCATTER_BLOCK, receives_all = what >= GATHER && what < ALLTOALL;
        size_t of_sent = bytes(kind, sends_all || what >= ALLTOALL ? size * count : count);
        size_t of_received = bytes(kind, receives_all || what >= ALLTOALL ? size * count : count);
        struct area sent = area(of_sent, last), received[2];
        for (size_t i = 0; i < of_sent; i++) sent.at[i] = (char)(i * 7 + rank * 31 + (i >> 8));
        seal(sent);
        for (int is_native = 0; is_native < 2; is_native++) {
            received[is_native] = area(of_received, last);
            memset(received[is_native].at, 7, of_received);
            call(what, is_native, sent.at, received[is_native].at, kind, count, root, kind == 3 ? MPI_BXOR : op);
        }
        static const char *const names[] = {"bcast", "reduce", "allreduce", "scan", "exscan", "scatter", "scatterv", "reduce_scatter_block",
            "gather", "gatherv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};
        check(!memcmp(received[0].at, received[1].at, of_received), names[what], kind, count);
        release(sent), release(received[0]), release(received[1]);
    }
    MPI_Op_free(&op), MPI_Type_free(&kinds[1].type), MPI_Type_free(&kinds[2].type);
}

/* Small whole numbers, whose sums are exact in any order. */
static void not_aligned(void) {
    static const struct { MPI_Datatype type; int bytes; } all[] = {{MPI_DOUBLE, 8}, {MPI_FLOAT, 4}, {MPI_LONG, 8}, {MPI_C_DOUBLE_COMPLEX, 16}, {MPI_SHORT, 2}};
    for (int kind = 0; kind < 5; kind++)
        for (int n = 1; n < 10000; n = 7 * n + 1)
            for (int off = 1; off < 4; off++) {
                int b = all[kind].bytes;
                char *s = calloc(n + 2, b), *r[2] = {calloc(n + 2, b), calloc(n + 2, b)};
                for (int i = 0; i < n; i++) {
                    double d[2] = {i % 7 + rank, rank};
                    float f = (float)(i % 7 + rank);
                    long l = i % 7 + rank;
                    memcpy(s + off + i * b, kind == 1 ? (void *)&f : kind == 0 || kind == 3 ? (void *)d : (void *)&l, b);
                }
                MPI_Allreduce(s + off, r[0] + off, n, all[kind].type, MPI_SUM, comm), PMPI_Allreduce(s + off, r[1] + off, n, all[kind].type, MPI_SUM, comm);
                check(!memcmp(r[0], r[1], (n + 2) * b), "allreduce, not aligned", kind, n);
                MPI_Scan(s + off, r[0] + off, n, all[kind].type, MPI_SUM, comm), PMPI_Scan(s + off, r[1] + off, n, all[kind].type, MPI_SUM, comm);
                check(!memcmp(r[0], r[1], (n + 2) * b), "scan, not aligned", kind, n);
                free(s), free(r[0]), free(r[1]);
            }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    if (size > 16) MPI_Abort(comm, 1);
    edges();
    not_aligned();
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
