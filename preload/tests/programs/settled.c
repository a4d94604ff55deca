/* Many blocking calls on one communicator, with a nonblocking one under way that some ranks wait for before the next call and others
 * after it; the first and the last such one has a number more. Each rank says "all is well", and rank 0 what the choice of an early call,
 * of the last one and of another one knew of the machine, and a number made of the bits of all sums.
 *
 * usage: settled CALLS COUNT [threads | late | apart | started [late]]
 *     of COUNT numbers; as a program that may have several threads, or with a rank that comes a second late to one of the calls, or to one
 *     before, with all calls on another communicator that has had 16, or with nonblocking calls alone, but for the last one, another one
 *     after that, and one before to which a rank comes late */

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

static unsigned long bits = 14695981039346656037u;

/* Whether that is no sum over the ranks of i + call + 1 / (rank + call). */
static int is_wrong(const double *sums, int count, int call, int size) {
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        double expected = 0;
        for (int rank = 0; rank < size; rank++) expected += call + i + 1.0 / (rank + call);
        wrong |= sums[i] < expected * (1 - 1e-12) || sums[i] > expected * (1 + 1e-12);
    }
    const unsigned char *byte = (const unsigned char *)sums;
    for (size_t i = 0; i < count * sizeof *sums; i++) bits = (bits ^ byte[i]) * 1099511628211u;
    return wrong;
}

static int is(int argc, char **argv, const char *word) {
    for (int i = 3; i < argc; i++)
        if (!strcmp(argv[i], word)) return 1;
    return 0;
}

int main(int argc, char **argv) {
    /* Open MPI 5.0 writes to ranks that have gone, when all is over: natively, 4 of 32 runs on a busy machine ended by that. */
    signal(SIGPIPE, SIG_IGN);
    int provided, threads = is(argc, argv, "threads"), late = is(argc, argv, "late"), started = is(argc, argv, "started");
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    int rank, size, wrong = threads && provided < MPI_THREAD_MULTIPLE, calls = atoi(argv[1]), few = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm = MPI_COMM_WORLD;
    if (is(argc, argv, "apart")) {
        MPI_Barrier(MPI_COMM_WORLD); /* in which ranks ask each other */
        if (rank == 1) sleep(1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int call = 1; call <= 16; call++) MPI_Bcast(&few, 1, MPI_INT, 0, comm);
    }
    double *mine = malloc((few + 1) * sizeof(double)), *sums = malloc((few + 1) * sizeof(double)), begun[2];
    if (started && late) {
        MPI_Barrier(comm);
        if (rank == 1) sleep(1);
        MPI_Barrier(comm);
        for (int call = 3; call <= 8; call++) MPI_Barrier(comm); /* in the last of which ranks ask each other */
        late = 0;
    }
    for (int call = 1; call <= calls; call++) {
        int count = few + (call == 3 || call == calls / 3 * 3);
        for (int i = 0; i < count; i++) mine[i] = call + i + 1.0 / (rank + call);
        if (calls > 8192 && call == 2) sleep(3); /* so long that it may be worth a measurement */
        if (late && call == 4 && rank == 1) sleep(1);
        MPI_Request request = MPI_REQUEST_NULL;
        if (started || call % 3 == 0) MPI_Iallreduce(mine, begun, 2, MPI_DOUBLE, MPI_SUM, comm, &request);
        if (rank % 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
        int waits = !started || call == calls;
        if (waits) MPI_Allreduce(mine, sums, count, MPI_DOUBLE, MPI_SUM, comm);
        if (call == 10 && rank == 0) machine(comm, "the 10th");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong |= waits && is_wrong(sums, count, call, size);
        wrong |= (started || call % 3 == 0) && is_wrong(begun, 2, call, size);
    }
    if (rank == 0) machine(comm, "the last");
    MPI_Request request = MPI_REQUEST_NULL;
    if (started) MPI_Iallreduce(mine, begun, 2, MPI_DOUBLE, MPI_SUM, comm, &request);
    else MPI_Bcast(sums, few, MPI_DOUBLE, 0, comm);
    if (rank == 0) machine(comm, "another");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= started && is_wrong(begun, 2, calls, size);
    if (rank == 0) printf("bits %016lx\n", bits);
    if (!wrong) printf("all is well\n");
    MPI_Finalize();
    return 0;
}
