! The module mpi: handles that are integers, buffers of any type, memory as c_ptr and as integer, functions of MPI-1.
program module_mpi
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer :: rank, ranks, code, key, value, bytes, request, status(MPI_STATUS_SIZE), list(MPI_STATUS_SIZE, 2)
  integer :: requests(2), which, op, win, numbers(4), i
  integer(kind=MPI_ADDRESS_KIND) :: place, attribute
  type(c_ptr) :: pointed
  real :: waves(3, 3), others(3, 3)
  double precision :: one(2), other(2)
  logical :: flag
  external :: twice, forget
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  one = rank
  waves = 0
  call MPI_Isend(one, 2, MPI_DOUBLE_PRECISION, rank, 1, MPI_COMM_WORLD, request, code)
  call MPI_Recv(other(1), 2, MPI_DOUBLE_PRECISION, rank, 1, MPI_COMM_WORLD, status, code)
  call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  call check(status(MPI_SOURCE) == rank .and. status(MPI_TAG) == 1, 'a status')
  requests = MPI_REQUEST_NULL
  call MPI_Isend(waves, 9, MPI_REAL, rank, 2, MPI_COMM_WORLD, requests(1), code)
  call MPI_Irecv(others, 9, MPI_REAL, rank, 2, MPI_COMM_WORLD, requests(2), code)
  call MPI_Waitall(2, requests, list, code)
  call check(list(MPI_TAG, 2) == 2, 'statuses')
  call MPI_Waitany(2, requests, which, status, code)
  call check(which == MPI_UNDEFINED, 'MPI_Waitany')
  call MPI_Allreduce(MPI_IN_PLACE, rank, 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Op_create(twice, .true., op, code)
  value = 3
  call MPI_Reduce_local(4, value, 1, MPI_INTEGER, op, code)
  call check(value == 14, 'an operation of the user')
  call MPI_Op_free(op, code)
  call MPI_Keyval_create(MPI_DUP_FN, forget, key, 8, code)
  call MPI_Attr_put(MPI_COMM_SELF, key, -12, code)
  call MPI_Attr_get(MPI_COMM_SELF, key, value, flag, code)
  call check(flag .and. value == -12, 'MPI_Attr_get')
  call MPI_Attr_delete(MPI_COMM_SELF, key, code)
  call MPI_Keyval_free(key, code)
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, code)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB')
  call MPI_Alloc_mem(8_MPI_ADDRESS_KIND, MPI_INFO_NULL, place, code)
  call check(place /= 0, 'an address as integer')
  call MPI_Alloc_mem(8_MPI_ADDRESS_KIND, MPI_INFO_NULL, pointed, code)
  call check(c_associated(pointed), 'an address as c_ptr')
  call MPI_Win_create(numbers, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag, code)
  call check(flag .and. attribute == 16, 'MPI_WIN_SIZE')
  call MPI_Win_free(win, code)
  call MPI_Sizeof(one(1), bytes, code)
  call check(bytes == 8, 'MPI_Sizeof')
  call check(MPI_Wtime() > 0 .and. MPI_Aint_add(1_MPI_ADDRESS_KIND, 2_MPI_ADDRESS_KIND) == 3, 'functions')
  numbers = [(i, i = 1, 4)]
  call PMPI_Bcast(numbers, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
  call MPI_Finalize(code)
end program

subroutine twice(in, inout, length, datatype)
  implicit none
  integer :: length, datatype
  integer :: in(length), inout(length)
  inout = 2 * (in + inout)
end subroutine

subroutine forget(comm, keyval, value, extra, code)
  implicit none
  integer :: comm, keyval, value, extra, code
  call check(value == -12 .and. extra == 8, 'a deletion by MPI-1')
  code = 0
end subroutine
