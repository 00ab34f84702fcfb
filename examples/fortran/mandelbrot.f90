! mandelbrot.f90: the Mandelbrot set, columns farmed out in blocks, as in examples/c/mandelbrot.c, with the same counts bit by bit.
!
!   postrider fortran -O2 -ffp-contract=off examples/fortran/mandelbrot.f90 -o mandelbrot
!   postrider run -n 4 ./mandelbrot [SIZE [ITERATIONS [FILE]]]
!
! ITERATIONS are at most 127. Rank 0 writes SIZE * SIZE bytes to FILE, column by column.
program mandelbrot
  use, intrinsic :: iso_fortran_env, only: int8
  use mpi_f08
  implicit none
  integer, parameter :: block_columns = 48
  integer :: rank, ranks, points = 4800, limit = 64, blocks, block, first, last, unit
  integer(int8), allocatable :: counts(:, :)
  type(MPI_Request), allocatable :: requests(:)
  real(8) :: start
  character(len=4096) :: word

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, word)
  if (word /= '') read (word, *) points
  call get_command_argument(2, word)
  if (word /= '') read (word, *) limit
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
    print '(i0, a, f0.3, a)', ranks, ' ranks: ', MPI_Wtime() - start, ' s'
    call get_command_argument(3, word)
    if (word /= '') then
      open (newunit=unit, file=trim(word), access='stream', form='unformatted', status='replace')
      write (unit) counts
      close (unit)
    end if
  end if
  call MPI_Finalize()
contains

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
