! One program in C and Fortran: handles, statuses, attributes, operations, error handlers and requests of one language in the other.
module procedures
  use mpi_f08
  implicit none
  integer :: handled = 0, deletions = 0
contains
  subroutine handle(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code, class
    call MPI_Error_class(error_code, class)
    if (comm == MPI_COMM_SELF .and. class == MPI_ERR_TAG) handled = handled + 1
  end subroutine
  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call check(comm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID .and. extra_state == 9, 'arguments of a deletion')
    if (attribute_val == 123456789012_MPI_ADDRESS_KIND .or. attribute_val == 4711) deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine add_twice(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    call check(datatype == MPI_INTEGER .or. datatype == MPI_INT, 'the datatype of an operation')
    inout = 2 * in + inout
  end subroutine
end module

program with_c
  use mpi_f08
  use procedures
  implicit none
  interface
    subroutine attributes_in_c(comm, key) bind(C)
      integer, value :: comm, key
    end subroutine
    subroutine widths_in_c(datatype, win, of_type, of_win) bind(C)
      integer, value :: datatype, win, of_type, of_win
    end subroutine
    subroutine handles_in_c(list, answers) bind(C)
      integer, intent(in) :: list(11)
      integer, intent(out) :: answers(11)
    end subroutine
    subroutine status_in_c(f_status, f08_status) bind(C)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(inout) :: f08_status
    end subroutine
    subroutine error_in_c(handler) bind(C)
      integer, value :: handler
    end subroutine
    integer function operation_in_c(op, made) bind(C)
      integer, value :: op
      integer :: made
    end function
    integer function handler_of_c() bind(C)
    end function
    integer function handled_by_c() bind(C)
    end function
    integer function key_of_c() bind(C)
    end function
    subroutine complete_in_c(request) bind(C)
      integer, value :: request
    end subroutine
  end interface
  call MPI_Init()
  call attributes()
  call attributes_of_others()
  call handles()
  call statuses()
  call errors()
  call operations()
  call requests()
  call MPI_Finalize()
contains

  subroutine attributes()
    integer :: key
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, key, 9_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 123456789012_MPI_ADDRESS_KIND)
    call attributes_in_c(MPI_COMM_WORLD%MPI_VAL, key)
    call check(deletions == 1, 'C replaces what Fortran has set')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag)
    call check(flag .and. value == 4711, 'what C has set')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call check(deletions == 2, 'Fortran deletes what C has set')
    call MPI_Comm_free_keyval(key)
    ! A key of C, whose procedures in C see the value as C does.
    key = key_of_c()
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
    call MPI_Comm_free_keyval(key)
  end subroutine

  subroutine attributes_of_others()
    type(MPI_Datatype) :: datatype
    type(MPI_Win) :: win
    integer :: of_type, of_win, memory(2)
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Type_contiguous(2, MPI_INTEGER, datatype)
    call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, of_type, 0_MPI_ADDRESS_KIND)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, of_win, 0_MPI_ADDRESS_KIND)
    call MPI_Type_set_attr(datatype, of_type, -7_MPI_ADDRESS_KIND)
    call MPI_Win_set_attr(win, of_win, -8_MPI_ADDRESS_KIND)
    call widths_in_c(datatype%MPI_VAL, win%MPI_VAL, of_type, of_win)
    call MPI_Type_get_attr(datatype, of_type, value, flag)
    call check(flag .and. value == 17, 'what C has set of a datatype')
    call MPI_Win_get_attr(win, of_win, value, flag)
    call check(flag .and. value == 18, 'what C has set of a window')
    call MPI_Type_free_keyval(of_type)
    call MPI_Win_free_keyval(of_win)
    call MPI_Win_free(win)
    call MPI_Type_free(datatype)
  end subroutine

  ! C does with each handle what can be done, and sends numbers back.
  subroutine handles()
    type(MPI_Comm) :: comm
    type(MPI_Group) :: group
    type(MPI_Info) :: info
    type(MPI_Datatype) :: datatype
    type(MPI_Win) :: win
    type(MPI_File) :: file
    type(MPI_Session) :: session
    integer :: memory(4), answers(11), ranks
    character(len=1000) :: name
    call get_command_argument(0, name)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_group(comm, group)
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'a', 'b')
    call MPI_Type_contiguous(3, MPI_INTEGER, datatype)
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, win)
    call MPI_File_open(comm, trim(name) // '.with_c', ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), &
      MPI_INFO_NULL, file)
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
    call handles_in_c([comm%MPI_VAL, group%MPI_VAL, info%MPI_VAL, datatype%MPI_VAL, win%MPI_VAL, file%MPI_VAL, &
      session%MPI_VAL, MPI_SUM%MPI_VAL, MPI_REQUEST_NULL%MPI_VAL, MPI_MESSAGE_NULL%MPI_VAL, &
      MPI_ERRORS_RETURN%MPI_VAL], answers)
    call check(all(answers == [ranks, ranks, 1, 12, 1, 4, 1, 1, 1, 1, 1]), 'handles in C')
    call MPI_Session_finalize(session)
    call MPI_File_close(file)
    call MPI_Win_free(win)
    call MPI_Type_free(datatype)
    call MPI_Info_free(info)
    call MPI_Group_free(group)
    call MPI_Comm_free(comm)
  end subroutine

  subroutine statuses()
    type(MPI_Status) :: status
    integer :: old(MPI_STATUS_SIZE), count
    status%MPI_SOURCE = 1
    status%MPI_TAG = 2
    status%MPI_ERROR = 3
    call MPI_Status_set_elements(status, MPI_INTEGER, 4)
    call MPI_Status_f082f(status, old)
    call check(all(old(1:3) == [1, 2, 3]), 'MPI_Status_f082f')
    call status_in_c(old, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(status%MPI_TAG == 12 .and. count == 5, 'a status of C')
  end subroutine

  subroutine errors()
    type(MPI_Errhandler) :: handler
    integer :: code
    call MPI_Comm_create_errhandler(handle, handler)
    call error_in_c(handler%MPI_VAL)
    call check(handled == 1, 'a handler of Fortran for an error in C')
    call MPI_Errhandler_free(handler)
    handler%MPI_VAL = handler_of_c()
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
    call MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_TOPOLOGY, code)
    call check(handled_by_c() == 1, 'a handler of C for an error in Fortran')
    call MPI_Errhandler_free(handler)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  end subroutine

  subroutine operations()
    type(MPI_Op) :: op, other
    integer :: value
    call MPI_Op_create(add_twice, .true., op)
    call check(operation_in_c(op%MPI_VAL, other%MPI_VAL) == 2 * 3 + 4, 'an operation of Fortran in C')
    value = 4
    call MPI_Reduce_local(3, value, 1, MPI_INTEGER, other)
    call check(value == 3 * 3 + 4, 'an operation of C in Fortran')
    call MPI_Op_free(op)
    call MPI_Op_free(other)
  end subroutine

  subroutine requests()
    type(MPI_Request) :: request
    integer :: value, rank
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    value = -1
    call MPI_Irecv(value, 1, MPI_INTEGER, rank, 77, MPI_COMM_WORLD, request)
    call MPI_Send(rank, 1, MPI_INTEGER, rank, 77, MPI_COMM_WORLD)
    call complete_in_c(request%MPI_VAL)
    call MPI_F_sync_reg(value)
    call check(value == rank, 'a request of Fortran that C completes')
  end subroutine
end program
