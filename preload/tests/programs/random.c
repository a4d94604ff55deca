/* Random calls, alike on all ranks but for the datatypes: each rank takes its own, with as much data. Each call is made once more of messages,
 * and all memory has to be the same then, gaps and edges included. Several nonblocking ones are under way at a time, and end in any order.
 * Each rank says "all is well", or what is wrong.
 *
 * usage: random SEED CALLS */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, PENDING = 6, EDGE = 64 };
static int rank, wrong;

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static int below(uint64_t *state, int n) { return (int)(next(state) % (uint64_t)n); }

/* --- datatypes ---------------------------------------------------------------------------------------------------- */

/* Elements of one, two, three or six ints. Those of two have them at these places, for operations. */
static struct type { MPI_Datatype type; int per; MPI_Aint extent, at[2]; } types[16];
static int ntypes;
enum { PAIRS = 2, OTHERS = 6 };

static void add(MPI_Datatype type, int per, MPI_Aint first, MPI_Aint second) {
    MPI_Aint lower;
    struct type *new = &types[ntypes++];
    if (type != MPI_INT) MPI_Type_commit(&type);
    *new = (struct type){.type = type, .per = per, .at = {first, second}};
    MPI_Type_get_extent(type, &lower, &new->extent);
}

static void make_types(void) {
    MPI_Datatype type, pair;
    add(MPI_INT, 1, 0, 0);
    MPI_Type_create_resized(MPI_INT, -4, 12, &type), add(type, 1, 0, 0);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_dup(pair, &type), add(type, 2, 0, 4);
    MPI_Type_vector(2, 1, -2, MPI_INT, &type), add(type, 2, 0, -8);
    MPI_Type_indexed(2, (int[]){1, 1}, (int[]){3, 2}, MPI_INT, &type), add(type, 2, 12, 8);
    MPI_Type_create_resized(pair, -8, 24, &type), add(type, 2, 0, 4);
    MPI_Type_indexed(3, (int[]){1, 1, 1}, (int[]){2, 1, 0}, MPI_INT, &type), add(type, 3, 0, 0);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){-8, 4}, (MPI_Datatype[]){pair, MPI_INT}, &type), add(type, 3, 0, 0);
    MPI_Type_vector(3, 2, 4, MPI_INT, &type), add(type, 6, 0, 0);
    MPI_Type_create_subarray(2, (int[]){3, 4}, (int[]){2, 3}, (int[]){1, 1}, MPI_ORDER_C, MPI_INT, &type), add(type, 6, 0, 0);
#ifdef OPEN_MPI /* other MPIs crash */
    MPI_Type_create_resized(MPI_INT, 0, -8, &type), add(type, 1, 0, 0);
#endif
    MPI_Type_free(&pair);
}

/* One of them, of whose elements some make up so many ints. */
static struct type *type_of(int ints, uint64_t *own) {
    for (;;) {
        struct type *type = &types[below(own, ntypes)];
        if (ints % type->per == 0) return type;
    }
}

/* x -> a x + b after another such: does not commute. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *of) {
    struct type *type = types;
    while (type->type != *of) type++;
    for (int i = 0; i < *n; i++) {
        char *from = (char *)in + i * type->extent, *into = (char *)inout + i * type->extent;
        unsigned *a = (unsigned *)(into + type->at[0]), *b = (unsigned *)(into + type->at[1]);
        *b += *a * *(unsigned *)(from + type->at[1]), *a *= *(unsigned *)(from + type->at[0]);
    }
}
static MPI_Op operation;

/* --- calls -------------------------------------------------------------------------------------------------------- */

enum kind { BCAST, GATHERV, SCATTERV, ALLGATHERV, ALLTOALLV, ALLTOALLW, REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN, EXSCAN, KINDS };
static const char *const names[] = {"bcast", "gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter", "scan", "exscan"};

/* Elements of every rank in one memory: where each block is, in bytes. */
struct side { char *memory; size_t bytes; char *at; int n[MOST], places[MOST]; MPI_Datatype types[MOST]; MPI_Aint where[MOST]; };
struct call {
    enum kind kind;
    int number, nonblocking, root, rank, size, in_place;
    MPI_Comm comm;
    struct side sent, received;
    char *ours; /* what is received by the call itself */
    MPI_Op op;
    MPI_Request request;
};

static void reach(MPI_Datatype type, int n, MPI_Aint *low, MPI_Aint *high) {
    MPI_Aint lower, extent, first, span;
    MPI_Type_get_extent(type, &lower, &extent), MPI_Type_get_true_extent(type, &first, &span);
    MPI_Aint last = (n - 1) * extent;
    *low = first + (last < 0 ? last : 0), *high = first + span + (last > 0 ? last : 0);
}

/* Room for blocks of so many ints; those of a `w` call have their own datatypes and places in bytes, others one datatype. */
static void lay_out(struct side *side, const int *ints, int blocks, int unit, int each, uint64_t *own, struct type *given) {
    struct type *type = given ? given : type_of(unit, own);
    MPI_Aint low = 0, high = 0, end = 0;
    int reversed = below(own, 2), next_place = below(own, 3) - 1;
    for (int k = 0; k < blocks; k++) {
        int i = reversed ? blocks - 1 - k : k;
        if (each) type = type_of(unit, own);
        MPI_Aint from = 0, to = 0;
        side->types[i] = type->type, side->n[i] = ints[i] / type->per;
        if (side->n[i]) reach(type->type, side->n[i], &from, &to);
        side->where[i] = each ? end - from : next_place * type->extent;
        side->places[i] = each ? (int)side->where[i] : next_place;
        end += to - from + 4 * below(own, 4), next_place += side->n[i] + below(own, 2);
        if (!side->n[i]) continue;
        if (low > side->where[i] + from) low = side->where[i] + from;
        if (high < side->where[i] + to) high = side->where[i] + to;
    }
    side->bytes = (size_t)(high - low) + 2 * EDGE;
    side->memory = malloc(side->bytes);
    side->at = side->memory + EDGE - low;
    for (size_t i = 0; i < side->bytes; i++) side->memory[i] = (char)next(own);
}
#define LAID_OUT(side, ints, blocks, each) lay_out(&c->side, ints, blocks, unit, each, &own, given)

static struct call *draw(int number, uint64_t alike, MPI_Comm comm) {
    struct call *c = calloc(1, sizeof *c);
    uint64_t own = alike ^ (uint64_t)(rank + 1) << 32;
    int ours[MOST], theirs[MOST], mine, all = 0, unit = (int[]){1, 2, 6, 12}[below(&alike, 4)], most = below(&alike, 10) ? 40 : 800;
    struct type *given = NULL;
    c->number = number, c->comm = comm, c->request = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &c->rank), MPI_Comm_size(comm, &c->size);
    c->kind = (enum kind)below(&alike, KINDS), c->root = below(&alike, c->size), c->in_place = !below(&alike, 4);
#ifdef OPEN_MPI /* other MPIs make nonblocking calls themselves */
    c->nonblocking = below(&alike, 2);
#endif
    int is_reduction = c->kind >= REDUCE, is_root = c->rank == c->root, commutes = below(&alike, 2), even = c->in_place && c->kind >= ALLTOALLV && !is_reduction;
    if (is_reduction && !commutes) unit = 2;
    if (is_reduction) given = commutes ? types : &types[PAIRS + below(&own, OTHERS - PAIRS)];
    c->op = commutes ? MPI_SUM : operation;
    for (int i = 0; i < c->size; i++) { /* from i to this rank, and back */
        int pair[2] = {i * MOST + c->rank, c->rank * MOST + i};
        if (even) pair[0] = pair[1] = i < c->rank ? pair[0] : pair[1];
        uint64_t seeds[2] = {alike + (uint64_t)pair[0] * 977, alike + (uint64_t)pair[1] * 977};
        if (c->kind != ALLTOALLV && c->kind != ALLTOALLW) seeds[0] = seeds[1] = alike + (uint64_t)i * 977;
        ours[i] = unit * below(&seeds[0], most), theirs[i] = unit * below(&seeds[1], most);
        all += ours[i];
    }
    mine = ours[c->rank];
    switch (c->kind) {
    case BCAST: LAID_OUT(received, ours, 1, 0); c->in_place = 0; break;
    case GATHERV: c->in_place &= is_root; if (!c->in_place) LAID_OUT(sent, &mine, 1, 0); if (is_root) LAID_OUT(received, ours, c->size, 0); break;
    case SCATTERV: c->in_place &= is_root; if (!c->in_place) LAID_OUT(received, &mine, 1, 0); if (is_root) LAID_OUT(sent, ours, c->size, 0); break;
    case ALLGATHERV: if (!c->in_place) LAID_OUT(sent, &mine, 1, 0); LAID_OUT(received, ours, c->size, 0); break;
    case ALLTOALLV: case ALLTOALLW: if (!c->in_place) LAID_OUT(sent, theirs, c->size, c->kind == ALLTOALLW); LAID_OUT(received, ours, c->size, c->kind == ALLTOALLW); break;
    case REDUCE_SCATTER: c->in_place = 0; LAID_OUT(sent, &all, 1, 0); LAID_OUT(received, &mine, 1, 0); for (int i = 0; i < c->size; i++) c->received.n[i] = ours[i] / given->per; break;
    default: if (c->kind == REDUCE) c->in_place &= is_root; if (!c->in_place) LAID_OUT(sent, ours, 1, 0); LAID_OUT(received, ours, 1, 0);
    }
    return c;
}

/* --- made of messages --------------------------------------------------------------------------------------------- */

static MPI_Request requests[2 * MOST];
static int started;

static void send_to(const struct call *c, int to, const struct side *from, const char *at, int block) {
    MPI_Isend(at + from->where[block], from->n[block], from->types[block], to, 1, c->comm, &requests[started++]);
}
static void receive_from(const struct call *c, int from, const struct side *into, int block) {
    MPI_Irecv(into->at + into->where[block], into->n[block], into->types[block], from, 1, c->comm, &requests[started++]);
}
static void wait_for_messages(void) { MPI_Waitall(started, requests, MPI_STATUSES_IGNORE), started = 0; }

/* Every rank gets what all have, and combines it in order. */
static void reduce(struct call *c, const struct side *own) {
    struct side all[MOST];
    int to = c->kind == SCAN ? c->rank : c->kind == EXSCAN ? c->rank - 1 : c->size - 1;
    for (int i = 0; i < c->size; i++) {
        all[i] = *own, all[i].memory = malloc(own->bytes), all[i].at = all[i].memory + (own->at - own->memory);
        receive_from(c, i, &all[i], 0), send_to(c, i, own, own->at, 0);
    }
    wait_for_messages();
    for (int i = 0; i < to; i++)
        MPI_Reduce_local(all[i].at + own->where[0], all[i + 1].at + own->where[0], own->n[0], own->types[0], c->op);
    if (to >= 0 && (c->kind != REDUCE || c->rank == c->root)) {
        int mine = c->kind == REDUCE_SCATTER ? c->rank : 0, before = 0;
        MPI_Aint lower, extent;
        for (int i = 0; i < mine; i++) before += c->received.n[i];
        MPI_Type_get_extent(own->types[0], &lower, &extent);
        MPI_Sendrecv(all[to].at + own->where[0] + before * extent, c->received.n[mine], own->types[0], 0, 1, c->received.at + c->received.where[0],
                     c->received.n[mine], own->types[0], 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < c->size; i++) free(all[i].memory);
}

static void make_of_messages(struct call *c) {
    int is_root = c->rank == c->root, me = c->rank;
    struct side *sent = &c->sent, *received = &c->received;
    /* In place, what is sent is a copy of what is received into. */
    char *copy = received->memory ? malloc(received->bytes) : NULL, *at = copy + (received->at - received->memory);
    if (copy) memcpy(copy, received->memory, received->bytes);
    switch (c->kind) {
    case BCAST:
        for (int i = 0; is_root && i < c->size; i++)
            if (i != me) send_to(c, i, received, received->at, 0);
        if (!is_root) receive_from(c, c->root, received, 0);
        break;
    case GATHERV:
        for (int i = 0; is_root && i < c->size; i++)
            if (i != me || !c->in_place) receive_from(c, i, received, i);
        if (!c->in_place) send_to(c, c->root, sent, sent->at, 0);
        break;
    case SCATTERV:
        for (int i = 0; is_root && i < c->size; i++)
            if (i != me || !c->in_place) send_to(c, i, sent, sent->at, i);
        if (!c->in_place) receive_from(c, c->root, received, 0);
        break;
    case ALLGATHERV:
        for (int i = 0; i < c->size; i++) {
            receive_from(c, i, received, i);
            c->in_place ? send_to(c, i, received, at, me) : send_to(c, i, sent, sent->at, 0);
        }
        break;
    case ALLTOALLV:
    case ALLTOALLW:
        for (int i = 0; i < c->size; i++) {
            receive_from(c, i, received, i);
            c->in_place ? send_to(c, i, received, at, i) : send_to(c, i, sent, sent->at, i);
        }
        break;
    default: reduce(c, c->in_place ? received : sent);
    }
    wait_for_messages();
    free(copy);
}

/* --- made by MPI -------------------------------------------------------------------------------------------------- */

#define CALL(name, iname, ...)                                                                                       \
    do {                                                                                                             \
        if (c->nonblocking) MPI_##iname(__VA_ARGS__, c->comm, &c->request);                                          \
        else MPI_##name(__VA_ARGS__, c->comm);                                                                       \
    } while (0)

static void make(struct call *c) {
    struct side *s = &c->sent, *r = &c->received;
    c->ours = r->memory ? malloc(r->bytes) : NULL;
    if (c->ours) memcpy(c->ours, r->memory, r->bytes);
    char *into = c->ours ? c->ours + (r->at - r->memory) : NULL;
    const void *from = c->in_place ? MPI_IN_PLACE : s->at;
    /* Those that have but one block have it at its address. */
    char *one = into + r->where[0];
    const void *own = c->in_place ? MPI_IN_PLACE : s->at + s->where[0];
    switch (c->kind) {
    case BCAST: CALL(Bcast, Ibcast, one, r->n[0], r->types[0], c->root); break;
    case GATHERV: CALL(Gatherv, Igatherv, own, s->n[0], s->types[0], into, r->n, r->places, r->types[0], c->root); break;
    case SCATTERV: CALL(Scatterv, Iscatterv, s->at, s->n, s->places, s->types[0], c->in_place ? MPI_IN_PLACE : one, r->n[0], r->types[0], c->root); break;
    case ALLGATHERV: CALL(Allgatherv, Iallgatherv, own, s->n[0], s->types[0], into, r->n, r->places, r->types[0]); break;
    case ALLTOALLV: CALL(Alltoallv, Ialltoallv, from, s->n, s->places, s->types[0], into, r->n, r->places, r->types[0]); break;
    case ALLTOALLW: CALL(Alltoallw, Ialltoallw, from, s->n, s->places, s->types, into, r->n, r->places, r->types); break;
    case REDUCE: CALL(Reduce, Ireduce, own, one, (c->in_place ? r : s)->n[0], (c->in_place ? r : s)->types[0], c->op, c->root); break;
    case ALLREDUCE: CALL(Allreduce, Iallreduce, own, one, r->n[0], r->types[0], c->op); break;
    case REDUCE_SCATTER: CALL(Reduce_scatter, Ireduce_scatter, own, one, r->n, s->types[0], c->op); break;
    case SCAN: CALL(Scan, Iscan, own, one, r->n[0], r->types[0], c->op); break;
    default: CALL(Exscan, Iexscan, own, one, r->n[0], r->types[0], c->op);
    }
}

/* The call is over. */
static void compare(struct call *c) {
    /* What the first rank has of an exclusive scan is undefined. */
    int undefined = c->kind == EXSCAN && c->rank == 0;
    make_of_messages(c);
    if (c->ours && !undefined && memcmp(c->ours, c->received.memory, c->received.bytes)) {
        printf("rank %d: wrong: call %d, %s%s of %d ranks\n", rank, c->number, names[c->kind], c->in_place ? " in place" : "", c->size);
        fflush(stdout), wrong = 1;
    }
    free(c->sent.memory), free(c->received.memory), free(c->ours), free(c);
}

/* All calls that are under way, in an order of this rank's; then they are made of messages, in the order of all. */
static void finish(struct call **calls, int n, uint64_t *own) {
    MPI_Request pending[PENDING];
    int left = n, at[PENDING], over = 0;
    for (int i = 0; i < n; i++) pending[i] = calls[i]->request;
    while (left > 0) {
        switch (below(own, 4)) {
        case 0: MPI_Waitany(n, pending, at, MPI_STATUS_IGNORE), left--; break;
        case 1: MPI_Waitsome(n, pending, &over, at, MPI_STATUSES_IGNORE), left -= over; break;
        case 2: MPI_Testany(n, pending, at, &over, MPI_STATUS_IGNORE), left -= over; break;
        default: MPI_Waitall(n, pending, MPI_STATUSES_IGNORE), left = 0;
        }
    }
    for (int i = 0; i < n; i++) compare(calls[i]);
}

int main(int argc, char **argv) {
    MPI_Comm comms[3];
    struct call *pending[PENDING];
    int size, n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t alike = argc > 2 ? strtoull(argv[1], NULL, 10) : 1, own = alike * MOST + (uint64_t)rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, size > 3 ? rank % 2 : 0, rank * 5 % 7, &comms[2]);
    make_types();
    MPI_Op_create(compose, 0, &operation);
    for (int number = 0; number < (argc > 2 ? atoi(argv[2]) : 1); number++) {
        MPI_Comm comm = comms[below(&alike, 3)];
        struct call *c = draw(number, next(&alike), comm);
        make(c);
        if (c->nonblocking) pending[n++] = c;
        else compare(c);
        if (n == PENDING || number % 7 == 6) finish(pending, n, &own), n = 0;
    }
    finish(pending, n, &own);
    MPI_Op_free(&operation);
    for (int i = ntypes - 1; i > 0; i--) MPI_Type_free(&types[i].type);
    for (int i = 0; i < 3; i++) MPI_Comm_free(&comms[i]);
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
