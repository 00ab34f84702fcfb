! heat.f90: heat in a square plate whose left edge is hot, by Jacobi's method; the plate is cut in both directions.
!
!   postrider fortran -O2 examples/fortran/heat.f90 -o heat && postrider run -n 4 ./heat
!
! A row of a Fortran array is not contiguous: here it is a section, and travels as it is.
program heat
  use mpi_f08
  implicit none
  integer, parameter :: points = 64, steps_max = 20000
  real(8), parameter :: enough = 1d-5
  integer :: rank, ranks, dims(2) = 0, place(2), first(2), last(2), up, down, left, right, step
  real(8), allocatable :: now(:, :), next(:, :)
  real(8) :: change, average
  logical :: periods(2) = .false.
  type(MPI_Comm) :: grid

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., grid)
  call MPI_Cart_get(grid, 2, dims, periods, place)
  call MPI_Cart_shift(grid, 0, 1, up, down)
  call MPI_Cart_shift(grid, 1, 1, left, right)
  first = points * place / dims + 1
  last = points * (place + 1) / dims

  ! The points of this process, and one more on each side.
  allocate (now(first(1) - 1:last(1) + 1, first(2) - 1:last(2) + 1))
  now = 0
  if (left == MPI_PROC_NULL) now(:, first(2) - 1) = 100
  next = now
  do step = 1, steps_max
    call exchange()
    next(first(1):last(1), first(2):last(2)) = 0.25d0 * ( &
      now(first(1) - 1:last(1) - 1, first(2):last(2)) + now(first(1) + 1:last(1) + 1, first(2):last(2)) + &
      now(first(1):last(1), first(2) - 1:last(2) - 1) + now(first(1):last(1), first(2) + 1:last(2) + 1))
    change = maxval(abs(next(first(1):last(1), first(2):last(2)) - now(first(1):last(1), first(2):last(2))))
    call MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid)
    now(first(1):last(1), first(2):last(2)) = next(first(1):last(1), first(2):last(2))
    if (change < enough) exit
    next = now
  end do
  average = mean()
  call MPI_Comm_rank(grid, rank)
  if (rank == 0) print '(a, i0, a, f7.3)', 'After ', step, ' steps the plate has on average ', average
  call MPI_Comm_free(grid)
  call MPI_Finalize()
contains

  subroutine exchange()
    type(MPI_Request) :: requests(8)
    integer :: rows, columns
    rows = last(1) - first(1) + 1
    columns = last(2) - first(2) + 1
    call MPI_Irecv(now(first(1) - 1, first(2):last(2)), columns, MPI_DOUBLE_PRECISION, up, 1, grid, requests(1))
    call MPI_Irecv(now(last(1) + 1, first(2):last(2)), columns, MPI_DOUBLE_PRECISION, down, 2, grid, requests(2))
    call MPI_Irecv(now(first(1):last(1), first(2) - 1), rows, MPI_DOUBLE_PRECISION, left, 3, grid, requests(3))
    call MPI_Irecv(now(first(1):last(1), last(2) + 1), rows, MPI_DOUBLE_PRECISION, right, 4, grid, requests(4))
    call MPI_Isend(now(last(1), first(2):last(2)), columns, MPI_DOUBLE_PRECISION, down, 1, grid, requests(5))
    call MPI_Isend(now(first(1), first(2):last(2)), columns, MPI_DOUBLE_PRECISION, up, 2, grid, requests(6))
    call MPI_Isend(now(first(1):last(1), last(2)), rows, MPI_DOUBLE_PRECISION, right, 3, grid, requests(7))
    call MPI_Isend(now(first(1):last(1), first(2)), rows, MPI_DOUBLE_PRECISION, left, 4, grid, requests(8))
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
  end subroutine

  real(8) function mean()
    mean = sum(now(first(1):last(1), first(2):last(2))) / points**2
    call MPI_Allreduce(MPI_IN_PLACE, mean, 1, MPI_DOUBLE_PRECISION, MPI_SUM, grid)
  end function
end program
