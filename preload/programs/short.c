/* Many calls of eight bytes: short bcast|allreduce TIMES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, size;
    long long value = 1, sum = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    int times = atoi(argv[2]), casts = strcmp(argv[1], "bcast") == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int time = 0; time < times; time++) {
        if (casts) {
            value = rank ? -1 : time;
            MPI_Bcast(&value, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
        } else {
            long long own = time + rank;
            MPI_Allreduce(&own, &value, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        }
        sum += value;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    MPI_Reduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("sum %lld\nseconds %.6f\n", all, seconds);
    MPI_Finalize();
    return 0;
}
