/* Makes all collective calls, with odd datatypes, and says what came of each: a line a call, with a hash of all memory that was
 * passed, gaps included. Natively and through hypercoll it must say the same. Numbers are small, so that sums are exact in any order.
 *
 * usage: collectives PREFIX      rank r writes PREFIX.r */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out;
static int rank, size;
static MPI_Comm comm;

static uint64_t hash(const void *memory, size_t bytes) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ ((const unsigned char *)memory)[i]) * 1099511628211u;
    return hash;
}

/* Datatypes, all of whose elements are of `base` ones. */
struct type {
    const char *name;
    MPI_Datatype type, base;
    int per;      /* base elements in an element */
    size_t space; /* bytes from one element to the next that is surely behind it */
    size_t more;  /* bytes that the last element needs beyond that */
};

static struct type types[12];
static int ntypes;

static void add(const char *name, MPI_Datatype type, MPI_Datatype base, int per, size_t space, size_t more) {
    if (type != base) MPI_Type_commit(&type);
    types[ntypes++] = (struct type){name, type, base, per, space, more};
}

static void make_types(void) {
    MPI_Datatype type, inner;
    add("int", MPI_INT, MPI_INT, 1, 4, 0);
    add("double", MPI_DOUBLE, MPI_DOUBLE, 1, 8, 0);
    MPI_Type_contiguous(3, MPI_INT, &type);
    add("contiguous", type, MPI_INT, 3, 12, 0);
    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    add("vector", type, MPI_INT, 6, 48, 0);
    MPI_Type_create_resized(MPI_INT, 0, 12, &type);
    add("resized", type, MPI_INT, 1, 12, 0);
    /* Fills its place, backwards. */
    MPI_Type_indexed(3, (int[]){1, 1, 1}, (int[]){2, 1, 0}, MPI_INT, &type);
    add("backwards", type, MPI_INT, 3, 12, 0);
    /* Fills its place in order. */
    MPI_Type_indexed(2, (int[]){1, 2}, (int[]){0, 1}, MPI_INT, &type);
    add("indexed", type, MPI_INT, 3, 12, 0);
    /* Begins behind its address. */
    MPI_Type_indexed(1, (int[]){2}, (int[]){3}, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, 24, &type);
    MPI_Type_free(&inner);
    add("behind", type, MPI_INT, 2, 24, 0);
#ifndef I_MPI_VERSION
    /* Columns of a matrix: elements lie within each other. Intel's own gather copies them to where it has room for their extents only,
     * and crashes. */
    MPI_Type_vector(4, 1, 1000, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, 4, &type);
    MPI_Type_free(&inner);
    add("columns", type, MPI_INT, 4, 4, 16000);
#endif
}

static struct {
    unsigned char *send, *receive;
    size_t bytes;
} memory;

/* Fresh memory for so many elements, with numbers of this rank's to send, and others where it receives: what is taken from there in
 * place, and what is to stay as it is, differs from one element to the next. */
static void fresh(size_t elements, struct type *type) {
    memory.bytes = (elements + 1) * type->space + type->more + 256;
    memory.send = realloc(memory.send, memory.bytes);
    memory.receive = realloc(memory.receive, memory.bytes);
    for (size_t i = 0; i < memory.bytes; i++) {
        memory.send[i] = (unsigned char)(7 * i + 31 * rank + (i >> 8));
        memory.receive[i] = (unsigned char)(11 * i + 17 * rank + (i >> 7) + 3);
    }
}

static void say(const char *call, int root, int count, struct type *type) {
    fprintf(out, "%s root %d count %d %s: %016llx %016llx\n", call, root, count, type ? type->name : "-",
            (unsigned long long)hash(memory.send, memory.bytes), (unsigned long long)hash(memory.receive, memory.bytes));
}

static const int counts[] = {0, 1, 3, 100};

static void moving(void) {
    int *numbers = malloc(2 * size * sizeof(int)), *places = numbers + size;
    for (int t = 0; t < ntypes; t++)
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct type *type = &types[t];
            int count = counts[c], all = count * size;
            for (int root = 0; root < size; root++) {
                fresh(count, type);
                if (rank == root) memcpy(memory.receive, memory.send, memory.bytes);
                /* The others may say it in another way. */
                if (rank % 2 == root % 2 || type->more) MPI_Bcast(memory.receive, count, type->type, root, comm);
                else MPI_Bcast(memory.receive, count * type->per, type->base, root, comm);
                say("bcast", root, count, type);

                fresh(all, type);
                MPI_Gather(memory.send, count, type->type, rank == root ? memory.receive : NULL, count, type->type, root, comm);
                say("gather", root, count, type);
                fresh(all, type);
                if (rank == root) MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, memory.receive, count, type->type, root, comm);
                else MPI_Gather(memory.send, count * type->per, type->base, NULL, 0, MPI_DATATYPE_NULL, root, comm);
                say("gather in place", root, count, type);
                fresh(all, type);
                MPI_Scatter(rank == root ? memory.send : NULL, count, type->type, memory.receive, count, type->type, root, comm);
                say("scatter", root, count, type);
                fresh(all, type);
                if (rank == root) MPI_Scatter(memory.send, count, type->type, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm);
                else MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, memory.receive, count * type->per, type->base, root, comm);
                say("scatter in place", root, count, type);

                /* Blocks of different lengths, in the order of ranks from the last to the first, with gaps. */
                int place = 1;
                for (int r = size - 1; r >= 0; r--) {
                    numbers[r] = count ? (count + 3 * r) % 7 : 0;
                    places[r] = place;
                    place += numbers[r] + 1;
                }
                {
                    fresh(place, type);
                    MPI_Gatherv(memory.send, numbers[rank], type->type, memory.receive, numbers, places, type->type, root, comm);
                    say("gatherv", root, count, type);
                    fresh(place, type);
                    if (rank == root) MPI_Gatherv(MPI_IN_PLACE, 0, type->type, memory.receive, numbers, places, type->type, root, comm);
                    else MPI_Gatherv(memory.send, numbers[rank], type->type, NULL, NULL, NULL, type->type, root, comm);
                    say("gatherv in place", root, count, type);
                    fresh(place, type);
                    MPI_Scatterv(memory.send, numbers, places, type->type, memory.receive, numbers[rank], type->type, root, comm);
                    say("scatterv", root, count, type);
                    fresh(place, type);
                    if (rank == root) MPI_Scatterv(memory.send, numbers, places, type->type, MPI_IN_PLACE, 0, type->type, root, comm);
                    else MPI_Scatterv(NULL, NULL, NULL, type->type, memory.receive, numbers[rank], type->type, root, comm);
                    say("scatterv in place", root, count, type);
                    /* Displacements below the address that is passed. */
                    fresh(place + 4, type);
                    for (int r = 0; r < size; r++) places[r] -= 3;
                    MPI_Gatherv(memory.send, numbers[rank], type->type, memory.receive + 3 * (MPI_Aint)type->space, numbers, places, type->type, root, comm);
                    say("gatherv below", root, count, type);
                }
            }
            fresh(all, type);
            MPI_Allgather(memory.send, count, type->type, memory.receive, count, type->type, comm);
            say("allgather", 0, count, type);
            fresh(all, type);
            memcpy(memory.receive, memory.send, memory.bytes);
            MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory.receive, count, type->type, comm);
            say("allgather in place", 0, count, type);
            fresh(all, type);
            MPI_Alltoall(memory.send, count, type->type, memory.receive, count * type->per, type->base, comm);
            say("alltoall", 0, count, type);
            fresh(all, type);
            memcpy(memory.receive, memory.send, memory.bytes);
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory.receive, count, type->type, comm);
            say("alltoall in place", 0, count, type);
            int place = 0;
            for (int r = size - 1; r >= 0; r--) {
                numbers[r] = count ? (count + 3 * r) % 7 : 0;
                places[r] = place;
                place += numbers[r] + 1;
            }
            fresh(place, type);
            MPI_Allgatherv(memory.send, numbers[rank], type->type, memory.receive, numbers, places, type->type, comm);
            say("allgatherv", 0, count, type);
            fresh(place, type);
            memcpy(memory.receive, memory.send, memory.bytes);
            MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory.receive, numbers, places, type->type, comm);
            say("allgatherv in place", 0, count, type);
            /* From i to j go (i + 2 j + count) % 5 elements. */
            int *sent = malloc(4 * size * sizeof(int)), *from = sent + size, *received = from + size, *at = received + size;
            int end = 0, end2 = 0;
            for (int r = 0; r < size; r++) {
                sent[r] = count ? (rank + 2 * r + count) % 5 : 0;
                received[r] = count ? (r + 2 * rank + count) % 5 : 0;
                from[r] = end, at[r] = end2;
                end += sent[r], end2 += received[r] + 1;
            }
            fresh(end > end2 ? end : end2, type);
            MPI_Alltoallv(memory.send, sent, from, type->type, memory.receive, received, at, type->type, comm);
            say("alltoallv", 0, count, type);
            /* In place, as many both ways. */
            end = 0;
            for (int r = 0; r < size; r++) {
                received[r] = count ? (r + rank + count) % 5 : 0;
                at[r] = end;
                end += received[r] + 1;
            }
            fresh(end, type);
            memcpy(memory.receive, memory.send, memory.bytes);
            MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, memory.receive, received, at, type->type, comm);
            say("alltoallv in place", 0, count, type);
            /* Each block of a type of its own: to even ranks of this type, to odd ones of its base. */
            MPI_Datatype *sent_types = malloc(2 * size * sizeof *sent_types), *received_types = sent_types + size;
            MPI_Aint lower, extent;
            MPI_Type_get_extent(type->type, &lower, &extent);
            end = end2 = 0;
            for (int r = 0; r < size; r++) {
                int many = count ? (rank + 2 * r + count) % 3 : 0, many2 = count ? (r + 2 * rank + count) % 3 : 0;
                sent_types[r] = r % 2 ? type->base : type->type;
                sent[r] = r % 2 ? many * type->per : many;
                from[r] = end * (int)extent;
                received_types[r] = r % 2 ? type->type : type->base;
                received[r] = r % 2 ? many2 : many2 * type->per;
                at[r] = end2 * (int)extent;
                end += many * type->per + 1, end2 += many2 * type->per + 1;
            }
            fresh(end > end2 ? end : end2, type);
            MPI_Alltoallw(memory.send, sent, from, sent_types, memory.receive, received, at, received_types, comm);
            say("alltoallw", 0, count, type);
            free(sent);
            free(sent_types);
        }
    free(numbers);
}

/* --- reductions ------------------------------------------------------------------------------------------------- */

struct operation {
    const char *name;
    MPI_Op op;
};

/* Those of Fortran that are asked for by precision or range, and more that not every MPI has. */
static MPI_Datatype integer_of_9_digits, real_of_15_digits, complex_of_6_digits, logical_of_1_byte, logical_of_8_bytes;

/* Fills `n` elements of a predefined type with small numbers of this rank's. */
#define FILL(type, value)                                                                                            \
    for (int i = 0; i < n; i++) ((type *)memory.send)[i] = (type)(value);

static void fill(MPI_Datatype type, int n) {
    int x = rank + 1;
    memset(memory.send, 0, memory.bytes);
    if (type == MPI_INT || type == MPI_INTEGER || type == integer_of_9_digits) { FILL(int, (x * (i + 3)) % 5 + (i % 2)) }
    else if (type == MPI_LONG || type == MPI_INT64_T || type == MPI_LONG_LONG || type == MPI_AINT || type == MPI_OFFSET || type == MPI_COUNT || type == MPI_INTEGER8) { FILL(int64_t, (x * (i + 3)) % 5 - 1) }
    else if (type == MPI_UNSIGNED || type == MPI_UINT32_T) { FILL(unsigned, (x * (i + 3)) % 7) }
    else if (type == MPI_UNSIGNED_LONG || type == MPI_UINT64_T) { FILL(uint64_t, (x * (i + 3)) % 7) }
    else if (type == MPI_SHORT || type == MPI_INT16_T) { FILL(short, (x * (i + 3)) % 5 - 2) }
    else if (type == MPI_UNSIGNED_SHORT || type == MPI_UINT16_T) { FILL(unsigned short, (x * (i + 3)) % 5) }
    else if (type == MPI_SIGNED_CHAR || type == MPI_INT8_T) { FILL(signed char, (x * (i + 3)) % 3 - 1) }
    else if (type == MPI_UNSIGNED_CHAR || type == MPI_UINT8_T || type == MPI_BYTE) { FILL(unsigned char, (x * (i + 3)) % 3) }
    else if (type == MPI_FLOAT || type == MPI_REAL) { FILL(float, (x * (i + 3)) % 5 - 2) }
    else if (type == MPI_DOUBLE || type == MPI_DOUBLE_PRECISION || type == real_of_15_digits) { FILL(double, (x * (i + 3)) % 5 - 2) }
    else if (type == MPI_LONG_DOUBLE) { FILL(long double, (x * (i + 3)) % 5 - 2) }
    else if (type == MPI_C_BOOL) { FILL(_Bool, (x * (i + 3)) % 2) }
    else if (type == MPI_LOGICAL) { FILL(int, (x * (i + 3)) % 2) }
    else if (type == logical_of_1_byte) { FILL(char, (x * (i + 3)) % 2) }
    else if (type == logical_of_8_bytes) { FILL(int64_t, (x * (i + 3)) % 2) }
    else if (type == MPI_C_FLOAT_COMPLEX || type == MPI_COMPLEX || type == complex_of_6_digits) { n *= 2; FILL(float, (x * (i + 3)) % 3 - 1) }
    else if (type == MPI_C_DOUBLE_COMPLEX || type == MPI_DOUBLE_COMPLEX) { n *= 2; FILL(double, (x * (i + 3)) % 3 - 1) }
    else if (type == MPI_2INT || type == MPI_2INTEGER) { for (int i = 0; i < n; i++) ((int *)memory.send)[2 * i] = (x * (i + 3)) % 3, ((int *)memory.send)[2 * i + 1] = rank; }
    else if (type == MPI_FLOAT_INT) { struct { float a; int b; } *p = (void *)memory.send; for (int i = 0; i < n; i++) p[i].a = (x * (i + 3)) % 3, p[i].b = rank; }
    else if (type == MPI_DOUBLE_INT) { struct { double a; int b; } *p = (void *)memory.send; for (int i = 0; i < n; i++) p[i].a = (x * (i + 3)) % 3, p[i].b = rank; }
    else if (type == MPI_LONG_INT) { struct { long a; int b; } *p = (void *)memory.send; for (int i = 0; i < n; i++) p[i].a = (x * (i + 3)) % 3, p[i].b = rank; }
    else if (type == MPI_SHORT_INT) { struct { short a; int b; } *p = (void *)memory.send; for (int i = 0; i < n; i++) p[i].a = (x * (i + 3)) % 3, p[i].b = rank; }
    else if (type == MPI_LONG_DOUBLE_INT) { struct { long double a; int b; } *p = (void *)memory.send; for (int i = 0; i < n; i++) p[i].a = (x * (i + 3)) % 3, p[i].b = rank; }
    else if (type == MPI_2REAL) { for (int i = 0; i < n; i++) ((float *)memory.send)[2 * i] = (x * (i + 3)) % 3, ((float *)memory.send)[2 * i + 1] = rank; }
    else if (type == MPI_2DOUBLE_PRECISION) { for (int i = 0; i < n; i++) ((double *)memory.send)[2 * i] = (x * (i + 3)) % 3, ((double *)memory.send)[2 * i + 1] = rank; }
    else { fprintf(stderr, "no numbers for a type\n"); MPI_Abort(MPI_COMM_WORLD, 1); }
}

static void (*prepare)(MPI_Datatype, int) = fill;

/* In products of complex numbers the sign of a zero depends on the order. */
static void without_signs_of_zeros(MPI_Datatype type) {
    if (type == MPI_C_FLOAT_COMPLEX || type == MPI_COMPLEX || type == complex_of_6_digits)
        for (size_t i = 0; i < memory.bytes / sizeof(float); i++) ((float *)memory.receive)[i] += 0.0f;
    if (type == MPI_C_DOUBLE_COMPLEX || type == MPI_DOUBLE_COMPLEX)
        for (size_t i = 0; i < memory.bytes / sizeof(double); i++) ((double *)memory.receive)[i] += 0.0;
}

/* All reductions of `count` elements; the memory of an element is `space` bytes at most. */
static void reductions(struct operation *operation, MPI_Datatype datatype, const char *name, size_t space, int count) {
    struct type type = {name, datatype, datatype, 1, space, 0};
    MPI_Op op = operation->op;
    char call[100];
#define CALL(what) without_signs_of_zeros(datatype), snprintf(call, sizeof call, "%s %s", operation->name, what)
#define FRESH(n) fresh(n, &type), prepare(datatype, n)
    for (int root = 0; root < size; root += size > 2 ? 2 : 1) {
        FRESH(count);
        MPI_Reduce(memory.send, rank == root ? memory.receive : NULL, count, datatype, op, root, comm);
        CALL("reduce"), say(call, root, count, &type);
        FRESH(count);
        memcpy(memory.receive, memory.send, memory.bytes);
        if (rank == root) MPI_Reduce(MPI_IN_PLACE, memory.receive, count, datatype, op, root, comm);
        else MPI_Reduce(memory.send, NULL, count, datatype, op, root, comm);
        CALL("reduce in place"), say(call, root, count, &type);
    }
    FRESH(count);
    MPI_Allreduce(memory.send, memory.receive, count, datatype, op, comm);
    CALL("allreduce"), say(call, 0, count, &type);
    FRESH(count);
    memcpy(memory.receive, memory.send, memory.bytes);
    MPI_Allreduce(MPI_IN_PLACE, memory.receive, count, datatype, op, comm);
    CALL("allreduce in place"), say(call, 0, count, &type);
    FRESH(count);
    MPI_Scan(memory.send, memory.receive, count, datatype, op, comm);
    CALL("scan"), say(call, 0, count, &type);
    FRESH(count);
    memcpy(memory.receive, memory.send, memory.bytes);
    MPI_Scan(MPI_IN_PLACE, memory.receive, count, datatype, op, comm);
    CALL("scan in place"), say(call, 0, count, &type);
    FRESH(count);
    MPI_Exscan(memory.send, memory.receive, count, datatype, op, comm);
    if (rank == 0) memset(memory.receive, 0, memory.bytes);
    CALL("exscan"), say(call, 0, count, &type);
    FRESH(count);
    memcpy(memory.receive, memory.send, memory.bytes);
    MPI_Exscan(MPI_IN_PLACE, memory.receive, count, datatype, op, comm);
    if (rank == 0) memset(memory.receive, 0, memory.bytes);
    CALL("exscan in place"), say(call, 0, count, &type);
#ifndef OPEN_MPI
    /* For operations that do not commute, MPICH has room of its own for elements without their gaps, and writes beyond it. */
    if (strcmp(name, "apart"))
#endif
    {
        FRESH(count * size);
        MPI_Reduce_scatter_block(memory.send, memory.receive, count, datatype, op, comm);
        CALL("reduce_scatter_block"), say(call, 0, count, &type);
        /* In place, what lies behind the result is undefined. */
        FRESH(count * size);
        memcpy(memory.receive, memory.send, memory.bytes);
        MPI_Reduce_scatter_block(MPI_IN_PLACE, memory.receive, count, datatype, op, comm);
        memory.bytes = count * space < memory.bytes ? count * space : memory.bytes;
        CALL("reduce_scatter_block in place"), say(call, 0, count, &type);
    }
    int *numbers = malloc(size * sizeof(int)), sum = 0;
    for (int r = 0; r < size; r++) sum += numbers[r] = count ? (count + 3 * r) % 7 : 0;
    FRESH(sum);
    MPI_Reduce_scatter(memory.send, memory.receive, numbers, datatype, op, comm);
    CALL("reduce_scatter"), say(call, 0, count, &type);
    FRESH(sum);
    memcpy(memory.receive, memory.send, memory.bytes);
    MPI_Reduce_scatter(MPI_IN_PLACE, memory.receive, numbers, datatype, op, comm);
    memory.bytes = numbers[rank] * space < memory.bytes ? numbers[rank] * space : memory.bytes;
    CALL("reduce_scatter in place"), say(call, 0, count, &type);
    free(numbers);
}

static void predefined(void) {
    struct operation arithmetic[] = {{"sum", MPI_SUM}, {"prod", MPI_PROD}}, order[] = {{"max", MPI_MAX}, {"min", MPI_MIN}},
                     logical[] = {{"land", MPI_LAND}, {"lor", MPI_LOR}, {"lxor", MPI_LXOR}},
                     bits[] = {{"band", MPI_BAND}, {"bor", MPI_BOR}, {"bxor", MPI_BXOR}},
                     places[] = {{"minloc", MPI_MINLOC}, {"maxloc", MPI_MAXLOC}};
#define ALL(list, type, space)                                                                                       \
    for (unsigned o = 0; o < sizeof list / sizeof *list; o++)                                                        \
        for (int count = 0; count < 12; count += 5) reductions(&list[o], type, #type, space, count);
#define INTEGER(type, space) ALL(arithmetic, type, space) ALL(order, type, space) ALL(logical, type, space) ALL(bits, type, space)
#define FORTRAN_INTEGER(type, space) ALL(arithmetic, type, space) ALL(order, type, space) ALL(bits, type, space)
#define FLOATING(type, space) ALL(arithmetic, type, space) ALL(order, type, space)
    INTEGER(MPI_INT, 4) INTEGER(MPI_LONG, 8) INTEGER(MPI_LONG_LONG, 8) INTEGER(MPI_INT64_T, 8) INTEGER(MPI_UNSIGNED, 4)
    INTEGER(MPI_UINT32_T, 4) INTEGER(MPI_UNSIGNED_LONG, 8) INTEGER(MPI_UINT64_T, 8) INTEGER(MPI_SHORT, 2) INTEGER(MPI_INT16_T, 2)
    INTEGER(MPI_UNSIGNED_SHORT, 2) INTEGER(MPI_UINT16_T, 2) INTEGER(MPI_SIGNED_CHAR, 1) INTEGER(MPI_INT8_T, 1)
    INTEGER(MPI_UNSIGNED_CHAR, 1) INTEGER(MPI_UINT8_T, 1)
    FORTRAN_INTEGER(MPI_AINT, 8) FORTRAN_INTEGER(MPI_OFFSET, 8) FORTRAN_INTEGER(MPI_COUNT, 8)
    FORTRAN_INTEGER(MPI_INTEGER, 4) FORTRAN_INTEGER(MPI_INTEGER8, 8)
    FLOATING(MPI_FLOAT, 4) FLOATING(MPI_DOUBLE, 8) FLOATING(MPI_LONG_DOUBLE, 16) FLOATING(MPI_REAL, 4) FLOATING(MPI_DOUBLE_PRECISION, 8)
    ALL(arithmetic, MPI_C_FLOAT_COMPLEX, 8) ALL(arithmetic, MPI_C_DOUBLE_COMPLEX, 16)
    ALL(arithmetic, MPI_COMPLEX, 8) ALL(arithmetic, MPI_DOUBLE_COMPLEX, 16)
    ALL(logical, MPI_C_BOOL, 1) ALL(logical, MPI_LOGICAL, 4) ALL(bits, MPI_BYTE, 1)
    ALL(places, MPI_2INT, 8) ALL(places, MPI_FLOAT_INT, 8) ALL(places, MPI_DOUBLE_INT, 16) ALL(places, MPI_LONG_INT, 16)
    ALL(places, MPI_SHORT_INT, 8) ALL(places, MPI_LONG_DOUBLE_INT, 32) ALL(places, MPI_2INTEGER, 8) ALL(places, MPI_2REAL, 8)
    ALL(places, MPI_2DOUBLE_PRECISION, 16)
    /* (An MPI without Fortran need not have them.) */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int are_there = MPI_Type_create_f90_integer(9, &integer_of_9_digits) == MPI_SUCCESS
        && MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real_of_15_digits) == MPI_SUCCESS
        && MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex_of_6_digits) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (are_there) {
        FORTRAN_INTEGER(integer_of_9_digits, 4) FLOATING(real_of_15_digits, 8) ALL(arithmetic, complex_of_6_digits, 8)
    }
#if defined(OPEN_MPI) && defined(MPI_LOGICAL1) && defined(MPI_LOGICAL8)
    logical_of_1_byte = MPI_LOGICAL1, logical_of_8_bytes = MPI_LOGICAL8;
    ALL(logical, logical_of_1_byte, 1) ALL(logical, logical_of_8_bytes, 8)
#endif
}

/* Does not commute: maps x -> a x + b modulo a prime, one after the other. Elements lie `stride` pairs apart. */
static int stride;

static void compose(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    unsigned (*left)[2] = in, (*right)[2] = inout;
    for (int i = 0; i < *len; i++) {
        unsigned a = left[i * stride][0], b = left[i * stride][1], c = right[i * stride][0], d = right[i * stride][1];
        right[i * stride][0] = a * c % 65521, right[i * stride][1] = (a * d + b) % 65521;
    }
}

static void numbers_of_rank(MPI_Datatype type, int n) {
    (void)type;
    for (int i = 0; i < n * stride; i++) ((unsigned *)memory.send)[2 * i] = rank + 2 + i, ((unsigned *)memory.send)[2 * i + 1] = 5 * rank + 1;
}

static void own_operations(void) {
    MPI_Datatype pair, apart;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_create_resized(pair, 0, 24, &apart);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&apart);
    prepare = numbers_of_rank;
    struct operation own = {"compose", MPI_OP_NULL};
    MPI_Op_create(compose, 0, &own.op);
    for (int count = 0; count < 2000; count = count * 7 + 1) {
        stride = 1;
        reductions(&own, pair, "pair", 8, count);
        stride = 3;
        reductions(&own, apart, "apart", 24, count);
    }
    MPI_Op_free(&own.op);
    prepare = fill;
    MPI_Type_free(&pair);
    MPI_Type_free(&apart);
}

static void all(MPI_Comm which, const char *name, int everything) {
    comm = which;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    fprintf(out, "--- %s: rank %d of %d\n", name, rank, size);
    MPI_Barrier(comm);
    moving();
    own_operations();
    if (everything) predefined();
    MPI_Barrier(comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    char name[1000];
    int world;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    snprintf(name, sizeof name, "%s.%d", argc > 1 ? argv[1] : "collectives", world);
    out = fopen(name, "w");
    if (!out) MPI_Abort(MPI_COMM_WORLD, 1);
    make_types();
    all(MPI_COMM_WORLD, "world", 1);
    all(MPI_COMM_SELF, "self", 0);
    MPI_Comm other;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &other);
    all(other, "backwards", 0);
    MPI_Comm_free(&other);
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, 0, &other);
    all(other, "every second", 0);
    MPI_Comm_free(&other);
    /* Many, which come and go, and of which some stay. */
    MPI_Comm many[20];
    for (int i = 0; i < 200; i++) {
        if (i >= 20) MPI_Comm_free(&many[i % 20]);
        MPI_Comm_dup(i % 3 ? MPI_COMM_WORLD : MPI_COMM_SELF, &many[i % 20]);
        int mine = world + i, sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, many[i % 20]);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, many[(i + 7) % 20 <= i ? (i + 7) % 20 : i % 20]);
        fprintf(out, "many %d: %d\n", i, sum);
    }
    for (int t = 2; t < ntypes; t++) MPI_Type_free(&types[t].type);
    fclose(out);
    MPI_Finalize();
    return 0;
}
