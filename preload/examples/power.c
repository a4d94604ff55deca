/* The largest eigenvalue of a matrix by power iteration, its rows spread over the ranks: a program that knows nothing of hypercoll.
 *
 *     mpicc power.c -o power -lm && mpirun -n 4 hypercoll preload --report - -- ./power
 */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, rows = 64, steps = 400;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&rows, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int n = rows * size;
    double *mine = malloc(rows * sizeof *mine), *vector = malloc(n * sizeof *vector), eigenvalue = 0;
    for (int i = 0; i < n; i++) vector[i] = 1 + i % 3;
    for (int step = 0; step < steps; step++) {
        double own = 0, norm = 0;
        for (int r = 0; r < rows; r++) {
            mine[r] = 0;
            for (int c = 0; c < n; c++) mine[r] += vector[c] / (1 + abs(rank * rows + r - c));
            own += mine[r] * mine[r];
        }
        MPI_Allreduce(&own, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        eigenvalue = sqrt(norm);
        for (int r = 0; r < rows; r++) mine[r] /= eigenvalue;
        MPI_Allgather(mine, rows, MPI_DOUBLE, vector, rows, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("the largest eigenvalue is %.6f\n", eigenvalue);
    free(mine);
    free(vector);
    MPI_Finalize();
    return 0;
}
