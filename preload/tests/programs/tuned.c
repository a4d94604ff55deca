/* Reductions by operations of the program's, where a tuning file says that native MPI makes short all-reduces: those that do not commute it does
 * not make, whatever a rank remembers of others like them. Rank 0 has a predefined datatype, and the others one of their own of the same data.
 * Each rank says "all is well", or what is wrong.
 *
 * usage: tuned [where]      with an argument, rank 0 says on which host it is, and of what MPI */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
    int *from = in, *into = inout;
    (void)type;
    for (int i = 0; i < 2 * *n; i++) into[i] += from[i];
}

/* x -> a x + b, after another such. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
    unsigned *from = in, *into = inout;
    (void)type;
    for (int i = 0; i < 2 * *n; i += 2) into[i + 1] += into[i] * from[i + 1], into[i] *= from[i];
}

static int rank, wrong;
static MPI_Datatype pair;

static void sum(int count, MPI_Op op, const char *what) {
    int mine[20], ours[20] = {0}, theirs[20] = {0};
    for (int i = 0; i < 20; i++) mine[i] = 3 * rank + i + 1;
    MPI_Allreduce(mine, ours, count, pair, op, MPI_COMM_WORLD);
    PMPI_Allreduce(mine, theirs, count, pair, op, MPI_COMM_WORLD);
    if (memcmp(ours, theirs, sizeof ours)) printf("rank %d: wrong: %s\n", rank, what), wrong = 1;
}

int main(int argc, char **argv) {
    MPI_Op added, composed, another;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) {
        char host[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_processor_name(host, &length), MPI_Get_library_version(library, &length);
        if (rank == 0) printf("%s\n%s\n", host, library);
        return MPI_Finalize();
    }
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (rank == 0) MPI_Type_free(&pair), pair = MPI_2INT;
    MPI_Op_create(add, 1, &added), MPI_Op_create(compose, 0, &composed);
    /* Rank 0 may know the third one by the first, and no longer what the second one has driven out. */
    sum(5, added, "a sum"), sum(9, added, "another length"), sum(5, added, "the first sum again");
    sum(5, composed, "an operation that does not commute");
    /* On rank 0 the next one may have the handle of the first. */
    sum(5, added, "a sum once more");
    if (rank == 0) MPI_Op_free(&added);
    MPI_Op_create(compose, 0, &another);
    if (rank > 0) MPI_Op_free(&added);
    sum(5, another, "another operation in the place of the first");
    MPI_Op_free(&another), MPI_Op_free(&composed);
    if (rank > 0) MPI_Type_free(&pair);
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
