/* What the standard says, to the letter: every predefined operation on every predefined datatype, those for which it is not defined
 * included; communicators of all makes; absolute addresses and null; arguments that are of no matter, and wrong ones; error handlers. Each
 * call is made by MPI_ and by PMPI_ functions. Each rank says "all is well", or what is wrong. */

#include "both.h"

/* --- operations --------------------------------------------------------------------------------------------------- */

/* What the elements of a datatype are, for small numbers of this rank's. */
#define NUMBERS(X)                                                                                                   \
    X(MPI_CHAR, char) X(MPI_SIGNED_CHAR, signed char) X(MPI_UNSIGNED_CHAR, unsigned char) X(MPI_WCHAR, wchar_t)       \
    X(MPI_SHORT, short) X(MPI_UNSIGNED_SHORT, unsigned short) X(MPI_INT, int) X(MPI_UNSIGNED, unsigned)               \
    X(MPI_LONG, long) X(MPI_UNSIGNED_LONG, unsigned long) X(MPI_LONG_LONG, long long)                                 \
    X(MPI_UNSIGNED_LONG_LONG, unsigned long long) X(MPI_INT8_T, int8_t) X(MPI_INT16_T, int16_t)                       \
    X(MPI_INT32_T, int32_t) X(MPI_INT64_T, int64_t) X(MPI_UINT8_T, uint8_t) X(MPI_UINT16_T, uint16_t)                 \
    X(MPI_UINT32_T, uint32_t) X(MPI_UINT64_T, uint64_t) X(MPI_AINT, MPI_Aint) X(MPI_OFFSET, MPI_Offset)               \
    X(MPI_COUNT, MPI_Count) X(MPI_BYTE, unsigned char) X(MPI_FLOAT, float) X(MPI_DOUBLE, double)                      \
    X(MPI_LONG_DOUBLE, long double) X(MPI_CHARACTER, char) X(MPI_LOGICAL, MPI_Fint) X(MPI_INTEGER, MPI_Fint)          \
    X(MPI_INTEGER1, int8_t) X(MPI_INTEGER2, int16_t) X(MPI_INTEGER4, int32_t) X(MPI_INTEGER8, int64_t)                \
    X(MPI_REAL, float) X(MPI_DOUBLE_PRECISION, double) X(MPI_REAL4, float) X(MPI_REAL8, double)                       \
    X(MPI_C_BOOL, _Bool) X(MPI_CXX_BOOL, _Bool) X(MPI_PACKED, char)
/* Two of them an element. */
#define COUPLES(X)                                                                                                   \
    X(MPI_C_FLOAT_COMPLEX, float) X(MPI_C_DOUBLE_COMPLEX, double) X(MPI_C_LONG_DOUBLE_COMPLEX, long double)            \
    X(MPI_CXX_FLOAT_COMPLEX, float) X(MPI_CXX_DOUBLE_COMPLEX, double) X(MPI_CXX_LONG_DOUBLE_COMPLEX, long double)      \
    X(MPI_COMPLEX, float) X(MPI_DOUBLE_COMPLEX, double) X(MPI_COMPLEX8, float) X(MPI_COMPLEX16, double)                \
    X(MPI_2INT, int) X(MPI_2INTEGER, MPI_Fint) X(MPI_2REAL, float) X(MPI_2DOUBLE_PRECISION, double)
/* One, and a place. */
#define PLACES(X)                                                                                                    \
    X(MPI_FLOAT_INT, float) X(MPI_DOUBLE_INT, double) X(MPI_LONG_INT, long) X(MPI_SHORT_INT, short)                   \
    X(MPI_LONG_DOUBLE_INT, long double)

enum { ELEMENTS = 7 };

/* The numbers of what is in front of a zero's sign, in products of complex numbers, depend on the order: there are none. */
static int number(int i) { return 1 + (rank + i * (i + 3)) % 3; }

static void fill(MPI_Datatype type, int n) {
    memset(sent, 0, ROOM);
#define NUMBER(name, c)                                                                                              \
    if (type == name)                                                                                                \
        for (int i = 0; i < n; i++) ((c *)S)[i] = (c)(name == MPI_LOGICAL ? (rank + i) % 2 : number(i));
#define COUPLE(name, c)                                                                                              \
    if (type == name)                                                                                                \
        for (int i = 0; i < 2 * n; i++) ((c *)S)[i] = (c)(i % 2 ? rank : number(i));
#define PLACE(name, c)                                                                                               \
    if (type == name) {                                                                                              \
        struct { c number; int place; } *at = (void *)S;                                                             \
        for (int i = 0; i < n; i++) at[i].number = (c)number(i), at[i].place = rank + i;                             \
    }
    NUMBERS(NUMBER) COUPLES(COUPLE) PLACES(PLACE)
}

/* Adds nothing: -0 becomes 0. */
static void without_signs_of_zeros(MPI_Datatype type, char *of) {
    if (type == MPI_C_FLOAT_COMPLEX || type == MPI_COMPLEX || type == MPI_COMPLEX8 || type == MPI_CXX_FLOAT_COMPLEX)
        for (int i = 0; i < 2 * ELEMENTS; i++) ((float *)of)[i] += 0.0f;
    if (type == MPI_C_DOUBLE_COMPLEX || type == MPI_DOUBLE_COMPLEX || type == MPI_COMPLEX16 || type == MPI_CXX_DOUBLE_COMPLEX)
        for (int i = 0; i < 2 * ELEMENTS; i++) ((double *)of)[i] += 0.0;
    if (type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_CXX_LONG_DOUBLE_COMPLEX)
        for (int i = 0; i < 2 * ELEMENTS; i++) ((long double *)of)[i] += 0.0l;
}

/* The bytes of a long double that are no part of it are of no matter. */
static void without_padding(MPI_Datatype type, char *of, int n) {
    int size = 0, every = 1;
    if (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_CXX_LONG_DOUBLE_COMPLEX) size = 16;
    if (type == MPI_LONG_DOUBLE_INT) size = 32;
    if (type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_CXX_LONG_DOUBLE_COMPLEX) every = 2;
    for (int i = 0; size && i < n * every; i++) memset(of + i * size + 10, 0, 6);
}

/* A call of both kinds on elements of a type: the same code, and the same memory. */
#define REDUCED(what, ...)                                                                                           \
    do {                                                                                                             \
        fresh(7), fill(type, ELEMENTS * size);                                                                       \
        int codes[2], classes[2];                                                                                    \
        { char *R = ours + ROOM / 2; codes[0] = MPI_##__VA_ARGS__; }                                                  \
        { char *R = theirs + ROOM / 2; codes[1] = PMPI_##__VA_ARGS__; }                                               \
        for (int i = 0; i < 2; i++) {                                                                                \
            MPI_Error_class(codes[i], &classes[i]);                                                                  \
            if (codes[i] != MPI_SUCCESS) continue;                                                                   \
            without_signs_of_zeros(type, (i ? theirs : ours) + ROOM / 2);                                            \
            without_padding(type, (i ? theirs : ours) + ROOM / 2, ELEMENTS);                                         \
        }                                                                                                            \
        if (classes[0] != classes[1] || memcmp(ours, theirs, ROOM)) printf("%s of %s: classes %d %d\n", what, types[t].name, classes[0], classes[1]); \
        check(classes[0] == classes[1] && !memcmp(ours, theirs, ROOM), ops[o].name);                                 \
    } while (0)

static void operations(void) {
#define NAMED(type, c) {type, #type},
    struct { MPI_Datatype type; const char *name; } types[] = {NUMBERS(NAMED) COUPLES(NAMED) PLACES(NAMED)};
#define OP(op) {op, #op},
    struct { MPI_Op op; const char *name; } ops[] = {
        OP(MPI_SUM) OP(MPI_PROD) OP(MPI_MAX) OP(MPI_MIN) OP(MPI_LAND) OP(MPI_LOR) OP(MPI_LXOR) OP(MPI_BAND) OP(MPI_BOR) OP(MPI_BXOR)
        OP(MPI_MAXLOC) OP(MPI_MINLOC)};
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned o = 0; o < sizeof ops / sizeof *ops; o++) {
            MPI_Datatype type = types[t].type;
            if (type == MPI_DATATYPE_NULL) continue;
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000 /* it ends the program, where others refuse the call */
            MPI_Op op = ops[o].op;
            if ((op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) && (type == MPI_FLOAT || type == MPI_DOUBLE || type == MPI_LONG_DOUBLE || type == MPI_REAL || type == MPI_DOUBLE_PRECISION)) continue;
#endif
            REDUCED("allreduce", Allreduce(S, R, ELEMENTS, type, ops[o].op, comm));
            REDUCED("scan", Scan(S, R, ELEMENTS, type, ops[o].op, comm));
            REDUCED("reduce", Reduce(S, rank ? NULL : R, ELEMENTS, type, ops[o].op, 0, comm));
            REDUCED("reduce_scatter_block", Reduce_scatter_block(S, R, ELEMENTS, type, ops[o].op, comm));
        }
}

/* Types by their precision, which predefined operations take like those that they are. */
static void precisions(void) {
    MPI_Datatype integer, real, complex;
    MPI_Type_create_f90_integer(9, &integer);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex);
    fill(MPI_INT, 8);
    DO(Allreduce(S, R, 8, integer, MPI_MAX, comm));
    DO(Bcast(rank ? R : S, 8, integer, 0, comm));
#define DO_FILLED(type, ...)                                                                                         \
    do {                                                                                                             \
        line = __LINE__;                                                                                             \
        fresh(3), fill(type, ELEMENTS);                                                                              \
        { char *R = ours + ROOM / 2; MPI_##__VA_ARGS__; }                                                             \
        { char *R = theirs + ROOM / 2; PMPI_##__VA_ARGS__; }                                                          \
        check(!memcmp(ours, theirs, ROOM), "memory");                                                                \
    } while (0)
    DO_FILLED(MPI_DOUBLE, Allreduce(S, R, ELEMENTS, real, MPI_SUM, comm));
    DO_FILLED(MPI_DOUBLE, Scan(S, R, ELEMENTS, real, MPI_MIN, comm));
    DO_FILLED(MPI_COMPLEX, Allreduce(S, R, ELEMENTS, complex, MPI_SUM, comm));
}

/* Adds integers, however far apart they are. */
static void add_apart(void *in, void *inout, int *n, MPI_Datatype *type) {
    MPI_Aint lower, extent, first, reach;
    int bytes;
    MPI_Type_get_extent(*type, &lower, &extent), MPI_Type_get_true_extent(*type, &first, &reach);
    MPI_Type_size(*type, &bytes);
    int ints = bytes / sizeof(int), step = ints > 1 ? (reach / sizeof(int) - 1) / (ints - 1) : 1;
    for (int i = 0; i < *n; i++)
        for (int k = 0; k < ints; k++)
            ((int *)((char *)inout + i * extent))[k * step] += ((int *)((char *)in + i * extent))[k * step];
}

/* An operation of the program's takes data of one kind from ranks whose datatypes differ. */
static void own_types(void) {
    MPI_Datatype one, two, apart, inner;
    MPI_Op op;
    MPI_Type_contiguous(1, MPI_INT, &one), MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, 16, &apart), MPI_Type_free(&inner);
    MPI_Type_commit(&one), MPI_Type_commit(&two), MPI_Type_commit(&apart);
    MPI_Datatype single = rank % 2 ? MPI_INT : one, pair = rank % 3 == 0 ? apart : rank % 3 == 1 ? two : MPI_2INT;
#ifndef OPEN_MPI /* Where extents differ MPICH crashes, or gets wrong sums (5.0.2). */
    if (pair == apart) pair = two;
#endif
    for (int commutes = 0; commutes < 2; commutes++) {
        MPI_Op_create(add_apart, commutes, &op);
        DO(Allreduce(S, R, 9, single, op, comm));
        DO(Reduce(S, R, 9, pair, op, size - 1, comm));
        DO(Exscan(S, R, 9, pair, op, comm));
        DO(Reduce_scatter_block(S, R, 9, single, op, comm));
        START(Iallreduce(MPI_IN_PLACE, R, 9, pair, op, comm, q));
        MPI_Op_free(&op);
    }
    MPI_Type_free(&one), MPI_Type_free(&two), MPI_Type_free(&apart);
}

/* --- communicators ------------------------------------------------------------------------------------------------ */

static void on(MPI_Comm which, const char *called) {
    if (which == MPI_COMM_NULL) return;
    MPI_Comm before = comm;
    comm = which, name = called;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++) {
        DO(Bcast(rank == root ? S : R, 100, MPI_INT, root, comm));
        DO(Gather(S, 10, MPI_INT, R, 10, MPI_INT, root, comm));
        DO(Reduce(S, R, 20, MPI_INT, MPI_SUM, root, comm));
    }
    DO(Allgather(S, 10, MPI_INT, R, 10, MPI_INT, comm));
    DO(Alltoall(S, 5, MPI_INT, R, 5, MPI_INT, comm));
    DO(Allreduce(S, R, 30, MPI_INT, MPI_MAX, comm));
    DO(Exscan(S, R, 3, MPI_INT, MPI_SUM, comm));
    DO(Barrier(comm));
    START(Iallreduce(S, R, 30, MPI_INT, MPI_BXOR, comm, q));
    comm = before;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
}

/* An attribute goes, whose communicator is there still. */
static int sum_at_the_end(MPI_Comm of, int key, void *value, void *state) {
    int one = 1, sum = 0;
    (void)key, (void)value, (void)state;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, of);
    check(sum == size, "a sum as an attribute goes");
    return MPI_SUCCESS;
}

/* Ranks may have the attribute before the first call on the communicator or after it; the next communicator may have the same handle. */
static void attributes(void) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_at_the_end, &key, NULL);
    for (int i = 0; i < 4; i++) {
        MPI_Comm own, reversed;
        int first = rank;
        MPI_Comm_dup(comm, &own);
        if (i > 1 || rank % 2) MPI_Comm_set_attr(own, key, NULL);
        on(own, "with an attribute");
        if (i <= 1 && rank % 2 == 0) MPI_Comm_set_attr(own, key, NULL);
        line = __LINE__;
        if (i % 2) MPI_Comm_free(&own);
        else MPI_Comm_disconnect(&own);
        MPI_Comm_split(comm, 0, -rank, &reversed);
        MPI_Bcast(&first, 1, MPI_INT, 0, reversed);
        check(first == size - 1, "the communicator after one with an attribute");
        MPI_Comm_free(&reversed);
    }
    MPI_Comm_free_keyval(&key);
}

static void communicators(void) {
    MPI_Comm made, part;
    int next = (rank + 1) % size, last = (rank + size - 1) % size, sides[2] = {0, 0}, all[2] = {1, 0};
    MPI_Dist_graph_create_adjacent(comm, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
    on(made, "graph of neighbours"), MPI_Comm_free(&made);
    int degree = 1;
    MPI_Dist_graph_create(comm, 1, &rank, &degree, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
    on(made, "distributed graph"), MPI_Comm_free(&made);
    int *index = malloc(2 * size * sizeof(int)), *edges = index + size;
    for (int r = 0; r < size; r++) index[r] = r + 1, edges[r] = (r + 1) % size;
    MPI_Graph_create(comm, size, index, edges, 1, &made);
    on(made, "graph"), MPI_Comm_free(&made);
    free(index);
    MPI_Dims_create(size, 2, sides);
    MPI_Cart_create(comm, 2, sides, all, 1, &made);
    on(made, "grid");
    MPI_Cart_sub(made, all, &part);
    on(part, "column"), MPI_Comm_free(&part), MPI_Comm_free(&made);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &made);
    on(made, "host"), MPI_Comm_free(&made);
    MPI_Comm_split_type(comm, rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made);
    on(made, "some of a host");
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Comm_split(comm, rank % 3 == 2 ? MPI_UNDEFINED : 7, rank, &made);
    on(made, "all but every third");
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
    on(made, "duplicate"), MPI_Comm_disconnect(&made);
    MPI_Request request;
    MPI_Comm_idup(comm, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    on(made, "duplicate made meanwhile"), MPI_Comm_free(&made);
}

/* --- addresses, and what is of no matter -------------------------------------------------------------------------- */

static void add_ints(void *in, void *inout, int *n, MPI_Datatype *type) {
    MPI_Aint first, true_extent, lower, extent;
    MPI_Type_get_true_extent(*type, &first, &true_extent);
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *n; i++) {
        int *from = (int *)((char *)in + first + i * extent), *into = (int *)((char *)inout + first + i * extent);
        for (int k = 0; k < 3; k++) into[k] += from[k];
    }
}

/* Three ints, with a gap of so many bytes. */
static MPI_Datatype absolute(void *at, int gap) {
    MPI_Datatype type;
    MPI_Aint where;
    MPI_Get_address(at, &where);
    MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){where, where + 4 + gap}, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The same in calls of both kinds. */
static void absolutes(int gap, MPI_Op op) {
    fresh(5);
    for (int i = 0; i < 2; i++) {
        MPI_Datatype into = absolute((i ? theirs : ours) + 2048, gap), from = absolute(S, gap);
        int *ones = malloc(3 * size * sizeof(int)), *zeros = ones + size, *none = zeros + size;
        MPI_Datatype *froms = malloc(2 * size * sizeof *froms), *intos = froms + size;
        for (int r = 0; r < size; r++) {
            ones[r] = r == (rank + 1) % size, zeros[r] = 0, none[r] = r == (rank + size - 1) % size;
            froms[r] = from, intos[r] = into;
        }
        if (i) {
#ifdef OPEN_MPI /* MPICH 5.0.2 crashes */
            if (!gap) PMPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, into, op, comm);
            if (!gap) PMPI_Scan(MPI_IN_PLACE, MPI_BOTTOM, 1, into, op, comm);
#endif
            PMPI_Alltoallw(MPI_BOTTOM, ones, zeros, froms, MPI_BOTTOM, none, zeros, intos, comm);
            PMPI_Gather(MPI_BOTTOM, 1, from, theirs + 4096, 3, MPI_INT, 0, comm);
            PMPI_Scatter(S, 3, MPI_INT, MPI_BOTTOM, 1, into, size - 1, comm);
        } else {
#ifdef OPEN_MPI
            if (!gap) MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, into, op, comm);
            if (!gap) MPI_Scan(MPI_IN_PLACE, MPI_BOTTOM, 1, into, op, comm);
#endif
            MPI_Alltoallw(MPI_BOTTOM, ones, zeros, froms, MPI_BOTTOM, none, zeros, intos, comm);
            MPI_Gather(MPI_BOTTOM, 1, from, ours + 4096, 3, MPI_INT, 0, comm);
            MPI_Scatter(S, 3, MPI_INT, MPI_BOTTOM, 1, into, size - 1, comm);
        }
        free(ones), free(froms);
        MPI_Type_free(&into), MPI_Type_free(&from);
    }
    check(!memcmp(ours, theirs, ROOM), "absolute addresses");
}

static void addresses(void) {
    MPI_Op op;
    MPI_Op_create(add_ints, 1, &op);
    line = __LINE__, absolutes(0, op);
    line = __LINE__, absolutes(8, op);
    MPI_Op_free(&op);

    int *zeros = calloc(2 * size, sizeof(int)), *counts = malloc(2 * size * sizeof(int)), *places = counts + size;
    for (int r = 0; r < size; r++) counts[r] = 1 + r, places[r] = 2 * r * r;
    DO(Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, size - 1, comm));
    DO(Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, comm));
    DO(Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, size - 1, comm));
    DO(Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, comm));
    DO(Exscan(NULL, NULL, 0, MPI_INT, MPI_SUM, comm));
    DO(Reduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM, comm));
    DO(Reduce_scatter(NULL, NULL, zeros, MPI_INT, MPI_SUM, comm));
    DO(Gatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, 0, comm));
    DO(Scatterv(NULL, zeros, zeros, MPI_INT, NULL, 0, MPI_INT, 0, comm));
    DO(Allgatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, comm));
#ifdef OPEN_MPI /* MPICH 5 takes it for memory that is sent and received into at once */
    DO(Alltoallv(NULL, zeros, zeros, MPI_INT, NULL, zeros, zeros, MPI_INT, comm));
    START(Ialltoallv(NULL, zeros, zeros, MPI_INT, NULL, zeros, zeros, MPI_INT, comm, q));
#endif
    START(Ireduce_scatter(NULL, NULL, zeros, MPI_INT, MPI_SUM, comm, q));
    START(Iallgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, comm, q));
    /* Of no matter but on the root. */
    for (int root = 0; root < size; root++) {
        int is = rank == root;
        DO(Gather(S, 3, MPI_INT, is ? R : NULL, is ? 3 : -5, is ? MPI_INT : MPI_DATATYPE_NULL, root, comm));
        DO(Gatherv(S, counts[rank], MPI_INT, is ? R : NULL, is ? counts : NULL, is ? places : NULL, is ? MPI_INT : MPI_DATATYPE_NULL, root, comm));
        DO(Scatter(is ? S : NULL, is ? 3 : -5, is ? MPI_INT : MPI_DATATYPE_NULL, R, 3, MPI_INT, root, comm));
        DO(Scatterv(is ? S : NULL, is ? counts : NULL, is ? places : NULL, is ? MPI_INT : MPI_DATATYPE_NULL, R, counts[rank], MPI_INT, root, comm));
        DO(Gather(is ? MPI_IN_PLACE : S, is ? -5 : 3, is ? MPI_DATATYPE_NULL : MPI_INT, R, 3, MPI_INT, root, comm));
        DO(Scatter(S, 3, MPI_INT, is ? MPI_IN_PLACE : R, is ? -5 : 3, is ? MPI_DATATYPE_NULL : MPI_INT, root, comm));
        START(Igatherv(S, counts[rank], MPI_INT, is ? R : NULL, is ? counts : NULL, is ? places : NULL, is ? MPI_INT : MPI_DATATYPE_NULL, root, comm, q));
    }
    /* In place nothing is read that says what is sent. */
    DO(Allgather(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, R, 3, MPI_INT, comm));
    DO(Alltoall(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, R, 3, MPI_INT, comm));
    DO(Allgatherv(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, R, counts, places, MPI_INT, comm));
    for (int r = 0; r < size; r++) counts[r] = 1 + (r + rank) % 3, places[r] = 5 * r;
    DO(Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, R, counts, places, MPI_INT, comm));
    MPI_Datatype *kinds = malloc(size * sizeof *kinds);
    for (int r = 0; r < size; r++) kinds[r] = (r + rank) % 2 ? MPI_SHORT : MPI_INT, places[r] = 64 * r;
    DO(Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, R, counts, places, kinds, comm));
#ifndef OPEN_MPI /* which asks for datatypes of nothing, too */
    /* Nothing goes between ranks 0 and 1, of which one alone says so by a datatype that is none. */
    for (int r = 0; r < size; r++)
        if (r + rank == 1) counts[r] = 0, kinds[r] = rank ? kinds[r] : MPI_DATATYPE_NULL;
    DO(Alltoallw(S, counts, places, kinds, R, counts, places, kinds, comm));
#endif
    free(kinds), free(zeros), free(counts);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static MPI_Comm handled;
static int handlings;
static void handle(MPI_Comm *which, int *code, ...) {
    (void)code;
    handled = *which, handlings++;
}

static void mistakes(void) {
    MPI_Comm own, copy;
    MPI_Errhandler handler;
    int *counts = calloc(2 * size, sizeof(int));
    /* A duplicate has the handler of the first one, which is told which of both it is. */
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(own, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_dup(own, &copy);
    line = __LINE__;
    for (int i = 0; i < 2; i++) {
        MPI_Comm on = i ? copy : own;
        handlings = 0;
        for (int k = 0; k < 3; k++) MPI_Barrier(on);
        check(handlings == 0, "nothing is handled");
        /* (MPICH 5 returns success after a handler of the program's.) */
        MPI_Allreduce(S, ours, 1, MPI_INT, MPI_OP_NULL, on);
        check(handlings == 1 && handled == on, "handler of an error");
        MPI_Reduce(S, ours, 1, MPI_INT, MPI_OP_NULL, 0, on);
        check(handlings == 2 && handled == on, "handler of a second error");
        check(MPI_Barrier(on) == MPI_SUCCESS && handlings == 2, "a call after errors");
    }
    MPI_Comm_free(&copy);

#ifndef OPEN_MPI /* whose handles are addresses */
    /* What is no handle is an error on the communicator of the call, whatever those on that of all ranks do. */
    WRONG(Bcast(R, 1, (MPI_Datatype)0x12345, 0, comm));
    WRONG(Allgather(S, 1, MPI_INT, R, 1, (MPI_Datatype)0x12345, comm));
    WRONG(Allreduce(S, R, 1, MPI_INT, (MPI_Op)0x12345, comm));
#endif
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype raw;
    MPI_Type_contiguous(3, MPI_INT, &raw);
    /* Not committed. */
    WRONG(Bcast(R, 1, raw, 0, comm));
    WRONG(Allgather(S, 1, raw, R, 1, raw, comm));
    WRONG(Gather(S, 1, raw, R, 1, raw, 0, comm));
    WRONG(Alltoall(S, 1, raw, R, 1, raw, comm));
    WRONG(Allreduce(S, R, 1, raw, MPI_SUM, comm));
    MPI_Type_commit(&raw);
    DO(Bcast(rank ? R : S, 1, raw, 0, comm));
    DO(Allgather(S, 1, raw, R, 1, raw, comm));
    /* Operations that are not defined for them. */
    WRONG(Allreduce(S, R, 1, raw, MPI_SUM, comm));
    WRONG(Reduce(S, R, 1, raw, MPI_MAX, 0, comm));
    WRONG(Exscan(S, R, 1, MPI_FLOAT, MPI_BOR, comm));
    WRONG(Reduce_scatter_block(S, R, 1, MPI_DOUBLE, MPI_MINLOC, comm));
    WRONG(Allreduce(S, R, 1, MPI_INT, MPI_REPLACE, comm));
    MPI_Type_free(&raw);
    /* Roots, counts, types, lists. */
    WRONG(Scatter(S, 1, MPI_INT, R, 1, MPI_INT, size, comm));
    WRONG(Gatherv(S, 0, MPI_INT, R, counts, counts, MPI_INT, -3, comm));
    WRONG(Scatterv(S, counts, counts, MPI_INT, R, 0, MPI_INT, size, comm));
    WRONG(Reduce(S, R, 1, MPI_INT, MPI_SUM, -1, comm));
    WRONG(Reduce(S, R, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    WRONG(Bcast(R, 1, MPI_INT, MPI_PROC_NULL, comm));
    WRONG(Bcast(R, 1, MPI_INT, MPI_ROOT, comm));
    WRONG(Allgather(S, 1, MPI_DATATYPE_NULL, R, 1, MPI_INT, comm));
    WRONG(Allgather(S, 1, MPI_INT, R, 1, MPI_DATATYPE_NULL, comm));
    WRONG(Alltoall(S, 1, MPI_DATATYPE_NULL, R, 1, MPI_INT, comm));
#ifdef OPEN_MPI /* MPICH 5 ends the program, or does not look */
    WRONG(Allreduce(S, R, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    WRONG(Reduce_scatter(S, R, counts, MPI_DATATYPE_NULL, MPI_SUM, comm));
    WRONG(Scan(S, R, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    WRONG(Alltoall(S, 1, MPI_INT, R, -1, MPI_INT, comm));
    WRONG(Gather(S, -1, MPI_INT, R, 1, MPI_INT, 0, comm));
    WRONG(Reduce_scatter_block(S, R, -1, MPI_INT, MPI_SUM, comm));
#endif
    WRONG(Alltoall(S, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
    WRONG(Allgather(S, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
    if (size == 1) WRONG(Reduce(S, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, 0, comm)); /* the root alone sees that */
    WRONG(Reduce_scatter_block(S, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
    WRONG(Scan(S, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
#ifdef OPEN_MPI
    WRONG(Allgatherv(S, 1, MPI_INT, R, counts, NULL, MPI_INT, comm));
    WRONG(Alltoallv(S, counts, NULL, MPI_INT, R, counts, counts, MPI_INT, comm));
    WRONG(Alltoallw(S, counts, counts, NULL, R, counts, counts, NULL, comm));
#endif
    WRONG(Allreduce(S, R, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    MPI_Request request = MPI_REQUEST_NULL;
    WRONG(Ibcast(R, 1, MPI_INT, size, comm, &request));
    WRONG(Iallreduce(S, R, 1, MPI_DOUBLE, MPI_BAND, comm, &request));
    WRONG(Igather(S, 1, MPI_INT, R, 1, MPI_INT, size, comm, &request));
    WRONG(Ibarrier(MPI_COMM_NULL, &request));
    MPI_Comm_free(&own);
    free(counts);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    name = "operations", operations();
    name = "precisions", precisions();
    name = "own types", own_types();
    communicators();
    name = "attributes", attributes();
    name = "addresses", addresses();
    name = "mistakes", mistakes();
    MPI_Comm_free(&comm);
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
