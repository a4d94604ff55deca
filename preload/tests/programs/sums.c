/* All-reduces of one floating-point number and of 64 integers, in turns.
 *
 * usage: sums HOW_MANY */

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int many = argc > 1 ? atoi(argv[1]) : 100, rank, size, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < many; i++) {
        double part = rank + i, sum = 0;
        int parts[64], sums[64];
        for (int k = 0; k < 64; k++) parts[k] = rank * k;
        MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(parts, sums, 64, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != size * (size - 1) / 2 + (double)i * size;
        for (int k = 0; k < 64; k++) wrong += sums[k] != k * size * (size - 1) / 2;
    }
    MPI_Finalize();
    return wrong != 0;
}
