! Processes that are started, with arguments and without, and jobs that meet by ports and names, by mpi_f08. A started one is this program again.
program processes
  use mpi_f08
  implicit none
  integer, parameter :: children = 2
  integer :: rank, ranks
  type(MPI_Comm) :: parent
  integer :: length
  character(len=1000) :: program_name
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(0, program_name)
  call MPI_Comm_get_parent(parent)
  if (parent /= MPI_COMM_NULL) then
    call child()
  else
    call start_with_arguments()
    call start_without_arguments()
    call MPI_Get_library_version(version, length)
    ! MPICH's launcher cannot read what it is sent for several programs.
    if (index(version, 'MPICH') == 0) call start_several()
    call meet()
  end if
  call MPI_Finalize()
contains

  ! Tells the parents how many arguments there are, and the last one.
  subroutine child()
    integer :: words
    character(len=20) :: last
    words = command_argument_count()
    last = ''
    if (words > 0) call get_command_argument(words, last)
    if (rank == 0) then
      call MPI_Send(words, 1, MPI_INTEGER, 0, 1, parent)
      call MPI_Send(last, 20, MPI_CHARACTER, 0, 2, parent)
    end if
    ! MPICH fails where a process that was started has ended before all others have heard of it.
    call MPI_Barrier(parent)
    call MPI_Comm_disconnect(parent)
  end subroutine

  subroutine check_children(comm, number, words, last, what)
    type(MPI_Comm), intent(inout) :: comm
    integer, intent(in) :: number, words
    character(len=*), intent(in) :: last, what
    integer :: remote, found
    character(len=20) :: text
    call MPI_Comm_remote_size(comm, remote)
    call check(remote == number, what // ', how many')
    if (rank == 0) then
      call MPI_Recv(found, 1, MPI_INTEGER, 0, 1, comm, MPI_STATUS_IGNORE)
      call MPI_Recv(text, 20, MPI_CHARACTER, 0, 2, comm, MPI_STATUS_IGNORE)
      call check(found == words .and. text == last, what // ', arguments')
    end if
    call MPI_Barrier(comm)
    call MPI_Comm_disconnect(comm)
  end subroutine

  subroutine start_with_arguments()
    type(MPI_Comm) :: comm
    integer :: codes(children)
    character(len=12) :: words(4)
    words = [character(len=12) :: 'one', 'two words', 'three', '']
    codes = -1
    call MPI_Comm_spawn(program_name, words, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, comm, codes)
    call check(all(codes == MPI_SUCCESS), 'error codes')
    call check_children(comm, children, 3, 'three', 'MPI_Comm_spawn')
  end subroutine

  subroutine start_without_arguments()
    type(MPI_Comm) :: comm
    integer :: code
    call MPI_Comm_spawn(program_name, MPI_ARGV_NULL, 1, MPI_INFO_NULL, ranks - 1, MPI_COMM_WORLD, comm, &
      MPI_ERRCODES_IGNORE, code)
    call check(code == MPI_SUCCESS, 'MPI_ERRCODES_IGNORE')
    call check_children(comm, 1, 0, '', 'MPI_ARGV_NULL')
  end subroutine

  subroutine start_several()
    type(MPI_Comm) :: comm
    integer :: codes(2)
    character(len=1000) :: commands(2)
    character(len=8) :: words(2, 3)
    words(1, :) = [character(len=8) :: 'first', 'second', '']
    words(2, :) = [character(len=8) :: 'other', '', '']
    commands = program_name
    call MPI_Comm_spawn_multiple(2, commands, words, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, comm, codes)
    call check(all(codes == MPI_SUCCESS), 'error codes of several programs')
    call check_children(comm, 2, 2, 'second', 'MPI_Comm_spawn_multiple')
    call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, &
      comm, MPI_ERRCODES_IGNORE)
    call check_children(comm, 2, 0, '', 'MPI_ARGVS_NULL')
  end subroutine

  ! The lower ranks accept, the others connect; only where there are others.
  subroutine meet()
    type(MPI_Comm) :: half, comm
    character(len=MPI_MAX_PORT_NAME) :: port, found
    integer :: number, code
    if (ranks < 2) return
    port = ''
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    if (rank == 0) call MPI_Open_port(MPI_INFO_NULL, port)
    call MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call check(len_trim(port) > 0, 'MPI_Open_port')
    if (rank == 0) then
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
      call MPI_Publish_name('a name ', MPI_INFO_NULL, port, code)
      if (code == MPI_SUCCESS) then
        call MPI_Lookup_name('a name', MPI_INFO_NULL, found)
        call check(found == port, 'MPI_Lookup_name')
        call MPI_Unpublish_name('a name', MPI_INFO_NULL, port)
      end if
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    end if
    if (mod(rank, 2) == 0) then
      call MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, comm)
    else
      call MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, comm)
    end if
    call MPI_Comm_remote_size(comm, number)
    call check(number == (ranks + mod(rank, 2)) / 2, 'MPI_Comm_accept')
    call MPI_Comm_disconnect(comm)
    if (rank == 0) call MPI_Close_port(port)
    call MPI_Comm_free(half)
  end subroutine
end program
