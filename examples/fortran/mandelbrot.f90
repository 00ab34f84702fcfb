! mandelbrot.f90: the Mandelbrot set, columns farmed out in blocks, as in examples/c/mandelbrot.c, with the same counts bit by bit.
!
!   postrider fortran -O2 -ffp-contract=off examples/fortran/mandelbrot.f90 -o mandelbrot
!   postrider run -n 4 ./mandelbrot
!
!     --size N         points on a side (4800)
!     --iterations N   iteration limit (64, at most 127)
!     --output FILE    rank 0 writes the counts there: N*N bytes, column by column
program mandelbrot
  use, intrinsic :: iso_fortran_env, only: int8, int64
  use mpi_f08
  implicit none
  integer, parameter :: block_columns = 48
  integer :: rank, ranks, points = 4800, limit = 64, blocks, block, first, last, unit
  integer(int8), allocatable :: counts(:, :)
  type(MPI_Request), allocatable :: requests(:)
  real(8) :: start, seconds
  character(len=4096) :: output = ''

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_options()
  start = MPI_Wtime()
  blocks = (points + block_columns - 1) / block_columns
  allocate (counts(points, points), requests(blocks))
  requests = MPI_REQUEST_NULL
  do block = 1, blocks
    first = (block - 1) * block_columns + 1
    last = min(block * block_columns, points)
    if (mod(block - 1, ranks) == rank) then
      call count_columns(first, last)
      if (rank > 0) call MPI_Isend(counts(:, first:last), points * (last - first + 1), MPI_BYTE, 0, block, &
        MPI_COMM_WORLD, requests(block))
    else if (rank == 0) then
      call MPI_Irecv(counts(:, first:last), points * (last - first + 1), MPI_BYTE, mod(block - 1, ranks), block, &
        MPI_COMM_WORLD, requests(block))
    end if
  end do
  call MPI_Waitall(blocks, requests, MPI_STATUSES_IGNORE)
  if (rank == 0) then
    seconds = MPI_Wtime() - start
    print '(a, i0, a, f12.6, a, i0, a, i0, a, i0, a)', '{"ranks": ', ranks, ', "seconds": ', seconds, ', "checksum": ', &
      checksum(), ', "size": ', points, ', "iterations": ', limit, '}'
    if (output /= '') then
      open (newunit=unit, file=trim(output), access='stream', form='unformatted', status='replace')
      write (unit) counts
      close (unit)
    end if
  end if
  call MPI_Finalize()
contains

  subroutine read_options()
    character(len=4096) :: name, value
    integer :: i
    do i = 1, command_argument_count() - 1, 2
      call get_command_argument(i, name)
      call get_command_argument(i + 1, value)
      select case (name)
      case ('--size')
        read (value, *) points
      case ('--iterations')
        read (value, *) limit
      case ('--output')
        output = value
      end select
    end do
  end subroutine

  ! The sum of all counts, each weighted with its place modulo 65521, plus one.
  integer(int64) function checksum()
    integer(int64) :: place
    integer :: row, column
    checksum = 0
    do column = 1, points
      do row = 1, points
        place = int(column - 1, int64) * points + row - 1
        checksum = checksum + (mod(place, 65521_int64) + 1) * counts(row, column)
      end do
    end do
  end function

  subroutine count_columns(first, last)
    integer, intent(in) :: first, last
    integer :: row, column
    real(8) :: step
    step = 2.5d0 / points
    do column = first, last
      do row = 1, points
        counts(row, column) = count_point(-2d0 + (column - 0.5d0) * step, -1.25d0 + (row - 0.5d0) * step)
      end do
    end do
  end subroutine

  pure integer(int8) function count_point(cr, ci)
    real(8), intent(in) :: cr, ci
    real(8) :: zr, zi, zr2, zi2
    integer :: n
    zr = 0
    zi = 0
    do n = 0, limit - 1
      zr2 = zr * zr
      zi2 = zi * zi
      if (zr2 + zi2 > 4) exit
      zi = 2 * zr * zi + ci
      zr = zr2 - zi2 + cr
    end do
    count_point = int(n, int8)
  end function
end program
