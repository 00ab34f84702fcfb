! ring.f90: a number goes once around all processes, and each adds its rank.
!
!   postrider fortran examples/fortran/ring.f90 -o ring && postrider run -n 4 ./ring
program ring
  use mpi_f08
  implicit none
  integer, parameter :: tag = 1
  integer :: rank, ranks, next, previous, start, total
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)

  if (rank == 0) then
    ! Nonblocking, since a ring of one process sends to itself.
    start = 0
    call MPI_Isend(start, 1, MPI_INTEGER, next, tag, MPI_COMM_WORLD, request)
    call MPI_Recv(total, 1, MPI_INTEGER, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    print '(a, i0, a, i0)', 'The sum of the ranks 0 to ', ranks - 1, ' is ', total
  else
    call MPI_Recv(total, 1, MPI_INTEGER, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    total = total + rank
    call MPI_Send(total, 1, MPI_INTEGER, next, tag, MPI_COMM_WORLD)
  end if
  call MPI_Finalize()
end program
