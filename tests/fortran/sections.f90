! Sections of arrays where no datatype can describe them: reductions, arrays of counts, packing, partitions, datatypes with holes, blocks that end
! within a row. What lies beside a section stays as it is.
program sections
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, before, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  call reductions()
  call nonblocking()
  call completed_otherwise()
  call persistent()
  call arrays_of_counts()
  call many_datatypes()
  call packing()
  call holes()
  call blocks_within_rows()
  call partitions()
  call files()
  call windows()
  call refused()
  call MPI_Finalize()
contains

  ! The sum of 10 * rank + i over all ranks, and up to this one.
  pure integer function total(i)
    integer, intent(in) :: i
    total = 5 * ranks * (ranks - 1) + ranks * i
  end function
  pure integer function up_to_here(i, last)
    integer, intent(in) :: i, last
    up_to_here = 5 * last * (last + 1) + (last + 1) * i
  end function

  subroutine reductions()
    integer :: from(9), to(3, 5), counts(ranks), whole(5), mine(2 * ranks)
    from = -7
    from(1:9:2) = [(10 * rank + i, i = 1, 5)]
    to = -1
    call MPI_Allreduce(from(1:9:2), to(2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(to(2, :) == [(total(i), i = 1, 5)]), 'MPI_Allreduce')
    call check(all(to(1, :) == -1) .and. all(to(3, :) == -1), 'beside the section')
    call MPI_Allreduce(from(9:1:-2), whole, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(whole == [(total(i), i = 5, 1, -1)]), 'backwards')
    to(2, :) = from(1:9:2)
    call MPI_Allreduce(MPI_IN_PLACE, to(2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(to(2, :) == [(total(i), i = 1, 5)]), 'MPI_IN_PLACE')
    to = -1
    call MPI_Reduce(from(1:9:2), to(2, :), 5, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(all(to(2, :) == [(total(i), i = 1, 5)]), 'MPI_Reduce')
    if (rank /= 0) call check(all(to == -1), 'MPI_Reduce where it is not the root')
    call MPI_Scan(from(1:9:2), to(3, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(to(3, :) == [(up_to_here(i, rank), i = 1, 5)]), 'MPI_Scan')
    to = -1
    call MPI_Exscan(from(1:9:2), to(3, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank > 0) call check(all(to(3, :) == [(up_to_here(i, rank - 1), i = 1, 5)]), 'MPI_Exscan')
    to(1, :) = [(i, i = 1, 5)]
    call MPI_Reduce_local(from(1:9:2), to(1, :), 5, MPI_INTEGER, MPI_SUM)
    call check(all(to(1, :) == [(10 * rank + 2 * i, i = 1, 5)]), 'MPI_Reduce_local')
    to = -1
    mine = [(10 * rank + i, i = 1, 2 * ranks)]
    call MPI_Reduce_scatter_block(mine(2 * ranks:1:-1), to(1, 1:3:2), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(to(1, 1:3:2) == [(total(2 * (ranks - rank) + i), i = 0, -1, -1)]), 'MPI_Reduce_scatter_block')
    call check(all(to(2:, :) == -1) .and. to(1, 2) == -1, 'beside a scattered block')
    counts = 1
    call MPI_Reduce_scatter(mine(1:2 * ranks:2), to(1, 5:5), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(to(1, 5) == total(2 * rank + 1), 'MPI_Reduce_scatter')
  end subroutine

  subroutine nonblocking()
    integer :: from(10), to(10, 4)
    type(MPI_Request) :: requests(4)
    from = [(10 * rank + i, i = 1, 10)]
    to = -1
    call MPI_Iallreduce(from(1:10:2), to(1:10:2, 1), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
    call MPI_Iscan(from(1:10:2), to(1:10:2, 2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2))
    call MPI_Ireduce(from(1:10:2), to(1:10:2, 3), 5, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, requests(3))
    call MPI_Iexscan(from(1:10:2), to(1:10:2, 4), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(4))
    ! Nobody but MPI writes the section meanwhile; what is beside it is free.
    to(2:10:2, :) = -2
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call check(all(to(1:10:2, 1) == [(total(i), i = 1, 10, 2)]), 'MPI_Iallreduce')
    call check(all(to(1:10:2, 2) == [(up_to_here(i, rank), i = 1, 10, 2)]), 'MPI_Iscan')
    if (rank == 0) call check(all(to(1:10:2, 3) == [(total(i), i = 1, 10, 2)]), 'MPI_Ireduce')
    if (rank > 0) call check(all(to(1:10:2, 4) == [(up_to_here(i, rank - 1), i = 1, 10, 2)]), 'MPI_Iexscan')
    call check(all(to(2:10:2, :) == -2), 'what is written beside a section meanwhile')
  end subroutine

  ! By each of the functions that complete requests, or say that they are complete.
  subroutine completed_otherwise()
    integer, asynchronous :: from(5), to(9)
    integer :: way, which, list(2), how_many
    logical :: flag
    type(MPI_Request) :: requests(2)
    from = rank
    do way = 1, 9
      to = -1
      requests = MPI_REQUEST_NULL
      call MPI_Iallreduce(from, to(1:9:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2))
      flag = .false.
      do while (.not. flag)
        flag = .true.
        select case (way)
        case (1)
          call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
        case (2)
          call MPI_Test(requests(2), flag, MPI_STATUS_IGNORE)
        case (3)
          call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE)
        case (4)
          call MPI_Testany(2, requests, which, flag, MPI_STATUS_IGNORE)
        case (5)
          call MPI_Testsome(2, requests, how_many, list, MPI_STATUSES_IGNORE)
          flag = how_many == 1
        case (6)
          call MPI_Waitsome(2, requests, how_many, list, MPI_STATUSES_IGNORE)
        case (7)
          call MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE)
        case (8)
          call MPI_Request_get_status(requests(2), flag, MPI_STATUS_IGNORE)
        case (9)
          call MPI_Request_get_status_all(2, requests, flag, MPI_STATUSES_IGNORE)
        end select
      end do
      call check(all(to(1:9:2) == ranks * (ranks - 1) / 2), 'a section when its request is complete')
      call check(all(to(2:9:2) == -1), 'beside it')
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    end do
  end subroutine

  subroutine persistent()
    integer :: from(9), to(9), turn
    type(MPI_Request) :: request
    call MPI_Allreduce_init(from(1:9:2), to(1:9:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do turn = 1, 3
      from = 10 * rank + turn
      to = -1
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(all(to(1:9:2) == total(turn)) .and. all(to(2:9:2) == -1), 'MPI_Allreduce_init')
    end do
    call MPI_Request_free(request)
    call check(request == MPI_REQUEST_NULL, 'MPI_Request_free')
  end subroutine

  subroutine arrays_of_counts()
    integer :: mine(10), every(2, 3 * ranks), counts(ranks), places(ranks)
    type(MPI_Request) :: request
    counts = 2
    places = [(3 * i, i = 0, ranks - 1)]
    mine = [(10 * rank + i, i = 1, 10)]
    every = -1
    call MPI_Allgatherv(mine(1:3:2), 2, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call check_places(every, 'MPI_Allgatherv')
    every = -1
    call MPI_Gatherv(mine(1:3:2), 2, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD)
    if (rank == ranks - 1) call check_places(every, 'MPI_Gatherv')
    every = -1
    call MPI_Iallgatherv(mine(1:3:2), 2, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check_places(every, 'MPI_Iallgatherv')
    mine = -1
    call MPI_Scatterv(every(2, :), counts, places, MPI_INTEGER, mine(4:1:-3), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(mine(4:1:-3) == [10 * rank + 1, 10 * rank + 3]) .and. mine(2) == -1, 'MPI_Scatterv')
    every(1, :) = -1
    every(2, :) = [(100 * rank + i, i = 0, 3 * ranks - 1)]
    call MPI_Alltoallv(every(2, :), counts, places, MPI_INTEGER, every(1, :), counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(every(1, 1::3) == [(100 * i + 3 * rank, i = 0, ranks - 1)]), 'MPI_Alltoallv')
    call check(all(every(1, 2::3) == [(100 * i + 3 * rank + 1, i = 0, ranks - 1)]), 'MPI_Alltoallv, the second one')
    call check(all(every(1, 3::3) == -1), 'beside it')
  end subroutine

  subroutine check_places(every, what)
    integer, intent(in) :: every(:, :)
    character(len=*), intent(in) :: what
    call check(all(every(2, 1::3) == [(10 * i + 1, i = 0, ranks - 1)]), what)
    call check(all(every(2, 2::3) == [(10 * i + 3, i = 0, ranks - 1)]), what)
    call check(all(every(2, 3::3) == -1) .and. all(every(1, :) == -1), what)
  end subroutine

  ! An array of handles that is longer than a few, in use until the request is complete.
  subroutine many_datatypes()
    integer, parameter :: many = 40
    integer :: from(2 * many), to(2 * many), ones(many), sources(many)
    integer(kind=MPI_ADDRESS_KIND) :: places(many)
    type(MPI_Datatype) :: types(many)
    type(MPI_Comm) :: graph
    type(MPI_Request) :: request
    sources = rank
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, many, sources, MPI_UNWEIGHTED, many, sources, MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .false., graph)
    from = [(i, i = 1, 2 * many)]
    to = -1
    ones = 1
    places = [(4 * i, i = 0, many - 1)]
    types = MPI_INTEGER
    call MPI_Ineighbor_alltoallw(from(1::2), ones, places, types, to(1::2), ones, places, types, graph, request)
    types = MPI_DATATYPE_NULL
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(to(1::2) == from(1::2)) .and. all(to(2::2) == -1), 'MPI_Ineighbor_alltoallw')
    call MPI_Comm_free(graph)
  end subroutine

  subroutine packing()
    character :: room(2, 40)
    integer :: position, got(9)
    room = '*'
    position = 0
    call MPI_Pack([1, 2, 3], 3, MPI_INTEGER, room(2, :), 40, position, MPI_COMM_WORLD)
    call MPI_Pack(['a'], 1, MPI_CHARACTER, room(2, :), 40, position, MPI_COMM_WORLD)
    call check(position == 13 .and. all(room(1, :) == '*'), 'MPI_Pack into a section')
    got = -1
    position = 0
    call MPI_Unpack(room(2, :), 40, position, got(1:9:4), 3, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(got == [1, -1, -1, -1, 2, -1, -1, -1, 3]), 'MPI_Unpack from a section')
  end subroutine

  ! A datatype with holes sees the section as if it were contiguous.
  subroutine holes()
    type(MPI_Datatype) :: every_second
    integer :: from(12), to(12)
    type(MPI_Request) :: request
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, every_second)
    call MPI_Type_commit(every_second)
    from = [(10 * rank + i, i = 1, 12)]
    to = -1
    call MPI_Irecv(to(1:12:2), 1, every_second, before, 3, MPI_COMM_WORLD, request)
    call MPI_Send(from(2:12:2), 1, every_second, next, 3, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(to(1:9:4) == [(10 * before + i, i = 2, 10, 4)]), 'a datatype with holes on a section')
    call check(count(to == -1) == 9, 'the holes')
    call MPI_Type_free(every_second)
  end subroutine

  subroutine blocks_within_rows()
    integer :: matrix(6, 2 * ranks), i, j
    matrix = -1
    call MPI_Allgather([rank, rank, rank], 3, MPI_INTEGER, matrix(1:4, :), 3, MPI_INTEGER, MPI_COMM_WORLD)
    do i = 0, 3 * ranks - 1
      j = i / 4
      call check(matrix(mod(i, 4) + 1, j + 1) == i / 3, 'blocks that end within a row')
    end do
    call check(all(matrix(5:, :) == -1), 'beside these blocks')
  end subroutine

  subroutine partitions()
    integer, parameter :: number = 4, count = 5
    integer :: from(2, number * count), to(2, number * count), turn, i
    logical :: here
    type(MPI_Request) :: requests(2)
    call MPI_Psend_init(from(1, :), number, int(count, MPI_COUNT_KIND), MPI_INTEGER, next, 0, MPI_COMM_WORLD, &
      MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(to(2, :), number, int(count, MPI_COUNT_KIND), MPI_INTEGER, before, 0, MPI_COMM_WORLD, &
      MPI_INFO_NULL, requests(2))
    do turn = 1, 2
      to = -1
      call MPI_Startall(2, requests)
      from = 100 * rank + turn
      call MPI_Pready(2, requests(1))
      call MPI_Pready_range(0, 1, requests(1))
      call MPI_Pready_list(1, [3], requests(1))
      here = .false.
      do while (.not. here)
        call MPI_Parrived(requests(2), 3, here)
      end do
      call check(all(to(2, 3 * count + 1:) == 100 * before + turn), 'a partition of a section')
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(all(to(2, :) == 100 * before + turn) .and. all(to(1, :) == -1), 'all partitions')
    end do
    do i = 1, 2
      call MPI_Request_free(requests(i))
    end do
  end subroutine

  subroutine files()
    type(MPI_File) :: file
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: mine(10), got(10), count
    character(len=1000) :: name
    call get_command_argument(0, name)
    call MPI_File_open(MPI_COMM_WORLD, trim(name) // '.sections', &
      ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), MPI_INFO_NULL, file)
    mine = [(10 * rank + i, i = 1, 10)]
    call MPI_File_iwrite_at(file, 20_MPI_OFFSET_KIND * rank, mine(10:2:-2), 5, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 5, 'MPI_File_iwrite_at')
    call MPI_File_read_at_all_begin(file, 20_MPI_OFFSET_KIND * rank, got(2:10:2), 5, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, got(2:10:2), status)
    call check(all(got(2:10:2) == mine(10:2:-2)), 'MPI_File_read_at_all_begin')
    call MPI_File_close(file)
  end subroutine

  subroutine windows()
    type(MPI_Win) :: win
    integer :: memory(10), from(9), to(9), old(4)
    memory = 1
    from = 2
    to = -1
    old = -1
    call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Get_accumulate(from(1:9:2), 5, MPI_INTEGER, to(1:9:2), 5, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 5, &
      MPI_INTEGER, MPI_SUM, win)
    call MPI_Fetch_and_op(from(1:9:2), old(1:3:2), MPI_INTEGER, next, 9_MPI_ADDRESS_KIND, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call check(all(memory == [3, 3, 3, 3, 3, 1, 1, 1, 1, 3]), 'MPI_Get_accumulate')
    call check(all(to == [1, -1, 1, -1, 1, -1, 1, -1, 1]), 'what was there')
    call check(all(old == [1, -1, -1, -1]), 'MPI_Fetch_and_op')
    call MPI_Win_free(win)
  end subroutine

  ! No copy can stand for the memory itself, or for what is read until an epoch ends.
  subroutine refused()
    character :: room(2, 4000)
    integer :: code, class
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Buffer_attach(room(1, :), 4000, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_BUFFER, 'a section as buffer of MPI')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  end subroutine
end program
