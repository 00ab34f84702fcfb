! All kinds of sends and receives, all collectives without wait and to be started again, by mpi_f08: each with sections of arrays.
program modes
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, before, i
  type(MPI_Request) :: requests(2)
  integer :: from(9), to(9), blocks(2, 9)
  integer, allocatable :: counts(:), places(:), every(:, :), others(:, :)
  integer(kind=MPI_ADDRESS_KIND), allocatable :: far(:)
  type(MPI_Datatype), allocatable :: types(:)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  allocate (counts(ranks), places(ranks), every(2, ranks), others(2, ranks), far(ranks), types(ranks))
  counts = 1
  places = [(i, i = 0, ranks - 1)]
  far = [(4_MPI_ADDRESS_KIND * i, i = 0, ranks - 1)]
  types = MPI_INTEGER
  call sends()
  call started_again()
  call exchanges()
  call probes()
  call buffers()
  call statuses()
  call collectives()
  call collectives_started_again()
  call neighborhoods()
  call MPI_Finalize()
contains

  subroutine prepare()
    from = [(100 * rank + i, i = 1, 9)]
    to = -1
  end subroutine

  subroutine arrived(what)
    character(len=*), intent(in) :: what
    call check(all(to(1::2) == [(100 * before + i, i = 1, 9, 2)]) .and. all(to(2::2) == -1), what)
    call prepare()
  end subroutine

  subroutine sends()
    call prepare()
    call MPI_Irecv(to(1::2), 5, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Ssend(from(1::2), 5, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call arrived('MPI_Ssend')
    call MPI_Irecv(to(1::2), 5, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Issend(from(1::2), 5, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call arrived('MPI_Issend')
    call MPI_Irecv(to(1::2), 5, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Rsend(from(1::2), 5, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call arrived('MPI_Rsend')
    call MPI_Irecv(to(1::2), 5, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Irsend(from(1::2), 5, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call arrived('MPI_Irsend')
  end subroutine

  subroutine started_again()
    call MPI_Ssend_init(from(1::2), 5, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(1))
    call twice('MPI_Ssend_init')
    call MPI_Send_init(from(1::2), 5, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(1))
    call twice('MPI_Send_init')
    call MPI_Rsend_init(from(1::2), 5, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(1))
    call twice('MPI_Rsend_init')
  end subroutine

  subroutine twice(what)
    character(len=*), intent(in) :: what
    integer :: turn
    call MPI_Recv_init(to(1::2), 5, MPI_INTEGER, before, 2, MPI_COMM_WORLD, requests(2))
    do turn = 1, 2
      call prepare()
      call MPI_Start(requests(2))
      call MPI_Barrier(MPI_COMM_WORLD)
      call MPI_Start(requests(1))
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call arrived(what)
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  subroutine exchanges()
    call MPI_Isendrecv(from(1::2), 5, MPI_INTEGER, next, 3, to(1::2), 5, MPI_INTEGER, before, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call arrived('MPI_Isendrecv')
    to(1::2) = from(1::2)
    call MPI_Sendrecv_replace(to(1::2), 5, MPI_INTEGER, next, 3, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call arrived('MPI_Sendrecv_replace')
    ! MPICH changes nothing here if the datatype is derived, as that of a section is.
    to = from
    call MPI_Isendrecv_replace(to, 9, MPI_INTEGER, next, 3, before, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    to(2::2) = -1
    call arrived('MPI_Isendrecv_replace')
  end subroutine

  subroutine probes()
    type(MPI_Message) :: message
    logical :: flag
    call MPI_Isend(from(1::2), 5, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(1))
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(before, 4, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE)
    end do
    call MPI_Imrecv(to(1::2), 5, MPI_INTEGER, message, requests(2))
    call check(message == MPI_MESSAGE_NULL, 'MPI_Imrecv')
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call arrived('MPI_Imrecv')
  end subroutine

  subroutine buffers()
    use, intrinsic :: iso_c_binding
    character, target :: room(1000)
    type(c_ptr) :: place
    integer :: bytes
    integer(kind=MPI_COUNT_KIND) :: many
    type(MPI_Session) :: session
    call MPI_Buffer_attach(room, 1000)
    call MPI_Ibsend(from(1::2), 5, MPI_INTEGER, next, 5, MPI_COMM_WORLD, requests(1))
    call MPI_Recv(to(1::2), 5, MPI_INTEGER, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call arrived('MPI_Ibsend')
    call MPI_Bsend_init(from(1::2), 5, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(1))
    call twice('MPI_Bsend_init')
    call MPI_Buffer_flush()
    call MPI_Buffer_iflush(requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Buffer_detach(place, many)
    call check(many == 1000 .and. c_associated(place, c_loc(room)), 'MPI_Buffer_detach with a large count')
    call MPI_Comm_attach_buffer(MPI_COMM_WORLD, room, 1000)
    call MPI_Bsend(from(1::2), 5, MPI_INTEGER, next, 5, MPI_COMM_WORLD)
    call MPI_Recv(to(1::2), 5, MPI_INTEGER, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call arrived('MPI_Comm_attach_buffer')
    call MPI_Comm_flush_buffer(MPI_COMM_WORLD)
    call MPI_Comm_iflush_buffer(MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Comm_detach_buffer(MPI_COMM_WORLD, place, bytes)
    call check(bytes == 1000 .and. c_associated(place, c_loc(room)), 'MPI_Comm_detach_buffer')
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session)
    call MPI_Session_attach_buffer(session, room, 1000)
    call MPI_Session_flush_buffer(session)
    call MPI_Session_iflush_buffer(session, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Session_detach_buffer(session, place, bytes)
    call check(bytes == 1000 .and. c_associated(place, c_loc(room)), 'MPI_Session_detach_buffer')
    call MPI_Session_finalize(session)
    call MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0)
    call MPI_Bsend(from(1::2), 5, MPI_INTEGER, next, 5, MPI_COMM_WORLD)
    call MPI_Recv(to(1::2), 5, MPI_INTEGER, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Comm_detach_buffer(MPI_COMM_WORLD, place, bytes)
    call arrived('MPI_BUFFER_AUTOMATIC')
  end subroutine

  subroutine statuses()
    type(MPI_Status) :: status, list(2)
    integer :: number, found(2)
    integer(kind=MPI_COUNT_KIND) :: many
    logical :: flag
    status%MPI_ERROR = 0
    call MPI_Status_set_source(status, 3)
    call MPI_Status_set_tag(status, 4)
    call MPI_Status_set_error(status, MPI_ERR_RANK)
    call MPI_Status_get_source(status, number)
    call check(number == 3 .and. status%MPI_SOURCE == 3, 'MPI_Status_set_source')
    call MPI_Status_get_tag(status, number)
    call check(number == 4 .and. status%MPI_TAG == 4, 'MPI_Status_set_tag')
    call MPI_Status_get_error(status, number)
    call check(number == MPI_ERR_RANK .and. status%MPI_ERROR == MPI_ERR_RANK, 'MPI_Status_set_error')
    call MPI_Status_set_elements_x(status, MPI_INTEGER, 7_MPI_COUNT_KIND)
    call MPI_Get_elements_x(status, MPI_INTEGER, many)
    call check(many == 7, 'MPI_Status_set_elements_x')
    call MPI_Status_set_cancelled(status, .true.)
    call MPI_Test_cancelled(status, flag)
    call check(flag, 'MPI_Test_cancelled')
    call MPI_Status_set_cancelled(status, .false.)
    call MPI_Test_cancelled(status, flag)
    call check(.not. flag, 'MPI_Test_cancelled, and it is not')
    requests(1) = MPI_REQUEST_NULL
    call MPI_Irecv(to, 9, MPI_INTEGER, before, 6, MPI_COMM_WORLD, requests(2))
    call MPI_Send(from, 9, MPI_INTEGER, next, 6, MPI_COMM_WORLD)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status_any(2, requests, number, flag, status)
    end do
    call check(number == 2 .and. status%MPI_TAG == 6, 'MPI_Request_get_status_any')
    call MPI_Request_get_status_some(2, requests, number, found, list)
    call check(number == 1 .and. found(1) == 2 .and. list(1)%MPI_SOURCE == before, 'MPI_Request_get_status_some')
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    call prepare()
  end subroutine

  subroutine waited(what)
    character(len=*), intent(in) :: what
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(every(2, :) == [(100 * i + 1, i = 0, ranks - 1)]) .and. all(every(1, :) == -1), what)
    every = -1
  end subroutine

  subroutine exchanged(what)
    character(len=*), intent(in) :: what
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(every(2, :) == [(100 * i + rank, i = 0, ranks - 1)]) .and. all(every(1, :) == -1), what)
    every = -1
  end subroutine

  subroutine collectives()
    every = -1
    others(1, :) = [(100 * rank + i, i = 0, ranks - 1)]
    others(2, :) = -5
    call MPI_Iallgather(from, 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
    call waited('MPI_Iallgather')
    call MPI_Gather(from, 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    requests(1) = MPI_REQUEST_NULL
    if (rank == 0) call waited('MPI_Gather')
    call MPI_Igather(from, 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
    call at_root('MPI_Igather')
    call MPI_Igatherv(from, 1, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
    call at_root('MPI_Igatherv')
    call MPI_Ialltoall(others(1, :), 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
    call exchanged('MPI_Ialltoall')
    call MPI_Ialltoallv(others(1, :), counts, places, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, &
      MPI_COMM_WORLD, requests(1))
    call exchanged('MPI_Ialltoallv')
    call MPI_Scatter(others(1, :), 1, MPI_INTEGER, to, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(to(1) == rank, 'MPI_Scatter')
    call MPI_Iscatterv(others(1, :), counts, places, MPI_INTEGER, to, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(to(1) == rank, 'MPI_Iscatterv')
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    blocks = rank
    call MPI_Ibcast(blocks(2, :), 9, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(blocks(2, :) == ranks - 1) .and. all(blocks(1, :) == rank), 'MPI_Ibcast')
    call MPI_Ireduce_scatter(others(1, :), to(3:3), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(to(3) == 50 * ranks * (ranks - 1) + ranks * rank, 'MPI_Ireduce_scatter')
    call MPI_Ireduce_scatter_block(others(1, :), to(4:4), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(to(4) == to(3), 'MPI_Ireduce_scatter_block')
    call prepare()
  end subroutine

  subroutine at_root(what)
    character(len=*), intent(in) :: what
    if (rank == 0) call waited(what)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  end subroutine

  subroutine run_twice(what, way)
    character(len=*), intent(in) :: what
    integer, intent(in) :: way
    integer :: turn
    type(MPI_Request) :: kept
    kept = requests(1)
    do turn = 1, 2
      call MPI_Start(requests(1))
      if (way == 1) call waited(what)
      if (way == 2) call exchanged(what)
      if (way == 3) call at_root(what)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    end do
    call check(requests(1) == kept, what // ', the request')
    call MPI_Request_free(requests(1))
  end subroutine

  subroutine collectives_started_again()
    type(MPI_Info) :: none
    none = MPI_INFO_NULL
    every = -1
    call MPI_Barrier_init(MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Barrier_init', 0)
    call MPI_Allgather_init(from, 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Allgather_init', 1)
    call MPI_Allgatherv_init(from, 1, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Allgatherv_init', 1)
    call MPI_Gather_init(from, 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Gather_init', 3)
    call MPI_Gatherv_init(from, 1, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Gatherv_init', 3)
    call MPI_Alltoall_init(others(1, :), 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Alltoall_init', 2)
    call MPI_Alltoallv_init(others(1, :), counts, places, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, &
      MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Alltoallv_init', 2)
    call MPI_Alltoallw_init(others(1, :), counts, 4 * places, types, every(2, :), counts, 4 * places, types, &
      MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Alltoallw_init', 2)
    call MPI_Bcast_init(blocks(2, :), 9, MPI_INTEGER, 0, MPI_COMM_WORLD, none, requests(1))
    blocks = rank
    call run_twice('MPI_Bcast_init', 0)
    call check(all(blocks(2, :) == 0), 'MPI_Bcast_init')
    call MPI_Scatter_init(others(1, :), 1, MPI_INTEGER, to(1:1), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Scatter_init', 0)
    call MPI_Scatterv_init(others(1, :), counts, places, MPI_INTEGER, to(2:2), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, none, &
      requests(1))
    call run_twice('MPI_Scatterv_init', 0)
    call check(all(to(1:2) == rank), 'MPI_Scatter_init')
    call MPI_Reduce_init(from(1::2), to(1::2), 5, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Reduce_init', 0)
    if (rank == 0) call check(all(to(1::2) == [(100 * (ranks - 1) + i, i = 1, 9, 2)]), 'MPI_Reduce_init')
    call MPI_Scan_init(from(1::2), to(1::2), 5, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Scan_init', 0)
    call check(all(to(1::2) == from(1::2)), 'MPI_Scan_init')
    call MPI_Exscan_init(from(1::2), to(1::2), 5, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Exscan_init', 0)
    if (rank > 0) call check(all(to(1::2) == from(1::2) - 100), 'MPI_Exscan_init')
    call MPI_Reduce_scatter_init(others(1, :), to(1:1), counts, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Reduce_scatter_init', 0)
    call MPI_Reduce_scatter_block_init(others(1, :), to(2:2), 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, none, requests(1))
    call run_twice('MPI_Reduce_scatter_block_init', 0)
    call check(all(to(1:2) == 100 * (ranks - 1) + rank), 'MPI_Reduce_scatter_init')
  end subroutine

  ! In a neighborhood of all processes.
  subroutine neighborhoods()
    type(MPI_Comm) :: all_of_them
    type(MPI_Info) :: none
    none = MPI_INFO_NULL
    every = -1
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, places, MPI_UNWEIGHTED, ranks, places, MPI_UNWEIGHTED, &
      none, .false., all_of_them)
    requests(1) = MPI_REQUEST_NULL
    call MPI_Ineighbor_allgather(from, 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, all_of_them, requests(1))
    call waited('MPI_Ineighbor_allgather')
    call MPI_Neighbor_allgatherv(from, 1, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, all_of_them)
    call waited('MPI_Neighbor_allgatherv')
    call MPI_Ineighbor_allgatherv(from, 1, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, all_of_them, requests(1))
    call waited('MPI_Ineighbor_allgatherv')
    call MPI_Neighbor_alltoall(others(1, :), 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, all_of_them)
    call exchanged('MPI_Neighbor_alltoall')
    call MPI_Ineighbor_alltoall(others(1, :), 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, all_of_them, requests(1))
    call exchanged('MPI_Ineighbor_alltoall')
    call MPI_Neighbor_alltoallv(others(1, :), counts, places, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, &
      all_of_them)
    call exchanged('MPI_Neighbor_alltoallv')
    call MPI_Ineighbor_alltoallv(others(1, :), counts, places, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, &
      all_of_them, requests(1))
    call exchanged('MPI_Ineighbor_alltoallv')
    call MPI_Neighbor_alltoallw(others(1, :), counts, far, types, every(2, :), counts, far, types, all_of_them)
    call exchanged('MPI_Neighbor_alltoallw')
    call MPI_Neighbor_allgather_init(from, 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, all_of_them, none, requests(1))
    call run_twice('MPI_Neighbor_allgather_init', 1)
    call MPI_Neighbor_allgatherv_init(from, 1, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, all_of_them, none, &
      requests(1))
    call run_twice('MPI_Neighbor_allgatherv_init', 1)
    call MPI_Neighbor_alltoall_init(others(1, :), 1, MPI_INTEGER, every(2, :), 1, MPI_INTEGER, all_of_them, none, requests(1))
    call run_twice('MPI_Neighbor_alltoall_init', 2)
    call MPI_Neighbor_alltoallv_init(others(1, :), counts, places, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, &
      all_of_them, none, requests(1))
    call run_twice('MPI_Neighbor_alltoallv_init', 2)
    call MPI_Neighbor_alltoallw_init(others(1, :), counts, far, types, every(2, :), counts, far, types, all_of_them, none, &
      requests(1))
    call run_twice('MPI_Neighbor_alltoallw_init', 2)
    call MPI_Comm_free(all_of_them)
  end subroutine
end program
