/* Programs that are wrong: calls that differ, lengths that differ, a rank that leaves.
 *
 * usage: wrong WHAT [return [CALLS]]      with `return`, errors are returned, and said on standard output */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, code = MPI_SUCCESS, numbers[8] = {0};
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (argc > 2) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) MPI_Bcast(numbers, 1, MPI_INT, 0, comm);
    if (strcmp(what, "calls") == 0) {
        code = rank == 1 ? MPI_Barrier(comm) : MPI_Allreduce(MPI_IN_PLACE, numbers, 4, MPI_INT, MPI_SUM, comm);
    } else if (strcmp(what, "lengths") == 0) {
        code = MPI_Allreduce(MPI_IN_PLACE, numbers, rank == 1 ? 5 : 4, MPI_INT, MPI_SUM, comm);
    } else if (strcmp(what, "operations") == 0) {
        code = MPI_Allreduce(MPI_IN_PLACE, numbers, 4, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, comm);
    } else if (strcmp(what, "known") == 0) {
        /* What has come so often is made without a look at what it is. */
        for (int i = 0; i < 98; i++) MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_SUM, comm);
        if (rank == 1) code = MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_SUM, comm);
        else code = MPI_Bcast(numbers, 1, MPI_INT, 0, comm);
        /* The root need not wait for anybody yet. */
        if (code == MPI_SUCCESS) code = MPI_Barrier(comm);
    } else if (strcmp(what, "leaves") == 0) {
        if (rank == 1) _Exit(0);
        code = MPI_Allreduce(MPI_IN_PLACE, numbers, 4, MPI_INT, MPI_SUM, comm);
    } else if (strcmp(what, "away") == 0) {
        /* Rank 1 comes too late. */
        if (rank == 1) {
            sleep(6);
            _Exit(0);
        }
        code = MPI_Allreduce(MPI_IN_PLACE, numbers, 4, MPI_INT, MPI_SUM, comm);
    } else if (strcmp(what, "late") == 0) {
        if (rank == 1) sleep(3);
        code = MPI_Allreduce(MPI_IN_PLACE, numbers, 4, MPI_INT, MPI_SUM, comm);
    } else if (strcmp(what, "late-wait") == 0) {
        MPI_Request request;
        int sums[4];
        if (rank == 1) sleep(3);
        MPI_Iallreduce(numbers, sums, 4, MPI_INT, MPI_SUM, comm, &request);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "leaves-later") == 0) {
        const int own = argc > 3 ? atoi(argv[3]) : 0;
        for (int i = 0; i < own; i++) MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_SUM, comm);
        if (rank == 1) _Exit(0);
        code = MPI_Allreduce(MPI_IN_PLACE, numbers, 4, MPI_INT, MPI_SUM, comm);
    }
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length, class;
        MPI_Error_string(code, text, &length);
        MPI_Error_class(code, &class);
        printf("rank %d class %s: %s\n", rank, class == MPI_ERR_OTHER ? "other" : "another", text);
        fflush(stdout);
        /* The communicator stays broken. */
        code = MPI_Barrier(comm);
        printf("rank %d: and then %s\n", rank, code == MPI_SUCCESS ? "success" : "an error");
    } else {
        printf("rank %d: no error\n", rank);
    }
    /* Another one is not concerned. */
    MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
