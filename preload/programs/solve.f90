! ScaLAPACK's solver of linear equations: solve N BLOCK
program solve
    use mpi
    implicit none
    integer :: n, block, ranks, rank, rows, columns, row, column, context, info, code, i, j, local_rows, local_columns, across
    integer :: matrix_is(9), vector_is(9)
    integer, external :: numroc, indxl2g
    integer, allocatable :: pivots(:)
    double precision, allocatable :: matrix(:, :), vector(:, :)
    double precision :: sums(2), all(2)
    character(len=20) :: word

    call mpi_init(code)
    call mpi_comm_size(mpi_comm_world, ranks, code)
    call mpi_comm_rank(mpi_comm_world, rank, code)
    call get_command_argument(1, word); read (word, *) n
    call get_command_argument(2, word); read (word, *) block
    rows = int(sqrt(dble(ranks)))
    do while (mod(ranks, rows) /= 0)
        rows = rows - 1
    end do
    columns = ranks/rows
    call blacs_get(-1, 0, context)
    call blacs_gridinit(context, 'R', rows, columns)
    call blacs_gridinfo(context, rows, columns, row, column)
    local_rows = numroc(n, block, row, 0, rows)
    local_columns = numroc(n, block, column, 0, columns)
    across = numroc(1, block, column, 0, columns)
    allocate (matrix(max(1, local_rows), max(1, local_columns)), vector(max(1, local_rows), max(1, across)))
    allocate (pivots(local_rows + block))
    call descinit(matrix_is, n, n, block, block, 0, 0, context, max(1, local_rows), info)
    call descinit(vector_is, n, 1, block, block, 0, 0, context, max(1, local_rows), info)
    do j = 1, local_columns
        do i = 1, local_rows
            matrix(i, j) = entry(indxl2g(i, block, row, 0, rows), indxl2g(j, block, column, 0, columns))
        end do
    end do
    vector = 1
    call pdgesv(n, 1, matrix, 1, 1, matrix_is, pivots, vector, 1, 1, vector_is, info)
    sums = 0
    if (across > 0) sums = [sum(vector(:local_rows, 1)), sum(vector(:local_rows, 1)**2)]
    call mpi_reduce(sums, all, 2, mpi_double_precision, mpi_sum, 0, mpi_comm_world, code)
    if (rank == 0) print '(a, i0, 2es20.10)', 'solved ', info, all
    call blacs_gridexit(context)
    call mpi_finalize(code)
contains
    double precision function entry(i, j)
        integer, intent(in) :: i, j
        entry = sin(dble(mod(i*131 + j*57 + i*j, 1009)))
        if (i == j) entry = entry + 30
    end function entry
end program solve
