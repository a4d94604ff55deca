C     The mean of the numbers of all ranks, with mpif.h.
C
C         mpifort mean.f -o mean && mpirun -n 4 hypercoll preload ./mean
      program mean
      implicit none
      include 'mpif.h'
      integer rank, size, ierror
      double precision mine, total
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
      mine = 2 * rank
      call MPI_ALLREDUCE(mine, total, 1, MPI_DOUBLE_PRECISION,
     +                   MPI_SUM, MPI_COMM_WORLD, ierror)
      if (rank .eq. 0) print '(A, F6.2)', 'the mean is', total / size
      call MPI_FINALIZE(ierror)
      end
