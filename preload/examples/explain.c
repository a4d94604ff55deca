/* What ran, and why: a program that asks the library.
 *
 *     cc=mpicc; $cc explain.c $(pkg-config --cflags --libs hypercoll) -o explain && mpirun -n 4 ./explain
 */

#include <hypercoll.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    double mine = rank, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    char text[4000];
    hypercoll_explain_last(MPI_COMM_WORLD, text, sizeof text);
    if (rank == 0) printf("the sum is %g\n%s\n", sum, text);

    /* An algorithm by name, and no message over the link between ranks 0 and 1 where there is another way. */
    static double vector[1000];
    if (rank == 0)
        for (int i = 0; i < 1000; i++) vector[i] = i;
    if (size > 2) {
        hypercoll_avoid_links(MPI_COMM_WORLD, (const int[][2]){{0, 1}}, 1);
        hypercoll_set_algorithm(MPI_COMM_WORLD, "broadcast", "sbt", 0);
    }
    MPI_Bcast(vector, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    hypercoll_explain_last(MPI_COMM_WORLD, text, sizeof text);
    if (rank == 0) printf("%s\n", text);
    if (vector[999] != 999) MPI_Abort(MPI_COMM_WORLD, 1);

    hypercoll_set_reproducible(MPI_COMM_WORLD, 1);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("the largest is %g\n", sum);
    MPI_Finalize();
    return 0;
}
