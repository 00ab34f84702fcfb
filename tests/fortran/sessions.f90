! Sessions by mpi_f08 without MPI_Init: process sets, info, error handlers, and what a communicator made from one can do.
module on_sessions
  use mpi_f08
  implicit none
  integer :: handled = 0
contains
  subroutine handle(session, error_code)
    type(MPI_Session) :: session
    integer :: error_code
    if (session /= MPI_SESSION_NULL .and. error_code /= MPI_SUCCESS) handled = handled + 1
  end subroutine
end module

program sessions
  use mpi_f08
  use on_sessions
  implicit none
  type(MPI_Session) :: session, other
  type(MPI_Errhandler) :: handler, found
  type(MPI_Info) :: info
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  integer :: number, length, sum, ranks, class, code
  character(len=MPI_MAX_PSET_NAME_LEN) :: name
  character(len=10) :: value
  logical :: flag
  call MPI_Session_create_errhandler(handle, handler)
  call MPI_Session_init(MPI_INFO_NULL, handler, session)
  call MPI_Session_get_errhandler(session, found)
  call check(found /= MPI_ERRHANDLER_NULL, 'MPI_Session_get_errhandler')
  call MPI_Errhandler_free(found)
  call MPI_Session_call_errhandler(session, MPI_ERR_ARG)
  call check(handled == 1, 'MPI_Session_call_errhandler')
  call MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN)
  call MPI_Errhandler_free(handler)
  call MPI_Session_get_info(session, info)
  call MPI_Info_free(info)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, number)
  number = 0
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, number, name)
  length = len(name)
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
  call check(len_trim(name) == number .and. number > 3, 'MPI_Session_get_nth_pset')
  number = 3
  value = repeat('*', 10)
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, number, value)
  call check(value == name(1:3), 'the beginning of the name of a process set')
  call MPI_Session_get_pset_info(session, 'mpi://SELF', info)
  value = ''
  call MPI_Info_get(info, 'mpi_size', 10, value, flag)
  call check(flag .and. value == '1', 'mpi_size of a process set')
  call MPI_Info_free(info)
  call MPI_Group_from_session_pset(session, 'no such set', group, code)
  call MPI_Error_class(code, class)
  call check(code /= MPI_SUCCESS, 'a process set that is not there')
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, other)
  call check(other /= session, 'two sessions')
  call MPI_Session_finalize(other)
  call check(other == MPI_SESSION_NULL, 'MPI_Session_finalize')
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group)
  call MPI_Group_size(group, ranks)
  call MPI_Comm_create_from_group(group, 'all', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm)
  call MPI_Group_free(group)
  call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, comm)
  call check(sum == ranks, 'a communicator of a session')
  call MPI_Comm_disconnect(comm)
  call MPI_Session_finalize(session)
end program
