! Neighbourhood collectives, which are MPI's, on a ring.
!
! Compiled twice: with handles of `use mpi`, and with those of mpi_f08 if F08 is defined.
program neighbours
#ifdef F08
    use mpi_f08
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST type(MPI_Request)
#else
    use mpi
#define COMMUNICATOR integer
#define REQUEST integer
#endif
    implicit none
    COMMUNICATOR :: ring
    REQUEST :: started
    integer :: rank, size, before, after, ierror, i
    integer :: mine(2), theirs(2), counts(2), places(2)

    call MPI_Init(ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring, ierror)
    call MPI_Comm_rank(ring, rank, ierror)
    before = mod(rank + size - 1, size)
    after = mod(rank + 1, size)
    counts = 1
    places = [0, 1]
    do i = 1, 3
        mine = [10 * rank + i, 10 * rank + i + 1]
        theirs = -1
        call MPI_Neighbor_allgather(mine, 1, MPI_INTEGER, theirs, 1, MPI_INTEGER, ring, ierror)
        call check(ierror == MPI_SUCCESS .and. all(theirs == [10 * before + i, 10 * after + i]))
        theirs = -1
        call MPI_Neighbor_alltoallv(mine, counts, places, MPI_INTEGER, theirs, counts, places, MPI_INTEGER, ring, ierror)
        call check(ierror == MPI_SUCCESS .and. all(theirs == [10 * before + i + 1, 10 * after + i]))
        theirs = -1
        call MPI_Ineighbor_allgatherv(mine, 1, MPI_INTEGER, theirs, counts, places, MPI_INTEGER, ring, started, ierror)
        call MPI_Wait(started, MPI_STATUS_IGNORE, ierror)
        call check(ierror == MPI_SUCCESS .and. all(theirs == [10 * before + i, 10 * after + i]))
#ifdef F08
        theirs = -1
        call MPI_Neighbor_alltoall(mine, 1, MPI_INTEGER, theirs, 1, MPI_INTEGER, ring)
        call check(all(theirs == [10 * before + i + 1, 10 * after + i]))
#endif
    end do
    call MPI_Comm_free(ring, ierror)
    print '(a)', 'all is well'
    call MPI_Finalize(ierror)
contains
    subroutine check(right)
        logical, intent(in) :: right
        if (right) return
        print *, 'wrong on rank ', rank, theirs
        call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
    end subroutine
end program
