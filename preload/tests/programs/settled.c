/* Many blocking calls on one communicator, with a nonblocking one under way that some ranks wait for before the next call and others
 * after it. Each rank says "all is well", and rank 0 what the choice of an early call and of the last one knew of the machine. */

#include <hypercoll.h>
#include <stdio.h>
#include <string.h>

static void machine(MPI_Comm comm, const char *call) {
    char text[4000];
    hypercoll_explain_last(comm, text, sizeof text);
    const char *what = strstr(text, "(built in") ? "built in" : strstr(text, "(measured") ? "measured" : text;
    printf("%s: %s\n", call, what);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int call = 1; call <= 150; call++) {
        long mine[2] = {rank, call}, sums[2], begun[2];
        MPI_Request request = MPI_REQUEST_NULL;
        if (call % 3 == 0) MPI_Iallreduce(mine, begun, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
        if (rank % 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(mine, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (call == 10 && rank == 0) machine(MPI_COMM_WORLD, "the 10th");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong |= sums[0] != size * (size - 1) / 2 || sums[1] != (long)size * call;
        wrong |= call % 3 == 0 && memcmp(begun, sums, sizeof sums) != 0;
    }
    if (rank == 0) machine(MPI_COMM_WORLD, "the last");
    if (!wrong) printf("all is well\n");
    MPI_Finalize();
    return 0;
}
