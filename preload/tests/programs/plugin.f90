! What plugin.c loads: functions of Fortran that make communicators, and buffers that only Fortran has.
!
! With F08 it uses mpi_f08.
module attribute
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
    integer :: copies = 0
contains
    subroutine copied(comm, key, state, value, into, copy, ierror)
#ifdef F08
        type(MPI_Comm) :: comm
#else
        integer :: comm
#endif
        integer :: key, ierror
        integer(MPI_ADDRESS_KIND) :: state, value, into
        logical :: copy
        copies = copies + 1
        into = value + state
        copy = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine deleted(comm, key, value, state, ierror)
#ifdef F08
        type(MPI_Comm) :: comm
#else
        integer :: comm
#endif
        integer :: key, ierror
        integer(MPI_ADDRESS_KIND) :: value, state
        ierror = MPI_SUCCESS
    end subroutine
end module

integer(c_int) function check(world) bind(c)
    use, intrinsic :: iso_c_binding
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    use attribute
    implicit none
    integer(c_int) :: world
#ifdef F08
    type(MPI_Comm) :: comm, other, third
#else
    integer :: comm, other, third
#endif
    integer :: ierror, rank, ranks, sum, key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: is_there

    check = 0
#ifdef F08
    comm%MPI_VAL = world
#else
    comm = world
#endif
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, ranks, ierror)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_split(comm, 0, -rank, other, ierror)
    if (ierror /= MPI_SUCCESS) check = check + 1
    call MPI_Comm_create_keyval(copied, deleted, key, 5_MPI_ADDRESS_KIND, ierror)
    if (ierror /= MPI_SUCCESS) check = check + 1
    call MPI_Comm_set_attr(other, key, 7_MPI_ADDRESS_KIND, ierror)
    sum = rank
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, other, ierror)
    if (ierror /= MPI_SUCCESS .or. sum /= ranks * (ranks - 1) / 2) check = check + 1
    if (copies /= 0) check = check + 1
    call MPI_Comm_dup(other, third, ierror)
    if (ierror /= MPI_SUCCESS) check = check + 1
    call MPI_Comm_get_attr(third, key, value, is_there, ierror)
    if (.not. is_there .or. value /= 12 .or. copies /= 1) check = check + 1
    sum = rank
    call MPI_Bcast(sum, 1, MPI_INTEGER, 0, third, ierror)
    if (ierror /= MPI_SUCCESS .or. sum /= ranks - 1) check = check + 1
    call MPI_Comm_free(third, ierror)
    call MPI_Comm_free(other, ierror)
end function
