! Makes collective calls of Fortran and says what came of them: natively and through hypercoll the same.
!
! Compiled twice: with mpif.h's handles (use mpi), and with those of mpi_f08 if F08 is defined.
!
! With STARTED, calls are nonblocking ones, or with PERSISTENT persistent ones: the test has changed them so, and calls `finish` after each.
!
! usage: collectives PREFIX      rank r writes PREFIX.r
#ifdef F08
#define COMMUNICATOR type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define OPERATION type(MPI_Op)
#define REQUEST type(MPI_Request)
#define STATUS type(MPI_Status) :: status
#else
#define COMMUNICATOR integer
#define DATATYPE integer
#define OPERATION integer
#define REQUEST integer
#define STATUS integer :: status(MPI_STATUS_SIZE)
#endif

module own
    implicit none
contains
    ! Does not commute: the right one, or the left one where that can be divided by 3.
    subroutine last_that_counts(in, inout, len, kind)
#ifdef F08
        use mpi_f08
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: in, inout
        integer :: len
        type(MPI_Datatype) :: kind
        integer, pointer :: left(:), right(:)
        integer :: i
        call c_f_pointer(in, left, [len])
        call c_f_pointer(inout, right, [len])
#else
        integer :: len, kind, i
        integer :: in(len), inout(len)
#define left in
#define right inout
#endif
        do i = 1, len
            if (mod(right(i), 3) == 0) right(i) = left(i)
        end do
    end subroutine
end module

program collectives
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
#ifdef PERSISTENT
#ifdef F08
    use mpi_f08_ext
#else
    use mpi_ext
#endif
#endif
    use own
    implicit none
    integer, parameter :: most = 4096
    integer :: rank, size, ierror, root, i, count, provided
    integer :: numbers(0:63), places(0:63), bytes(0:63)
    integer :: send(most), receive(most)
    double precision :: values(64), sums(64)
    complex :: waves(64), all_waves(64)
    logical :: truths(64), all_truths(64)
    integer :: pairs(2, 64), best(2, 64)
    COMMUNICATOR :: comm
#ifdef STARTED
    REQUEST :: request, requests(3)
    integer :: waits = 0
#endif
    DATATYPE :: vector, at_bottom, kinds(0:63)
    OPERATION :: op
    integer(MPI_ADDRESS_KIND) :: address
    character(1000) :: prefix
    character(20) :: number

    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
    comm = MPI_COMM_WORLD
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, size, ierror)
    call get_command_argument(1, prefix)
    write (number, '(i0)') rank
    open (10, file=trim(prefix)//'.'//trim(number), status='replace')

    call MPI_Barrier(comm, ierror)
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, vector, ierror)
    call MPI_Type_commit(vector, ierror)
    call MPI_Op_create(last_that_counts, .false., op, ierror)
    do count = 0, 40, 8
        do root = 0, size - 1
            call fresh()
            if (rank == root) receive = send
            call MPI_Bcast(receive, count, MPI_INTEGER, root, comm, ierror)
            call say('bcast')
            call fresh()
            if (rank == root) receive = send
            call MPI_Bcast(receive, count, vector, root, comm, ierror)
            call say('bcast of vectors')
            call fresh()
            call MPI_Gather(send, count, MPI_INTEGER, receive, count, MPI_INTEGER, root, comm, ierror)
            call say('gather')
            call fresh()
            if (rank == root) then
                call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, receive, count, MPI_INTEGER, root, comm, ierror)
            else
                call MPI_Gather(send, count, MPI_INTEGER, receive, count, MPI_INTEGER, root, comm, ierror)
            end if
            call say('gather in place')
            call fresh()
            if (rank == root) then
                call MPI_Scatter(send, count, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, root, comm, ierror)
            else
                call MPI_Scatter(send, count, MPI_INTEGER, receive, count, MPI_INTEGER, root, comm, ierror)
            end if
            call say('scatter in place')
            call fresh()
            call MPI_Scatter(send, count, MPI_INTEGER, receive, count, MPI_INTEGER, root, comm, ierror)
            call say('scatter')
            call lengths()
            call fresh()
            call MPI_Gatherv(send, numbers(rank), MPI_INTEGER, receive, numbers, places, MPI_INTEGER, root, comm, ierror)
            call say('gatherv')
            call fresh()
            call MPI_Scatterv(send, numbers, places, MPI_INTEGER, receive, numbers(rank), MPI_INTEGER, root, comm, ierror)
            call say('scatterv')
            call fresh()
            call MPI_Reduce(send, receive, count, MPI_INTEGER, op, root, comm, ierror)
            call say('reduce by an own operation')
            call fresh()
            if (rank == root) then
                receive = send
                call MPI_Reduce(MPI_IN_PLACE, receive, count, MPI_INTEGER, MPI_MAX, root, comm, ierror)
            else
                call MPI_Reduce(send, receive, count, MPI_INTEGER, MPI_MAX, root, comm, ierror)
            end if
            call say('reduce in place')
        end do
        call fresh()
        call MPI_Allgather(send, count, MPI_INTEGER, receive, count, MPI_INTEGER, comm, ierror)
        call say('allgather')
        call fresh()
        receive = send
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, receive, count, MPI_INTEGER, comm, ierror)
        call say('allgather in place')
        call lengths()
        call fresh()
        call MPI_Allgatherv(send, numbers(rank), MPI_INTEGER, receive, numbers, places, MPI_INTEGER, comm, ierror)
        call say('allgatherv')
        call fresh()
        call MPI_Alltoall(send, count, MPI_INTEGER, receive, count, MPI_INTEGER, comm, ierror)
        call say('alltoall')
        call fresh()
        receive = send
        call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, receive, count, MPI_INTEGER, comm, ierror)
        call say('alltoall in place')
        call pairs_of_lengths()
        call fresh()
        call MPI_Alltoallv(send, numbers, places, MPI_INTEGER, receive, numbers, places, MPI_INTEGER, comm, ierror)
        call say('alltoallv')
        call fresh()
        bytes = 4 * places
        kinds = MPI_INTEGER
        call MPI_Alltoallw(send, numbers, bytes, kinds, receive, numbers, bytes, kinds, comm, ierror)
        call say('alltoallw')
        call fresh()
        receive = send
        call MPI_Alltoallw(MPI_IN_PLACE, numbers, bytes, kinds, receive, numbers, bytes, kinds, comm, ierror)
        call say('alltoallw in place')
        call fresh()
        call MPI_Allreduce(send, receive, count, MPI_INTEGER, op, comm, ierror)
        call say('allreduce by an own operation')
        call fresh()
        receive = send
        call MPI_Allreduce(MPI_IN_PLACE, receive, count, MPI_INTEGER, MPI_SUM, comm, ierror)
        call say('allreduce in place')
        call fresh()
        call MPI_Scan(send, receive, count, MPI_INTEGER, op, comm, ierror)
        call say('scan by an own operation')
        call fresh()
        call MPI_Exscan(send, receive, count, MPI_INTEGER, op, comm, ierror)
        if (rank == 0) receive = 0
        call say('exscan by an own operation')
        call fresh()
        call MPI_Reduce_scatter_block(send, receive, count, MPI_INTEGER, MPI_SUM, comm, ierror)
        call say('reduce_scatter_block')
        call lengths()
        call fresh()
        call MPI_Reduce_scatter(send, receive, numbers, MPI_INTEGER, MPI_SUM, comm, ierror)
        call say('reduce_scatter')

        values = [(modulo(i * (rank + 2), 7), i=1, 64)]
        call MPI_Allreduce(values, sums, count, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
        write (10, *) 'double precision', sums(1:count)
        waves = cmplx(values, 3 - values)
        call MPI_Allreduce(waves, all_waves, count, MPI_COMPLEX, MPI_SUM, comm, ierror)
        write (10, *) 'complex', all_waves(1:count)
        truths = modulo(int(values), 3) > rank
        call MPI_Allreduce(truths, all_truths, count, MPI_LOGICAL, MPI_LOR, comm, ierror)
        write (10, *) 'logical', all_truths(1:count)
        pairs(1, :) = int(values)
        pairs(2, :) = rank
        call MPI_Allreduce(pairs, best, count, MPI_2INTEGER, MPI_MINLOC, comm, ierror)
        write (10, *) 'pairs', best(:, 1:count)
        call MPI_Scan(MPI_IN_PLACE, values, count, MPI_DOUBLE_PRECISION, MPI_MAX, comm, ierror)
        write (10, *) 'scan in place', values
        ! Absolute addresses.
        call fresh()
        if (rank == 0) receive = send
        call MPI_Get_address(receive, address, ierror)
        call MPI_Type_create_hindexed(1, [count + 1], [address], MPI_INTEGER, at_bottom, ierror)
        call MPI_Type_commit(at_bottom, ierror)
        call MPI_Bcast(MPI_BOTTOM, 1, at_bottom, 0, comm, ierror)
        call MPI_Type_free(at_bottom, ierror)
        call say('bottom')
    end do
    ! mpi_f08 does not want an error code.
#ifdef F08
    call MPI_Barrier(comm)
    call MPI_Bcast(receive, 1, MPI_INTEGER, 0, comm)
    call MPI_Type_free(vector)
#else
    call MPI_Type_free(vector, ierror)
#endif
    call buffered()
    close (10)
    call MPI_Finalize(ierror)

contains
    ! Buffered sends are started again before their messages have gone, and once more after that: MPI may give them other handles.
    ! (What they say is of no matter: Open MPI 4 does not always send that.)
    subroutine buffered()
        integer, parameter :: long = 100000, starts = 5
        integer, save :: room(2 * starts * (long + 1000))
        integer :: sent(long), got(long), start, message, gone
        REQUEST :: again(2)
        call MPI_Buffer_attach(room, 4 * ubound(room, 1), ierror)
        do i = 1, 2
            call MPI_Bsend_init(sent, long, MPI_INTEGER, modulo(rank + 1, size), i, comm, again(i), ierror)
        end do
        gone = 0
        sent = rank
        do start = 1, starts
            if (start == 1) then
                call MPI_Start(again(1), ierror)
                call MPI_Start(again(2), ierror)
            else
                call MPI_Startall(2, again, ierror)
            end if
            call MPI_Waitall(2, again, MPI_STATUSES_IGNORE, ierror)
            if (start < starts - 1) cycle
            do message = gone + 1, start
                do i = 1, 2
                    call MPI_Recv(got, long, MPI_INTEGER, modulo(rank - 1 + size, size), i, comm, MPI_STATUS_IGNORE, ierror)
                    write (10, *) 'buffered', message, ierror
                end do
            end do
            gone = start
            call MPI_Barrier(comm, ierror)
        end do
        do i = 1, 2
            call MPI_Request_free(again(i), ierror)
        end do
    end subroutine

#ifdef STARTED
    ! Waits for a request, in one of many ways.
    subroutine finish()
        logical :: done
        integer :: index, number, indices(3)
        STATUS
#ifdef PERSISTENT
        if (modulo(waits, 2) == 0) then
            call MPI_Start(request, ierror)
        else
            requests = request
            call MPI_Startall(1, requests, ierror)
        end if
#endif
        requests = MPI_REQUEST_NULL
        requests(2) = request
        done = .false.
        index = 2
        select case (modulo(waits, 7))
        case (0)
            call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierror)
        case (1)
            call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierror)
        case (2)
            call MPI_Waitany(3, requests, index, status, ierror)
        case (3)
            call MPI_Waitsome(3, requests, number, indices, MPI_STATUSES_IGNORE, ierror)
            index = indices(number)
        case (4)
            do while (.not. done)
                call MPI_Test(requests(2), done, status, ierror)
            end do
        case (5)
            do while (.not. done)
                call MPI_Testall(3, requests, done, MPI_STATUSES_IGNORE, ierror)
            end do
        case (6)
            do while (.not. done)
                call MPI_Testany(3, requests, index, done, MPI_STATUS_IGNORE, ierror)
            end do
        end select
        waits = waits + 1
#ifdef PERSISTENT
        if (requests(2) /= request) error stop 'the request of a persistent call'
        call MPI_Request_free(requests(2), ierror)
#endif
        if (index /= 2 .or. requests(2) /= MPI_REQUEST_NULL) error stop 'a request that is over'
    end subroutine
#endif

    subroutine fresh()
        send = [(modulo(i * (rank + 3), 101), i=1, most)]
        receive = -1
    end subroutine

    subroutine say(call)
        character(*) :: call
        integer(8) :: sum
        sum = 0
        do i = 1, most
            sum = modulo(sum * 31 + receive(i), 1000000007_8)
        end do
        write (10, *) call, root, count, ierror, sum
    end subroutine

    ! As many of every rank to all, with gaps.
    subroutine lengths()
        do i = 0, size - 1
            numbers(i) = modulo(count + 3 * i, 7)
            places(i) = 10 * (size - 1 - i)
        end do
    end subroutine

    ! As many from one rank to another as back.
    subroutine pairs_of_lengths()
        do i = 0, size - 1
            numbers(i) = modulo(count + i + rank, 7)
            places(i) = 10 * i
        end do
    end subroutine
end program
