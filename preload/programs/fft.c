/* FFTW's transform of a cube of complex numbers, there and back: fft SIDE TIMES */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank;
    ptrdiff_t side, mine, first, at;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    side = atoi(argv[1]);
    fftw_mpi_init();
    ptrdiff_t room = fftw_mpi_local_size_3d(side, side, side, MPI_COMM_WORLD, &mine, &first);
    ptrdiff_t count = mine * side * side;
    fftw_complex *data = fftw_alloc_complex(room);
    fftw_plan there = fftw_mpi_plan_dft_3d(side, side, side, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back = fftw_mpi_plan_dft_3d(side, side, side, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
    for (at = 0; at < count; at++) {
        data[at][0] = sin(0.1 * (first * side * side + at));
        data[at][1] = cos(0.3 * (first * side * side + at));
    }
    /* Bits of all numbers: a transform has no sums over ranks, so that they are the same whoever moves the data. */
    unsigned long long bits = 0, all;
    for (int time = 0; time < atoi(argv[2]); time++) {
        fftw_execute(there);
        for (at = 0; at < count; at++) {
            union { double number; unsigned long long bits; } part[2] = {{data[at][0]}, {data[at][1]}};
            bits += (part[0].bits ^ part[1].bits >> 7) * (2 * (first * side * side + at) + 1);
            data[at][0] /= side * side * side;
            data[at][1] /= side * side * side;
        }
        fftw_execute(back);
    }
    MPI_Reduce(&bits, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("bits 0x%llx\n", all);
    fftw_destroy_plan(there);
    fftw_destroy_plan(back);
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
