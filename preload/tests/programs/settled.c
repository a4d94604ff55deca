/* Many blocking calls on one communicator, with a nonblocking one under way that some ranks wait for before the next call and others
 * after it; the first and the last such one has a number more. Each rank says "all is well", and rank 0 what the choice of an early call,
 * of the last one and of another one knew of the machine.
 *
 * usage: settled CALLS COUNT [threads | late | apart]      of COUNT numbers; as a program that may have several threads, or with a rank that
 *                                                          comes a second late to one of the calls, or to one before, with all calls on
 *                                                          another communicator that has had 16 */

#include <hypercoll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void machine(MPI_Comm comm, const char *call) {
    char text[4000];
    hypercoll_explain_last(comm, text, sizeof text);
    const char *what = strstr(text, "(built in")    ? "built in"
                       : strstr(text, "(measured b") ? "briefly"
                       : strstr(text, "(measured")   ? "measured"
                       : strstr(text, "; asked for") ? "as before"
                                                     : text;
    printf("%s: %s\n", call, what);
}

int main(int argc, char **argv) {
    /* Open MPI 5.0 writes to ranks that have gone, when all is over: natively, 4 of 32 runs on a busy machine ended by that. */
    signal(SIGPIPE, SIG_IGN);
    int provided, threads = argc > 3 && !strcmp(argv[3], "threads"), late = argc > 3 && !strcmp(argv[3], "late");
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    int rank, size, wrong = threads && provided < MPI_THREAD_MULTIPLE, calls = atoi(argv[1]), few = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm = MPI_COMM_WORLD;
    if (argc > 3 && !strcmp(argv[3], "apart")) {
        MPI_Barrier(MPI_COMM_WORLD); /* in which ranks ask each other */
        if (rank == 1) sleep(1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int call = 1; call <= 16; call++) MPI_Bcast(&few, 1, MPI_INT, 0, comm);
    }
    double *mine = malloc((few + 1) * sizeof(double)), *sums = malloc((few + 1) * sizeof(double)), begun[2];
    for (int call = 1; call <= calls; call++) {
        int count = few + (call == 3 || call == calls / 3 * 3);
        for (int i = 0; i < count; i++) mine[i] = rank + call + i;
        if (late && call == 6 && rank == 1) sleep(1);
        MPI_Request request = MPI_REQUEST_NULL;
        if (call % 3 == 0) MPI_Iallreduce(mine, begun, 2, MPI_DOUBLE, MPI_SUM, comm, &request);
        if (rank % 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(mine, sums, count, MPI_DOUBLE, MPI_SUM, comm);
        if (call == 10 && rank == 0) machine(comm, "the 10th");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++) wrong |= sums[i] != size * (size - 1) / 2 + (double)size * (call + i);
        wrong |= call % 3 == 0 && memcmp(begun, sums, sizeof begun) != 0;
    }
    if (rank == 0) machine(comm, "the last");
    MPI_Bcast(sums, few, MPI_DOUBLE, 0, comm);
    if (rank == 0) machine(comm, "another");
    if (!wrong) printf("all is well\n");
    MPI_Finalize();
    return 0;
}
