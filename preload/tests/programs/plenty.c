/* Communicators that are all there at once, as many as MPI has room for, each with some calls; and then one more. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef I_MPI_VERSION
enum { MANY = 300 }; /* Intel's ends the program when 454 of two ranks have had calls of its own */
#else
enum { MANY = 1900 }; /* MPICH has room for some 2000 */
#endif
enum { CALLS = 20 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm *all = malloc((MANY + 1) * sizeof *all);
    for (int i = 0; i <= MANY; i++) {
        /* One more when there is room again. */
        if (i == MANY) MPI_Comm_free(&all[0]);
        if (MPI_Comm_dup(MPI_COMM_WORLD, &all[i]) != MPI_SUCCESS) {
            printf("rank %d: wrong: no communicator %d\n", rank, i);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        for (int call = 0; call < CALLS; call++) {
            int sum = 0, mine = rank + i;
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all[i]);
            if (sum != size * (size - 1) / 2 + size * i) wrong = 1, printf("rank %d: wrong: %d on communicator %d\n", rank, sum, i);
        }
    }
    for (int i = 1; i <= MANY; i++) MPI_Comm_free(&all[i]);
    free(all);
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return wrong;
}
