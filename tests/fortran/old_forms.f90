! The module mpi where its arguments are other ones than those of mpi_f08: procedures, attributes in two widths, memory in two forms, strings,
! arrays of statuses and handles, and functions that MPI 3.0 has removed. It is compiled a second time with mpif.h in place of the module.
program old_forms
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer :: rank, ranks, code, key, value, request, win, file, info, handler, comm, group, datatype, length, i
  integer :: status(MPI_STATUS_SIZE), list(MPI_STATUS_SIZE, 3), requests(3), indices(3), numbers(10), codes(2)
  integer :: deletions, copies, handled
  integer(kind=MPI_ADDRESS_KIND) :: attribute, place, lb, extent, bytes
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=6) :: short
  type(c_ptr) :: pointed
  logical :: flag
  common /counts/ deletions, copies, handled
  external :: copy, forget, handle, handle_win, handle_file, query, release, cancel, old_copy, old_forget
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  deletions = 0
  copies = 0
  handled = 0
  call attributes()
  call removed()
  call errors()
  call requests_of_the_user()
  call lists()
  call objects()
  call memory()
  call files()
  call MPI_Finalize(code)
contains

  subroutine attributes()
    integer :: twin
    call MPI_Comm_create_keyval(copy, forget, key, 99_MPI_ADDRESS_KIND, code)
    attribute = 2_MPI_ADDRESS_KIND**40 + rank
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, attribute, code)
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, code)
    call MPI_Comm_get_attr(twin, key, place, flag, code)
    call check(flag .and. place == attribute + 1 .and. copies == 1, 'an attribute of 8 bytes')
    call MPI_Comm_free(twin, code)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, code)
    call check(deletions == 2, 'MPI_Comm_delete_attr')
    call MPI_Comm_free_keyval(key, code)
    call check(key == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, code)
    call MPI_Type_contiguous(2, MPI_INTEGER, datatype, code)
    call MPI_Type_set_attr(datatype, key, -1_MPI_ADDRESS_KIND, code)
    call MPI_Type_dup(datatype, twin, code)
    call MPI_Type_get_attr(twin, key, attribute, flag, code)
    call check(flag .and. attribute == -1, 'MPI_TYPE_DUP_FN')
    call MPI_Type_delete_attr(twin, key, code)
    call MPI_Type_get_attr(twin, key, attribute, flag, code)
    call check(.not. flag, 'MPI_Type_delete_attr')
    call MPI_Type_free(twin, code)
    call MPI_Type_free(datatype, code)
    call MPI_Type_free_keyval(key, code)
    call MPI_Win_create(numbers, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, code)
    call MPI_Win_set_attr(win, key, 5_MPI_ADDRESS_KIND, code)
    call MPI_Win_get_attr(win, key, attribute, flag, code)
    call check(flag .and. attribute == 5, 'MPI_Win_set_attr')
    call MPI_Win_free_keyval(key, code)
    call MPI_Win_free(win, code)
    ! What one width has set the other one reads.
    call MPI_Keyval_create(old_copy, old_forget, key, 7, code)
    call MPI_Attr_put(MPI_COMM_SELF, key, -3, code)
    call MPI_Comm_get_attr(MPI_COMM_SELF, key, attribute, flag, code)
    call check(flag .and. attribute == -3, 'an attribute of 4 bytes read as 8')
    call MPI_Comm_dup(MPI_COMM_SELF, twin, code)
    call MPI_Attr_get(twin, key, value, flag, code)
    call check(flag .and. value == -2 .and. copies == 2, 'a copy by MPI-1')
    call MPI_Comm_free(twin, code)
    call MPI_Attr_delete(MPI_COMM_SELF, key, code)
    call check(deletions == 4, 'deletions by MPI-1')
    call MPI_Keyval_free(key, code)
    call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, key, 0, code)
    call MPI_Attr_put(MPI_COMM_SELF, key, 4, code)
    call MPI_Comm_dup(MPI_COMM_SELF, twin, code)
    call MPI_Attr_get(twin, key, value, flag, code)
    call check(.not. flag, 'MPI_NULL_COPY_FN')
    call MPI_Comm_free(twin, code)
    call MPI_Attr_delete(MPI_COMM_SELF, key, code)
    call MPI_Keyval_free(key, code)
  end subroutine

  subroutine removed()
    integer :: first, second, made, from(6), to(6)
    call MPI_Type_extent(MPI_DOUBLE_PRECISION, length, code)
    call check(length == 8, 'MPI_Type_extent')
    call MPI_Type_hvector(2, 1, 12, MPI_INTEGER, made, code)
    call MPI_Type_ub(made, length, code)
    call check(length == 16, 'MPI_Type_ub')
    call MPI_Type_free(made, code)
    call MPI_Type_hindexed(2, [1, 1], [8, 16], MPI_INTEGER, made, code)
    call MPI_Type_lb(made, length, code)
    call check(length == 8, 'MPI_Type_lb')
    call MPI_Type_free(made, code)
    call MPI_Type_struct(2, [1, 2], [0, 12], [MPI_REAL, MPI_INTEGER], made, code)
    call MPI_Type_extent(made, length, code)
    call check(length == 20, 'MPI_Type_struct')
    call MPI_Type_free(made, code)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
    ! A default integer may have no room for an address; that is an error then.
    call MPI_Address(from(1), first, code)
    if (code == MPI_SUCCESS) then
      call MPI_Address(from(4), second, code)
      call check(second - first == 12, 'MPI_Address')
    end if
    call MPI_Type_hvector(3, 1, 8, MPI_INTEGER, made, code)
    call MPI_Type_commit(made, code)
    from = [(i, i = 1, 6)]
    to = 0
    call MPI_Sendrecv(from, 1, made, 0, 0, to, 6, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status, code)
    call check(all(to(1:3) == [1, 3, 5]), 'MPI_Type_hvector')
    call MPI_Type_free(made, code)
    call MPI_Errhandler_create(handle, handler, code)
    call MPI_Errhandler_set(MPI_COMM_SELF, handler, code)
    call MPI_Errhandler_get(MPI_COMM_SELF, made, code)
    call MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER, code)
    call check(handled == 1, 'MPI_Errhandler_set')
    call MPI_Errhandler_free(made, code)
    call MPI_Errhandler_free(handler, code)
    call MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, code)
  end subroutine

  subroutine errors()
    handled = 0
    call MPI_Win_create(numbers, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call MPI_Win_create_errhandler(handle_win, handler, code)
    call MPI_Win_set_errhandler(win, handler, code)
    call MPI_Win_call_errhandler(win, MPI_ERR_ARG, code)
    call MPI_Errhandler_free(handler, code)
    call MPI_Win_free(win, code)
    call MPI_File_create_errhandler(handle_file, handler, code)
    call MPI_File_set_errhandler(MPI_FILE_NULL, handler, code)
    call MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_ARG, code)
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, code)
    call MPI_Errhandler_free(handler, code)
    call check(handled == 110, 'error handlers of windows and files')
  end subroutine

  subroutine requests_of_the_user()
    call MPI_Grequest_start(query, release, cancel, 31_MPI_ADDRESS_KIND, request, code)
    call MPI_Grequest_complete(request, code)
    call MPI_Wait(request, status, code)
    call MPI_Get_count(status, MPI_INTEGER, length, code)
    call check(status(MPI_TAG) == 31 .and. length == 3, 'a generalized request')
  end subroutine

  subroutine lists()
    requests = MPI_REQUEST_NULL
    call MPI_Isend(rank, 1, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, requests(1), code)
    call MPI_Irecv(value, 1, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, requests(3), code)
    call MPI_Waitsome(3, requests, length, indices, list, code)
    do while (any(requests /= MPI_REQUEST_NULL))
      call MPI_Testsome(3, requests, length, indices, list, code)
    end do
    call check(value == rank, 'MPI_Waitsome')
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, code)
    call MPI_Testany(3, requests, length, flag, MPI_STATUS_IGNORE, code)
    call check(flag .and. length == MPI_UNDEFINED, 'MPI_Testany')
  end subroutine

  subroutine objects()
    integer :: dims(2), coords(2)
    logical :: periods(2)
    call MPI_Cart_create(MPI_COMM_SELF, 2, [1, 1], [.true., .false.], .false., comm, code)
    call MPI_Cart_get(comm, 2, dims, periods, coords, code)
    call check(periods(1) .and. .not. periods(2), 'LOGICALs')
    call MPI_Comm_set_name(comm, 'one cell  ', code)
    call MPI_Comm_get_name(comm, name, length, code)
    call check(name == 'one cell' .and. length == 8, 'a name')
    call MPI_Comm_free(comm, code)
    call MPI_Info_create(info, code)
    call MPI_Info_set(info, ' key', ' a value ', code)
    short = '******'
    call MPI_Info_get_string(info, 'key', length, short, flag, code)
    length = 6
    call MPI_Info_get_string(info, 'key', length, short, flag, code)
    call check(flag .and. length == 7 .and. short == 'a valu', 'a string that is cut')
    call MPI_Info_free(info, code)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, [0], [4], 0, [0], MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, &
      .false., comm, code)
    call MPI_Comm_free(comm, code)
    call MPI_Comm_group(MPI_COMM_WORLD, group, code)
    call MPI_Group_free(group, code)
    call MPI_Type_get_extent(MPI_REAL, lb, extent, code)
    call check(lb == 0 .and. extent == 4, 'MPI_Type_get_extent')
    call constants()
  end subroutine

  ! Names for nothing that only some calls take are variables of the right shape.
  subroutine constants()
    call check(size(MPI_ERRCODES_IGNORE) == 1 .and. size(MPI_ARGV_NULL) == 1, 'names for nothing')
    call check(.not. MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')
    codes = 0
  end subroutine

  subroutine memory()
    integer, pointer :: values(:)
    integer :: unit
    call MPI_Win_allocate(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, pointed, win, code)
    call c_f_pointer(pointed, values, [10])
    values = 3
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, code)
    call MPI_Get(numbers, 10, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 10, MPI_INTEGER, win, code)
    call MPI_Win_unlock(0, win, code)
    call check(all(numbers == 3), 'MPI_Win_allocate')
    call MPI_Win_free(win, code)
    call MPI_Win_allocate_shared(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, place, win, code)
    call MPI_Win_shared_query(win, 0, bytes, unit, pointed, code)
    call check(transfer(pointed, place) == place .and. bytes == 40, 'MPI_Win_shared_query')
    call MPI_Win_free(win, code)
    call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, pointed, code)
    call c_f_pointer(pointed, values, [10])
    call MPI_Free_mem(values, code)
    call check(code == MPI_SUCCESS, 'MPI_Free_mem')
  end subroutine

  subroutine files()
    character(len=1000) :: path
    call get_command_argument(0, path)
    call MPI_File_open(MPI_COMM_WORLD, trim(path) // '.objects', ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, &
      MPI_MODE_DELETE_ON_CLOSE)), MPI_INFO_NULL, file, code)
    offset = 4 * rank
    call MPI_File_write_at(file, offset, rank, 1, MPI_INTEGER, status, code)
    call MPI_Get_count(status, MPI_INTEGER, length, code)
    call MPI_File_read_at(file, offset, value, 1, MPI_INTEGER, MPI_STATUS_IGNORE, code)
    call check(length == 1 .and. value == rank, 'MPI_File_read_at')
    call MPI_File_close(file, code)
    call check(file == MPI_FILE_NULL, 'MPI_File_close')
  end subroutine
end program

subroutine copy(comm, keyval, extra, value, copied, flag, code)
  use mpi
  implicit none
  integer :: comm, keyval, code, deletions, copies, handled
  integer(kind=MPI_ADDRESS_KIND) :: extra, value, copied
  logical :: flag
  common /counts/ deletions, copies, handled
  call check(extra == 99, 'what was left for a copy')
  copies = copies + 1
  copied = value + 1
  flag = .true.
  code = MPI_SUCCESS
end subroutine

subroutine forget(comm, keyval, value, extra, code)
  use mpi
  implicit none
  integer :: comm, keyval, code, deletions, copies, handled
  integer(kind=MPI_ADDRESS_KIND) :: extra, value
  common /counts/ deletions, copies, handled
  if (extra == 99 .and. value > 2_MPI_ADDRESS_KIND**39) deletions = deletions + 1
  code = MPI_SUCCESS
end subroutine

subroutine old_copy(comm, keyval, extra, value, copied, flag, code)
  implicit none
  integer :: comm, keyval, extra, value, copied, code, deletions, copies, handled
  logical :: flag
  common /counts/ deletions, copies, handled
  call check(extra == 7, 'what was left for a copy by MPI-1')
  copies = copies + 1
  copied = value + 1
  flag = .true.
  code = 0
end subroutine

subroutine old_forget(comm, keyval, value, extra, code)
  implicit none
  integer :: comm, keyval, value, extra, code, deletions, copies, handled
  common /counts/ deletions, copies, handled
  if (extra == 7 .and. value < 0) deletions = deletions + 1
  code = 0
end subroutine

subroutine handle(comm, code)
  implicit none
  integer :: comm, code, deletions, copies, handled
  common /counts/ deletions, copies, handled
  handled = handled + 1
end subroutine

subroutine handle_win(win, code)
  use mpi
  implicit none
  integer :: win, code, deletions, copies, handled
  common /counts/ deletions, copies, handled
  if (win /= MPI_WIN_NULL .and. code == MPI_ERR_ARG) handled = handled + 10
end subroutine

subroutine handle_file(file, code)
  use mpi
  implicit none
  integer :: file, code, deletions, copies, handled
  common /counts/ deletions, copies, handled
  if (file == MPI_FILE_NULL .and. code == MPI_ERR_ARG) handled = handled + 100
end subroutine

subroutine query(extra, status, code)
  use mpi
  implicit none
  integer :: status(MPI_STATUS_SIZE), code
  integer(kind=MPI_ADDRESS_KIND) :: extra
  status(MPI_SOURCE) = MPI_UNDEFINED
  status(MPI_TAG) = int(extra)
  call MPI_Status_set_elements(status, MPI_INTEGER, 3, code)
  call MPI_Status_set_cancelled(status, .false., code)
end subroutine

subroutine release(extra, code)
  use mpi
  implicit none
  integer :: code
  integer(kind=MPI_ADDRESS_KIND) :: extra
  code = MPI_SUCCESS
end subroutine

subroutine cancel(extra, complete, code)
  use mpi
  implicit none
  integer :: code
  logical :: complete
  integer(kind=MPI_ADDRESS_KIND) :: extra
  code = MPI_SUCCESS
end subroutine
