! Procedures of the user by mpi_f08: attributes, error handlers, generalized requests.
module procedures
  use mpi_f08
  implicit none
  integer :: copies = 0, deletions = 0, handled = 0, queried = 0, freed = 0
contains
  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call check(oldcomm == MPI_COMM_SELF .and. comm_keyval /= MPI_KEYVAL_INVALID, 'arguments of a copy')
    call check(extra_state == 77, 'what was left for a copy')
    copies = copies + 1
    attribute_val_out = attribute_val_in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call check(comm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID, 'arguments of a deletion')
    call check(attribute_val > huge(1) .and. extra_state == 77, 'the value that is deleted')
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine handle(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code, class
    call check(comm == MPI_COMM_SELF, 'the communicator of an error')
    call MPI_Error_class(error_code, class)
    if (class == MPI_ERR_RANK) handled = handled + 1
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call check(extra_state == 5, 'what was left for a query')
    status%MPI_SOURCE = 3
    status%MPI_TAG = 4
    call MPI_Status_set_elements(status, MPI_INTEGER, 2)
    call MPI_Status_set_cancelled(status, .false.)
    queried = queried + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    if (extra_state == 5) freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    call check(extra_state == 5 .and. .not. complete, 'arguments of a cancellation')
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use procedures
  implicit none
  call MPI_Init()
  call attributes()
  call predefined()
  call errors()
  call requests()
  call MPI_Finalize()
contains

  subroutine attributes()
    integer :: key, i
    integer(kind=MPI_ADDRESS_KIND) :: value, large
    logical :: flag
    type(MPI_Comm) :: twin
    large = int(huge(1), MPI_ADDRESS_KIND) * 1000
    call MPI_Comm_create_keyval(copy, delete, key, 77_MPI_ADDRESS_KIND)
    call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag)
    call check(.not. flag, 'an attribute that is not there')
    do i = 1, 2500
      call MPI_Comm_set_attr(MPI_COMM_SELF, key, large + i)
    end do
    call check(deletions == 2499, 'values that are replaced')
    call MPI_Comm_dup(MPI_COMM_SELF, twin)
    call MPI_Comm_get_attr(twin, key, value, flag)
    call check(flag .and. value == large + 2501 .and. copies == 1, 'a value that is copied')
    call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag)
    call check(flag .and. value == large + 2500, 'a value')
    call MPI_Comm_free(twin)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
    call check(deletions == 2501, 'values that are deleted')
    call MPI_Comm_free_keyval(key)
    call check(key == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call on_datatypes(key)
    call MPI_Type_free_keyval(key)
  end subroutine

  subroutine on_datatypes(key)
    integer, intent(in) :: key
    type(MPI_Datatype) :: one, other
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Type_contiguous(2, MPI_REAL, one)
    call MPI_Type_set_attr(one, key, -5_MPI_ADDRESS_KIND)
    call MPI_Type_dup(one, other)
    call MPI_Type_get_attr(other, key, value, flag)
    call check(flag .and. value == -5, 'MPI_TYPE_DUP_FN')
    call MPI_Type_free(one)
    call MPI_Type_free(other)
  end subroutine

  subroutine predefined()
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag)
    call check(flag .and. (value == 0 .or. value == 1), 'MPI_WTIME_IS_GLOBAL')
  end subroutine

  subroutine errors()
    type(MPI_Errhandler) :: handler, found
    integer :: code
    call MPI_Comm_create_errhandler(handle, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
    call MPI_Comm_get_errhandler(MPI_COMM_SELF, found)
    call MPI_Errhandler_free(found)
    call MPI_Send(1, 1, MPI_INTEGER, 17, 0, MPI_COMM_SELF, code)
    call check(handled == 1, 'an error handler of the user')
    call MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_RANK)
    call check(handled == 2, 'MPI_Comm_call_errhandler')
    call MPI_Errhandler_free(handler)
    call check(handler == MPI_ERRHANDLER_NULL, 'MPI_Errhandler_free')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  end subroutine

  subroutine requests()
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count
    call MPI_Grequest_start(query, release, cancel, 5_MPI_ADDRESS_KIND, request)
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_elements(status, MPI_INTEGER, count)
    call check(status%MPI_TAG == 4 .and. count == 2, 'the status of a generalized request')
    call check(queried == 1 .and. freed == 1, 'procedures of a generalized request')
  end subroutine
end program
