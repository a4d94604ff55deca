/* Communicators that come from sessions. One session begins before MPI_Init and ends after MPI_Finalize, and one lives between: with
 * "within", only this one has a communicator; with "alone", there is neither MPI_Init nor MPI_Finalize. Each rank says "all is well", or
 * what is wrong. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION < 4 && !(defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#error this MPI has none
#endif

static int wrong;

static void check(int right, const char *what) {
    if (right) return;
    printf("wrong: %s\n", what);
    wrong = 1;
}

static MPI_Comm from(MPI_Session session, const char *tag) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    check(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS, "a communicator");
    MPI_Group_free(&group);
    return comm;
}

static void calls(MPI_Comm comm) {
    int rank, size, sum, last, *all;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    all = malloc(size * sizeof(int));
    /* The first call is none that may wait for others. */
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == size * (size - 1) / 2, "a nonblocking sum");
    for (int call = 0; call < 20; call++) {
        int own = rank + call;
        check(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "code of a sum");
        check(sum == size * (size - 1) / 2 + size * call, "a sum");
        last = rank == size - 1 ? call : -1;
        MPI_Bcast(&last, 1, MPI_INT, size - 1, comm);
        check(last == call, "a broadcast");
        MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int r = 0; r < size; r++) check(all[r] == r + call, "all numbers");
    }
    free(all);
}

/* Also a duplicate. */
static void twice(MPI_Comm comm) {
    MPI_Comm copy;
    calls(comm);
    MPI_Comm_dup(comm, &copy);
    calls(copy);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv) {
    int alone = argc > 1 && !strcmp(argv[1], "alone"), within = argc > 1 && !alone;
    MPI_Session outer, inner;
    MPI_Comm around, between;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &outer);
    if (!within) around = from(outer, "around"), twice(around);
    if (!alone) MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inner);
    between = from(inner, "between");
    twice(between);
    if (!within) twice(around);
    MPI_Comm_free(&between);
    MPI_Session_finalize(&inner);
    if (!alone) MPI_Finalize();
    if (!within) twice(around), MPI_Comm_free(&around);
    MPI_Session_finalize(&outer);
    if (!wrong) printf("all is well\n");
    return wrong;
}
