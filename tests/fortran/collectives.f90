! Collectives by mpi_f08: sections in blocks, MPI_IN_PLACE, arrays of datatypes, operations of the user.
module operation
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
contains
  subroutine later(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    if (datatype == MPI_INTEGER) inout = 10 * in + inout
  end subroutine
  subroutine later_c(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    call later(invec, inoutvec, int(len), datatype)
  end subroutine
end module

program collectives
  use mpi_f08
  use operation
  implicit none
  integer :: rank, ranks, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call whole_sections()
  call blocks()
  call reductions()
  call datatypes()
  call MPI_Finalize()
contains

  subroutine whole_sections()
    integer :: values(20)
    values = -rank
    if (rank == 0) values = [(i, i = 1, 20)]
    call MPI_Bcast(values(2:20:3), 7, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(values(2:20:3) == [(i, i = 2, 20, 3)]), 'a section that is broadcast')
    call check(rank == 0 .or. values(1) == -rank, 'beside a section that is broadcast')
  end subroutine

  subroutine blocks()
    integer :: mine(4), every(3, 4 * ranks), row(8)
    type(MPI_Request) :: request
    mine = [(10 * rank + i, i = 1, 4)]
    every = -1
    call MPI_Allgather(mine, 4, MPI_INTEGER, every(2, :), 4, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(every(2, :) == [(10 * ((i - 1) / 4) + mod(i - 1, 4) + 1, i = 1, 4 * ranks)]), 'blocks of a row')
    call check(all(every(1, :) == -1) .and. all(every(3, :) == -1), 'beside a row')
    row = -1
    call MPI_Iscatter(every(2, :), 4, MPI_INTEGER, row(1:8:2), 4, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(row(1:8:2) == mine), 'a row that is scattered')
    every = rank
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, every(3, 1:ranks), 1, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(every(3, 1:ranks) == [(i, i = 0, ranks - 1)]), 'MPI_IN_PLACE and a row')
  end subroutine

  subroutine reductions()
    integer :: sum, value, expected
    integer(kind=MPI_COUNT_KIND) :: one = 1
    type(MPI_Op) :: op, again
    logical :: commutes
    sum = rank
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(sum == ranks * (ranks - 1) / 2, 'MPI_IN_PLACE')
    call MPI_Op_create(later, .false., op)
    call MPI_Op_commutative(op, commutes)
    call check(.not. commutes, 'MPI_Op_commutative')
    expected = 0
    do i = 0, ranks - 1
      expected = 10 * expected + i
    end do
    call MPI_Op_create_c(later_c, .false., again)
    if (ranks <= 2) then
      call MPI_Allreduce(rank, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
      call check(value == expected, 'an operation of the user')
      call MPI_Allreduce(rank, value, one, MPI_INTEGER, again, MPI_COMM_WORLD)
      call check(value == expected, 'an operation with large counts')
    end if
    value = 2
    call MPI_Reduce_local(1, value, 1, MPI_INTEGER, op)
    call check(value == 12, 'MPI_Reduce_local')
    call MPI_Op_free(op)
    call MPI_Op_free(again)
    call check(op == MPI_OP_NULL, 'MPI_Op_free')
  end subroutine

  subroutine datatypes()
    integer :: from(ranks), to(ranks), ones(ranks), places(ranks)
    type(MPI_Datatype) :: types(ranks)
    type(MPI_Request) :: request
    from = [(100 * rank + i, i = 0, ranks - 1)]
    to = -1
    ones = 1
    places = [(4 * i, i = 0, ranks - 1)]
    types = MPI_INTEGER
    call MPI_Alltoallw(from, ones, places, types, to, ones, places, types, MPI_COMM_WORLD)
    call check(all(to == [(100 * i + rank, i = 0, ranks - 1)]), 'MPI_Alltoallw')
    to = -1
    call MPI_Ialltoallw(from, ones, places, types, to, ones, places, types, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(to == [(100 * i + rank, i = 0, ranks - 1)]), 'MPI_Ialltoallw')
  end subroutine
end program
