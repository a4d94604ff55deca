! The mean of the numbers of all ranks, with mpi_f08.
!
!     mpifort mean_f08.f90 -o mean && mpirun -n 4 hypercoll preload ./mean
program mean
    use mpi_f08
    implicit none
    integer :: rank, size
    double precision :: total
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    total = 2 * rank
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(A, F6.2)', 'the mean is', total / size
    call MPI_Finalize()
end program
