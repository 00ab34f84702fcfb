! The module mpi (MPI 5.0, section 19.1.3): its interfaces, communicators, derived datatypes, persistent requests and a file.

program module_mpi
    use mpi
    implicit none
    integer :: error, rank, size

    call mpi_init(error)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
    call mpi_comm_size(MPI_COMM_WORLD, size, error)
    call communicators()
    call columns()
    call persistent()
    call file()
    call mpi_finalize(error)

contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        integer :: ignored
        if (condition) return
        print *, 'module_mpi: ', what
        call mpi_abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    subroutine communicators()
        integer :: part, count, place(1), grid, parity
        logical :: period(1)
        character(MPI_MAX_OBJECT_NAME) :: name
        integer :: length
        parity = mod(rank, 2)
        call mpi_comm_split(MPI_COMM_WORLD, parity, -rank, part, error)
        call mpi_comm_size(part, count, error)
        call check(count == (size + 1 - parity) / 2, 'split')
        call mpi_comm_set_name(part, 'a part  ', error)
        call mpi_comm_get_name(part, name, length, error)
        call check(length == 6 .and. name == 'a part', 'name')
        call mpi_comm_free(part, error)
        call check(part == MPI_COMM_NULL, 'freed')
        call mpi_cart_create(MPI_COMM_WORLD, 1, (/ size /), (/ .true. /), .false., grid, error)
        call mpi_cart_get(grid, 1, place, period, place, error)
        call check(place(1) == rank .and. period(1), 'grid')
        call mpi_comm_free(grid, error)
    end subroutine

    ! Row by row, from a matrix that lies in memory column by column.
    subroutine columns()
        integer :: row, i, state(MPI_STATUS_SIZE)
        double precision :: matrix(4, 5), got(5)
        matrix = reshape((/ (dble(i), i = 1, 20) /), (/ 4, 5 /))
        call mpi_type_vector(5, 1, 4, MPI_DOUBLE_PRECISION, row, error)
        call mpi_type_commit(row, error)
        call mpi_sendrecv(matrix(2, 1), 1, row, rank, 0, got, 5, MPI_DOUBLE_PRECISION, rank, 0, &
            MPI_COMM_WORLD, state, error)
        call check(all(got == matrix(2, :)), 'row')
        call mpi_type_free(row, error)
    end subroutine

    subroutine persistent()
        integer :: requests(2), step
        ! They are read and written when no call names them.
        integer, volatile :: out, in
        call mpi_send_init(out, 1, MPI_INTEGER, mod(rank + 1, size), 4, MPI_COMM_WORLD, requests(1), error)
        call mpi_recv_init(in, 1, MPI_INTEGER, mod(rank + size - 1, size), 4, MPI_COMM_WORLD, requests(2), error)
        do step = 1, 3
            out = 10 * rank + step
            call mpi_startall(2, requests, error)
            call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
            call check(in == 10 * mod(rank + size - 1, size) + step, 'persistent')
        end do
        call mpi_request_free(requests(1), error)
        call mpi_request_free(requests(2), error)
    end subroutine

    subroutine file()
        integer :: handle, state(MPI_STATUS_SIZE), count, values(2)
        integer(MPI_OFFSET_KIND) :: offset, bytes
        call mpi_file_open(MPI_COMM_WORLD, 'module_mpi.data', ior(MPI_MODE_CREATE, MPI_MODE_RDWR) + &
            MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, handle, error)
        call check(error == MPI_SUCCESS, 'open')
        offset = 8 * rank
        call mpi_file_set_view(handle, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
        call mpi_file_write_all(handle, (/ rank, -rank /), 2, MPI_INTEGER, state, error)
        call mpi_get_count(state, MPI_INTEGER, count, error)
        call check(count == 2, 'written')
        offset = 0
        call mpi_file_read_at_all(handle, offset, values, 2, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call check(values(1) == rank .and. values(2) == -rank, 'read')
        call mpi_file_get_size(handle, bytes, error)
        call check(bytes == 8 * size, 'size')
        call mpi_file_close(handle, error)
    end subroutine
end program
