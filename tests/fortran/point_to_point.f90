! Messages by mpi_f08: sections of arrays, statuses, indices that count from one, names for nothing, large counts.
program point_to_point
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, before, ierror
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call check(ierror == MPI_SUCCESS, 'MPI_Comm_size')
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  call statuses()
  call sections()
  call parts_of_sections()
  call indices()
  call large_counts()
  call names_for_nothing()
  call MPI_Finalize()
contains

  subroutine statuses()
    type(MPI_Status) :: status, copy
    type(MPI_Request) :: request
    type(MPI_Message) :: message
    integer :: value, count, old(MPI_STATUS_SIZE)
    logical :: flag
    call MPI_Isend(rank, 1, MPI_INTEGER, next, 7, MPI_COMM_WORLD, request)
    call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
    call check(status%MPI_SOURCE == before .and. status%MPI_TAG == 7, 'status of a probe')
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 1, 'MPI_Get_count')
    call MPI_Mprobe(before, 7, MPI_COMM_WORLD, message, status)
    call check(message /= MPI_MESSAGE_NULL, 'MPI_Mprobe')
    call MPI_Mrecv(value, 1, MPI_INTEGER, message, status)
    call check(value == before .and. message == MPI_MESSAGE_NULL, 'MPI_Mrecv')
    call MPI_Status_f082f(status, old)
    call check(old(2) == 7, 'MPI_Status_f082f')
    call MPI_Status_f2f08(old, copy)
    call check(copy%MPI_SOURCE == before, 'MPI_Status_f2f08')
    call MPI_Wait(request, status)
    call check(request == MPI_REQUEST_NULL, 'a request that is complete')
    call MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, flag, status)
    call check(.not. flag, 'MPI_Iprobe')
    call MPI_Recv(value, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status)
    call check(status%MPI_SOURCE == MPI_PROC_NULL, 'MPI_PROC_NULL')
  end subroutine

  subroutine sections()
    integer :: from(9, 8), to(9, 8), line(12), i
    type(MPI_Request) :: requests(2)
    from = reshape([(100 * rank + i, i = 1, 72)], [9, 8])
    to = -1
    call MPI_Irecv(to(1:9:3, 2:8:2), 12, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(from(2:6:2, 8:2:-2), 12, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(to(1:9:3, 2:8:2) == from(2:6:2, 8:2:-2) + 100 * (before - rank)), 'a section to a section')
    call check(count(to /= -1) == 12, 'nothing beside the section')
    call MPI_Isend(from(:, 3), 9, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Recv(line, 12, MPI_INTEGER, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(line(1:9) == from(:, 3) + 100 * (before - rank)), 'a column')
  end subroutine

  subroutine parts_of_sections()
    real(8) :: from(6, 6, 6), to(200)
    complex :: waves(10), got(5)
    integer :: i, parts
    type(MPI_Request) :: request
    from = reshape([(real(i, 8), i = 1, 216)], [6, 6, 6])
    do parts = 1, 27
      to = 0
      call MPI_Isend(from(1:5:2, 2:6:2, 1:6:2), parts, MPI_DOUBLE_PRECISION, next, parts, MPI_COMM_WORLD, request)
      call MPI_Recv(to, 200, MPI_DOUBLE_PRECISION, before, parts, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(all(to(1:parts) == reshape(from(1:5:2, 2:6:2, 1:6:2), [parts])), 'a part of a section')
      call check(all(to(parts + 1:) == 0), 'no more than a part')
    end do
    waves = [(cmplx(i, -i), i = 1, 10)]
    call MPI_Isend(waves(1:9:2), 10, MPI_REAL, next, 1, MPI_COMM_WORLD, request)
    call MPI_Recv(got, 5, MPI_COMPLEX, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(got == waves(1:9:2)), 'halves of elements of a section')
  end subroutine

  subroutine indices()
    type(MPI_Request) :: requests(3)
    type(MPI_Status) :: status, all_of_them(3)
    integer :: values(3), which, how_many, list(3)
    logical :: flag
    requests = MPI_REQUEST_NULL
    call MPI_Irecv(values(3), 1, MPI_INTEGER, before, 30, MPI_COMM_WORLD, requests(3))
    call MPI_Send(rank, 1, MPI_INTEGER, next, 30, MPI_COMM_WORLD)
    call MPI_Waitany(3, requests, which, status)
    call check(which == 3 .and. values(3) == before, 'MPI_Waitany counts from one')
    call MPI_Waitany(3, requests, which, status)
    call check(which == MPI_UNDEFINED, 'MPI_Waitany without requests')
    call MPI_Testany(3, requests, which, flag, status)
    call check(flag .and. which == MPI_UNDEFINED, 'MPI_Testany without requests')
    call MPI_Irecv(values(2), 1, MPI_INTEGER, before, 31, MPI_COMM_WORLD, requests(2))
    call MPI_Send(rank, 1, MPI_INTEGER, next, 31, MPI_COMM_WORLD)
    call MPI_Waitsome(3, requests, how_many, list, all_of_them)
    call check(how_many == 1 .and. list(1) == 2, 'MPI_Waitsome counts from one')
    call check(all_of_them(1)%MPI_TAG == 31, 'a status of MPI_Waitsome')
    call MPI_Testall(3, requests, flag, MPI_STATUSES_IGNORE)
    call check(flag, 'MPI_Testall')
    call MPI_Send_init(rank, 1, MPI_INTEGER, next, 32, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(values(1), 1, MPI_INTEGER, before, 32, MPI_COMM_WORLD, requests(2))
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, all_of_them)
    call check(values(1) == before, 'persistent requests')
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  subroutine large_counts()
    integer(kind=MPI_COUNT_KIND) :: one = 1, count
    integer :: value
    type(MPI_Status) :: status
    call MPI_Sendrecv(rank, one, MPI_INTEGER, next, 5, value, one, MPI_INTEGER, before, 5, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(value == before .and. count == 1, 'large counts')
  end subroutine

  subroutine names_for_nothing()
    character(kind=1), allocatable :: none(:)
    integer :: value = 3
    integer(kind=MPI_ADDRESS_KIND) :: place
    type(MPI_Datatype) :: absolute
    type(MPI_Request) :: request
    integer :: got
    allocate (none(0))
    call MPI_Sendrecv(none, 0, MPI_CHARACTER, next, 6, none, 0, MPI_CHARACTER, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    value = 40 + rank
    call MPI_Get_address(value, place)
    call MPI_Type_create_struct(1, [1], [place], [MPI_INTEGER], absolute)
    call MPI_Type_commit(absolute)
    call MPI_Isend(MPI_BOTTOM, 1, absolute, next, 9, MPI_COMM_WORLD, request)
    call MPI_Recv(got, 1, MPI_INTEGER, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(got == 40 + before, 'MPI_BOTTOM')
    call MPI_Type_free(absolute)
    call check(absolute == MPI_DATATYPE_NULL, 'MPI_Type_free')
  end subroutine
end program
