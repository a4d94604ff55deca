! A communicator of Fortran that comes from a session, between MPI_Init and MPI_Finalize. Each rank says "all is well", or what is wrong.
!
! Compiled twice: with integers as handles (use mpi), and with those of mpi_f08 if F08 is defined.
program sessions
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
#ifdef F08
    type(MPI_Session) :: session
    type(MPI_Group) :: group
    type(MPI_Comm) :: comm
    type(MPI_Request) :: request
#else
    integer :: session, group, comm, request
#endif
    integer :: rank, size, sum, call, ierror
    logical :: well

    call MPI_Init(ierror)
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierror)
    call MPI_Group_from_session_pset(session, "mpi://WORLD", group, ierror)
    call MPI_Comm_create_from_group(group, "of all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, ierror)
    well = ierror == MPI_SUCCESS
    call MPI_Group_free(group, ierror)
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, size, ierror)
    ! The first call is none that may wait for others.
    call MPI_Iallreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, comm, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    well = well .and. sum == size * (size - 1) / 2
    do call = 1, 5
        call MPI_Allreduce(rank + call, sum, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
        well = well .and. sum == size * (size - 1) / 2 + size * call
    end do
    call MPI_Comm_free(comm, ierror)
    call MPI_Session_finalize(session, ierror)
    call MPI_Finalize(ierror)
    if (well) then
        print '(a)', "all is well"
    else
        print '(a)', "wrong sums"
    end if
end program
