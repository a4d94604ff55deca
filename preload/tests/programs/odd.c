/* What the standard allows and programs rarely do: each call is made twice, by MPI_ and by PMPI_ functions, and all memory must be the same
 * afterwards. Then wrong arguments, of which MPI says by PMPI_ what is wrong. Each rank says "all is well", or what is wrong. With an argument, nothing is called. */

#include "both.h"

static MPI_Datatype below, holes, within, empty, backwards, turned, piece;

static void types(void) {
    /* Begins before its address, and the next one lies before it. */
    MPI_Datatype inner;
    MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){-12, 4}, MPI_INT, &inner);
    MPI_Type_create_resized(inner, -12, 24, &below), MPI_Type_free(&inner);
    MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, -16, &backwards), MPI_Type_free(&inner);
    struct some { char c; double d; short s; } some;
    (void)some;
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 8, 16}, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, &inner);
    MPI_Type_create_resized(inner, 0, sizeof some, &holes), MPI_Type_free(&inner);
    /* Each within the one before it. */
    MPI_Type_vector(3, 1, 40, MPI_SHORT, &inner);
    MPI_Type_create_resized(inner, 0, sizeof(short), &within), MPI_Type_free(&inner);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    /* One piece, but in another order; and one in its order, that is made in all ways. */
    MPI_Datatype parts[4];
    MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){2, 0}, MPI_SHORT, &inner);
    MPI_Type_contiguous(3, inner, &turned), MPI_Type_free(&inner);
    MPI_Type_contiguous(2, MPI_SHORT, &parts[0]), MPI_Type_dup(parts[0], &parts[1]);
    MPI_Type_vector(2, 3, 3, parts[1], &parts[2]), MPI_Type_create_hvector(2, 1, 24, parts[2], &parts[3]);
    MPI_Type_create_resized(parts[3], 0, 52, &piece);
    for (int i = 0; i < 4; i++) MPI_Type_free(&parts[i]);
    MPI_Type_commit(&turned), MPI_Type_commit(&piece);
    MPI_Type_commit(&below), MPI_Type_commit(&backwards), MPI_Type_commit(&holes), MPI_Type_commit(&within), MPI_Type_commit(&empty);
}

/* Where the data of elements begins below their address, or lies within that of others, Intel's own gather writes to memory that is not
 * its own, and its all-gather in place gives wrong results. */
static int own_fails(MPI_Datatype type) {
#ifdef I_MPI_VERSION
    return type == below || type == within;
#else
    return (void)type, 0;
#endif
}

static void moving(void) {
    MPI_Datatype all[] = {below, holes, within, backwards, empty, MPI_SHORT, turned, piece};
    int *counts = malloc(4 * size * sizeof(int)), *places = counts + size, *bytes = places + size, *counts2 = bytes + size;
    for (unsigned t = 0; t < sizeof all / sizeof *all; t++) {
        MPI_Datatype type = all[t];
        for (int count = 0; count < 6; count += count ? 4 : 1)
            for (int root = 0; root < size; root += size > 1 ? size - 1 : 1) {
                DO(Bcast(rank == root ? S : R, count, type, root, comm));
                if (type == backwards) continue; /* Open MPI's own gather has no room for it */
                if (!own_fails(type)) DO(Gather(S, count, type, R, count, type, root, comm));
                DO(Scatter(S, count, type, R, count, type, root, comm));
                DO(Allgather(S, count, type, R, count, type, comm));
                DO(Alltoall(S, count, type, R, count, type, comm));
                if (!own_fails(type)) DO(Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, R, count, type, comm));
                DO(Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, R, count, type, comm));
                START(Ibcast(rank == root ? S : R, count, type, root, comm, q));
                START(Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, R, count, type, comm, q));
                START(Igather(rank == root ? MPI_IN_PLACE : S, count, type, R, count, type, root, comm, q));
                START(Iscatter(S, count, type, rank == root ? MPI_IN_PLACE : R, count, type, root, comm, q));
                START(Ialltoall(S, count, type, R, count, type, comm, q));
                /* Every second rank has nothing. */
                int place = 0;
                for (int r = 0; r < size; r++) counts[r] = r % 2 ? 0 : count, counts2[r] = (r + rank) % 2 ? 0 : count, places[r] = place, place += count;
                DO(Gatherv(counts[rank] ? S : NULL, counts[rank], type, R, counts, places, type, root, comm));
                DO(Scatterv(S, counts, places, type, counts[rank] ? R : NULL, counts[rank], type, root, comm));
                DO(Allgatherv(counts[rank] ? S : NULL, counts[rank], type, R, counts, places, type, comm));
                DO(Alltoallv(S, counts2, places, type, R, counts2, places, type, comm));
                START(Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, R, counts, places, type, comm, q));
            }
    }
    /* To and from every rank another type. */
    MPI_Datatype *kinds = malloc(size * sizeof *kinds);
    for (int shift = 0; shift < 3; shift++) {
        for (int r = 0; r < size; r++) kinds[r] = all[(r + rank + shift) % 3], counts[r] = 1 + (r + rank) % 3, bytes[r] = 256 * r;
        DO(Alltoallw(S, counts, bytes, kinds, R, counts, bytes, kinds, comm));
        START(Ialltoallw(S, counts, bytes, kinds, R, counts, bytes, kinds, comm, q));
    }
    /* Absolute addresses. */
    for (int root = 0; root < size; root++) {
        line = __LINE__;
        fresh(root);
        char *at[2] = {rank == root ? S : ours + 1000, rank == root ? S : theirs + 1000};
        for (int i = 0; i < 2; i++) {
            MPI_Datatype absolute;
            MPI_Aint where;
            MPI_Get_address(at[i], &where);
            MPI_Type_create_hindexed(1, (int[]){10}, &where, MPI_INT, &absolute);
            MPI_Type_commit(&absolute);
            if (i) PMPI_Bcast(MPI_BOTTOM, 1, absolute, root, comm);
            else MPI_Bcast(MPI_BOTTOM, 1, absolute, root, comm);
            MPI_Type_free(&absolute);
        }
        check(!memcmp(ours, theirs, ROOM), "absolute addresses");
    }
    /* No elements, of more bytes each than fit into an int, on one rank alone. (Ranks of Open MPI choose its all-gather by such bytes, and wait.) */
    MPI_Datatype huge;
    MPI_Type_vector(1 << 30, 1, 2, MPI_INT, &huge), MPI_Type_commit(&huge);
    for (int r = 0; r < size; r++) counts[r] = r ? 2 : 0, places[r] = 3 * r;
    DO(Gatherv(S, rank ? 2 : 0, rank ? MPI_INT : huge, R, counts, places, MPI_INT, 0, comm));
    MPI_Type_free(&huge);
    DO(Bcast(NULL, 0, MPI_INT, 0, comm));
    DO(Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, comm));
    DO(Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, comm));
    DO(Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm));
    free(kinds);
    free(counts);
}

/* Is called with the datatype that the call has, and leaves holes alone. */
static MPI_Datatype expected_type;
static void of_members(void *in, void *inout, int *n, MPI_Datatype *type) {
    struct some { char c; uint64_t d; short s; } *from = in, *into = inout;
    if (*type != expected_type) wrong = 1;
    for (int i = 0; i < *n; i++) into[i].c += from[i].c, into[i].d = from[i].d < into[i].d ? from[i].d : into[i].d, into[i].s ^= from[i].s;
}
/* Does not commute: x -> a x + b after another such, and the first of all. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++) {
        unsigned *from = (unsigned *)((char *)in + 24 * i), *into = (unsigned *)((char *)inout + 24 * i);
        into[1] = from[-3] * into[1] + from[1], into[-3] *= from[-3], into[2] = from[2];
    }
}

static void reductions(void) {
    struct { MPI_Datatype type; MPI_Op op; } all[20];
    int n = 0, *counts = malloc(size * sizeof(int));
    MPI_Op of_holes, composed;
    MPI_Op_create(of_members, 1, &of_holes), MPI_Op_create(compose, 0, &composed);
    expected_type = holes;
#define PAIR(t, o) all[n].type = t, all[n++].op = o
    PAIR(holes, of_holes), PAIR(below, composed), PAIR(MPI_BYTE, MPI_BXOR), PAIR(MPI_C_BOOL, MPI_LXOR), PAIR(MPI_COUNT, MPI_BOR), PAIR(MPI_AINT, MPI_MAX), PAIR(MPI_UNSIGNED_SHORT, MPI_PROD), PAIR(MPI_2INT, MPI_MAXLOC), PAIR(MPI_SHORT_INT, MPI_MINLOC);
    for (int i = 0; i < n; i++) {
        MPI_Datatype t = all[i].type;
        MPI_Op op = all[i].op;
        for (int count = 0; count < 8; count += count ? 6 : 1) {
            for (int root = 0; root < size; root += size > 1 ? size - 1 : 1) {
                DO(Reduce(S, rank == root ? R : NULL, count, t, op, root, comm));
                DO(Reduce(rank == root ? MPI_IN_PLACE : S, R, count, t, op, root, comm));
                START(Ireduce(rank == root ? MPI_IN_PLACE : S, R, count, t, op, root, comm, q));
            }
            DO(Allreduce(S, R, count, t, op, comm));
            DO(Scan(S, R, count, t, op, comm));
            DO(Exscan(S, R, count, t, op, comm));
#ifdef OPEN_MPI
            DO(Exscan(S, rank ? R : NULL, count, t, op, comm)); /* of no matter on rank 0; MPICH 5 refuses it */
            START(Iexscan(S, rank ? R : NULL, count, t, op, comm, q));
#endif
            START(Iallreduce(MPI_IN_PLACE, R, count, t, op, comm, q));
            START(Iscan(MPI_IN_PLACE, R, count, t, op, comm, q));
            DO(Reduce_scatter_block(S, R, count, t, op, comm));
            for (int r = 0; r < size; r++) counts[r] = r % 3 == 1 ? 0 : count;
            DO(Reduce_scatter(S, R, counts, t, op, comm));
            START(Ireduce_scatter(S, R, counts, t, op, comm, q));
        }
    }
    MPI_Op_free(&of_holes), MPI_Op_free(&composed);
    free(counts);
}

static void mistakes(void) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    WRONG(Bcast(R, -1, MPI_INT, 0, comm));
    WRONG(Bcast(R, 1, MPI_DATATYPE_NULL, 0, comm));
    WRONG(Bcast(R, 1, MPI_INT, size, comm));
    WRONG(Bcast(R, 1, MPI_INT, -1, comm));
    WRONG(Bcast(R, 1, MPI_INT, 0, MPI_COMM_NULL));
    WRONG(Barrier(MPI_COMM_NULL));
#ifndef OPEN_MPI /* whose handles are addresses */
    WRONG(Barrier((MPI_Comm)1));
#endif
    WRONG(Allreduce(S, R, 1, MPI_INT, MPI_OP_NULL, comm));
#ifdef OPEN_MPI /* MPICH 4.0 does not look */
    WRONG(Allreduce(S, R, -3, MPI_INT, MPI_SUM, comm));
#endif
    WRONG(Allreduce(S, R, 1, MPI_DOUBLE, MPI_BAND, comm));
    WRONG(Allreduce(S, R, 1, MPI_INT, MPI_MAXLOC, comm));
    WRONG(Allreduce(S, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
    WRONG(Reduce(S, R, 1, MPI_INT, MPI_SUM, size + 3, comm));
    WRONG(Gather(S, 1, MPI_INT, R, 1, MPI_INT, -7, comm));
    WRONG(Allgather(S, -1, MPI_INT, R, -1, MPI_INT, comm));
    WRONG(Scan(S, R, 1, MPI_INT, MPI_OP_NULL, comm));
    int *ones = malloc(2 * size * sizeof(int)), *each = ones + size, *bytes = malloc(size * sizeof(int));
    MPI_Datatype *ints = malloc(size * sizeof *ints);
    for (int r = 0; r < size; r++) ones[r] = 1, each[r] = 2 * r, bytes[r] = 8 * r, ints[r] = MPI_INT;
    WRONG(Alltoallw(S, ones, bytes, ints, MPI_IN_PLACE, ones, bytes, ints, comm));
#ifdef OPEN_MPI
    /* Memory that is sent and received into at once, which Open MPI notices in these two. */
    WRONG(Allreduce(R, R, 2, MPI_INT, MPI_SUM, comm));
    if (size == 1) WRONG(Reduce(R, R, 1, MPI_INT, MPI_SUM, 0, comm)); /* only the root notices */
#else
    /* Memory that is sent and received into at once, which MPICH notices in more. */
    WRONG(Allreduce(R, R, 1, MPI_INT, MPI_SUM, comm));
    WRONG(Exscan(R, R, 1, MPI_INT, MPI_SUM, comm));
    WRONG(Reduce_scatter_block(R, R, 1, MPI_INT, MPI_SUM, comm));
    WRONG(Alltoall(R, 1, MPI_INT, R, 1, MPI_INT, comm));
    WRONG(Allgather(R + rank * sizeof(int), 1, MPI_INT, R, 1, MPI_INT, comm));
    WRONG(Allgatherv(R + 8 * rank, 1, MPI_INT, R, ones, each, MPI_INT, comm));
    WRONG(Alltoallv(R, ones, each, MPI_INT, R, ones, each, MPI_INT, comm));
    WRONG(Alltoallw(R, ones, bytes, ints, R, ones, bytes, ints, comm));
    /* The root notices by itself. */
    if (rank == size - 1) {
        WRONG(Gatherv(R + 8 * rank, 1, MPI_INT, R, ones, each, MPI_INT, size - 1, comm));
        WRONG(Scatterv(R, ones, each, MPI_INT, R + 8 * rank, 1, MPI_INT, size - 1, comm));
    }
    /* That there is no memory. */
    if (size == 1) {
        WRONG(Gatherv(S, 1, MPI_INT, NULL, ones, each, MPI_INT, 0, comm));
        WRONG(Scatterv(NULL, ones, each, MPI_INT, R, 1, MPI_INT, 0, comm));
    }
    WRONG(Alltoallv(S, ones, each, MPI_INT, NULL, ones, each, MPI_INT, comm));
    WRONG(Alltoallw(S, ones, bytes, ints, NULL, ones, bytes, ints, comm));
#endif
    free(ones), free(bytes), free(ints);
    if (size == 1) return;
    /* What ranks take for longer than they have said is neither read nor written. */
    int class, *numbers = malloc(2 * size * sizeof(int));
    for (int r = 0; r < size; r++) numbers[r] = 1, numbers[size + r] = r;
#define SHORT(...)                                                                                                   \
    do {                                                                                                             \
        line = __LINE__;                                                                                             \
        fresh(1);                                                                                                    \
        char *R = ours;                                                                                              \
        MPI_Comm own;                                                                                                \
        MPI_Comm_dup(comm, &own);                                                                                    \
        MPI_Error_class(__VA_ARGS__, &class);                                                                        \
        check(class == MPI_ERR_TRUNCATE, "class of an error of a length");                                           \
        check(!memcmp(ours, theirs, ROOM), "memory after an error of a length");                                     \
        MPI_Comm_free(&own);                                                                                         \
    } while (0)
    if (getenv("HYPERCOLL_FROM_CALL")) {
        SHORT(MPI_Allgather(S, 2, MPI_INT, R, 1, MPI_INT, own));
        SHORT(MPI_Allgather(S, 1, MPI_INT, R, 2, MPI_INT, own));
        SHORT(MPI_Alltoall(S, 2, MPI_INT, R, 1, MPI_INT, own));
        SHORT(MPI_Allgatherv(S, 2, MPI_INT, R, numbers, numbers + size, MPI_INT, own));
        /* A rank sends itself another length than it receives from itself. */
        int *counts = malloc(3 * size * sizeof(int)), *places = counts + size, *bytes = places + size;
        MPI_Datatype *kinds = malloc(size * sizeof *kinds);
        for (int r = 0; r < size; r++) counts[r] = r == rank ? 10 : 1, places[r] = 10 * r, bytes[r] = 40 * r, kinds[r] = MPI_INT;
        SHORT(MPI_Alltoallv(S, counts, places, MPI_INT, R, numbers, numbers + size, MPI_INT, own));
        SHORT(MPI_Alltoallv(S, numbers, numbers + size, MPI_INT, R, counts, places, MPI_INT, own));
        SHORT(MPI_Alltoallw(S, counts, bytes, kinds, R, numbers, bytes, kinds, own));
        free(counts), free(kinds);
        /* Only the root knows: the others hear of it, at the latest in their next call. */
        int root = size - 1;
        for (int call = 0; call < 4; call++) {
            MPI_Comm own;
            line = __LINE__, name = (char *[]){"gather", "scatter", "gatherv", "scatterv"}[call];
            MPI_Comm_dup(comm, &own);
            fresh(2);
            int code = call == 0 ? MPI_Gather(S, 3, MPI_INT, ours, 1, MPI_INT, root, own)
                       : call == 1 ? MPI_Scatter(S, 1, MPI_INT, ours, 3, MPI_INT, root, own)
                       : call == 2 ? MPI_Gatherv(S, 3, MPI_INT, ours, numbers, numbers + size, MPI_INT, root, own)
                                   : MPI_Scatterv(S, numbers, numbers + size, MPI_INT, ours, 3, MPI_INT, root, own);
            MPI_Error_class(code, &class);
            if (rank == root) check(class == MPI_ERR_TRUNCATE, "class of an error of the root's");
            check(!memcmp(ours, theirs, ROOM), "memory after an error of the root's");
            if (code == MPI_SUCCESS) check(MPI_Barrier(own) != MPI_SUCCESS, "an error that others have heard of");
            MPI_Comm_free(&own);
        }
    }
    free(numbers);
}

/* MPI ends: the program's attributes go first, and their functions may have calls of MPI. */
static int at_end(MPI_Comm self, int key, void *value, void *state) {
    (void)self, (void)key, (void)value, (void)state;
    int sum = 1, all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all != size) printf("rank %d: wrong: a sum at the end\n", rank);
    else printf("rank %d: ends well\n", rank);
    return MPI_SUCCESS;
}

/* What the program attaches to a communicator is copied when the program duplicates that, and only then. */
static int copied;
static int copies(MPI_Comm old, int key, void *state, void *in, void *out, int *flag) {
    (void)old, (void)key;
    copied++, *flag = 1, *(void **)out = in;
    return state == &copied ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static int deletes(MPI_Comm old, int key, void *value, void *state) {
    (void)old, (void)key, (void)value;
    copied--;
    return state == &copied ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* By its name of old, too, which some headers do not have any more. */
int MPI_Keyval_create(MPI_Copy_function *, MPI_Delete_function *, int *, void *);

static void attributes(int old) {
    MPI_Comm attached, copy;
    int key, there;
    void *found;
    line = __LINE__;
    MPI_Comm_dup(comm, &attached);
    if (old) MPI_Keyval_create(copies, deletes, &key, &copied);
    else MPI_Comm_create_keyval(copies, deletes, &key, &copied);
    MPI_Comm_set_attr(attached, key, &there);
    for (int call = 0; call < 20; call++) MPI_Barrier(attached);
    check(copied == 0, "attributes are left alone");
    MPI_Comm_dup(attached, &copy);
    check(copied == 1, "attributes are copied");
    MPI_Comm_get_attr(copy, key, &found, &there);
    check(there && found == &there, "what is copied is there");
    MPI_Comm_free(&copy);
    check(copied == 0, "attributes are deleted");
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&attached);
    check(copied == -1, "attributes are deleted");
    copied = 0;
}

static void on(MPI_Comm which, const char *called) {
    if (which == MPI_COMM_NULL) return;
    comm = which, name = called;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    /* Its first call is none that may wait for others. */
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    moving();
    reductions();
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc > 1) return MPI_Finalize();
    int world, ranks, key;
    MPI_Comm_rank(MPI_COMM_WORLD, &world), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    types();
    on(MPI_COMM_WORLD, "world");
    MPI_Comm made, half, between;
    MPI_Group all, some;
    /* From the last to the first. */
    int *members = malloc(ranks * sizeof(int));
    for (int r = 0; r < ranks; r++) members[r] = ranks - 1 - r;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, (ranks + 1) / 2, members, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &made);
    on(made, "create");
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    if (world >= ranks - (ranks + 1) / 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &made);
        on(made, "create_group");
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&all), MPI_Group_free(&some);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 1, &made);
    on(made, "cart");
    MPI_Comm_free(&made);
    if (ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, world % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world % 2, 3, &between);
        MPI_Intercomm_merge(between, world % 2 == 0, &made);
        on(made, "merge");
        MPI_Comm_free(&made), MPI_Comm_free(&between), MPI_Comm_free(&half);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    rank = world, size = ranks, name = "attributes";
    attributes(0), attributes(1);
    name = "mistakes";
    mistakes();
    MPI_Comm_free(&comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Type_free(&below), MPI_Type_free(&holes), MPI_Type_free(&within), MPI_Type_free(&empty), MPI_Type_free(&backwards);
    MPI_Type_free(&turned), MPI_Type_free(&piece);
    free(members);
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
