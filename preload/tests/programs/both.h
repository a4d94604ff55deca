/* Makes each call twice, by MPI_ and by PMPI_ functions, and compares all memory afterwards. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong, line;
static MPI_Comm comm;
static const char *name;

static void check(int right, const char *what) {
    if (!right) {
        printf("rank %d of %s: wrong, line %d: %s\n", rank, name, line, what);
        fflush(stdout);
        wrong = 1;
    }
}

enum { ROOM = 1 << 15 };
/* In the middle of each: datatypes reach to both sides. */
static char sent[ROOM], ours[ROOM], theirs[ROOM];
#define S (sent + ROOM / 2)

static void fresh(int seed) {
    for (int i = 0; i < ROOM; i++) sent[i] = (char)(i * 7 + rank * 31 + seed + (i >> 8)), ours[i] = theirs[i] = (char)(i * 3 + rank + seed);
}

/* The call with R, of `ours` or `theirs`, to receive into, and F before the names of functions. */
#define BOTH(F, R, ...)                                                                                              \
    do {                                                                                                             \
        line = __LINE__;                                                                                             \
        fresh(__LINE__);                                                                                             \
        int codes[2];                                                                                                \
        { char *R = ours + ROOM / 2; codes[0] = MPI_##__VA_ARGS__; (void)R; }                                         \
        { char *R = theirs + ROOM / 2; codes[1] = PMPI_##__VA_ARGS__; (void)R; }                                      \
        check(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS, "code");                                           \
        check(!memcmp(ours, theirs, ROOM), "memory");                                                                \
    } while (0)
#define DO(...) BOTH(, R, __VA_ARGS__)
/* The same of a nonblocking one. */
#define START(...)                                                                                                   \
    do {                                                                                                             \
        line = __LINE__;                                                                                             \
        fresh(__LINE__);                                                                                             \
        MPI_Request requests[2], *q = requests;                                                                      \
        { char *R = ours + ROOM / 2; MPI_##__VA_ARGS__; (void)R; }                                                    \
        q = requests + 1;                                                                                            \
        { char *R = theirs + ROOM / 2; PMPI_##__VA_ARGS__; (void)R; }                                                 \
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);                                                               \
        check(!memcmp(ours, theirs, ROOM), "memory");                                                                \
    } while (0)

/* Wrong on all ranks alike: what comes of it is what comes of it natively, and nothing is written. */
#define WRONG(...)                                                                                                   \
    do {                                                                                                             \
        line = __LINE__;                                                                                             \
        fresh(__LINE__);                                                                                             \
        int codes[2] = {-1, -1};                                                                                     \
        { char *R = ours + ROOM / 2; int code = MPI_##__VA_ARGS__; MPI_Error_class(code, &codes[0]); (void)R; }       \
        { char *R = theirs + ROOM / 2; int code = PMPI_##__VA_ARGS__; MPI_Error_class(code, &codes[1]); (void)R; }    \
        check(codes[0] == codes[1], "class of an error");                                                            \
        check(!memcmp(ours, theirs, ROOM), "memory after an error");                                                 \
    } while (0)
