! Files by mpi_f08: all forms of access, sections, statuses, pointers, views, error handlers, a data representation of the user.
module on_files
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer :: handled = 0, extents = 0
contains
  subroutine handle(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    if (file == file .and. error_code /= MPI_SUCCESS) handled = handled + 1
  end subroutine
  subroutine extent(datatype, extent_in_file, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent_in_file, extra_state, lb
    integer :: ierror
    call check(extra_state == 21, 'what was left for an extent')
    call MPI_Type_get_extent(datatype, lb, extent_in_file, ierror)
    extents = extents + 1
  end subroutine
  ! Numbers lie in the file with their sign turned.
  subroutine from_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call sides(userbuf, filebuf, int(position), count, extra_state == 21 .and. datatype == MPI_INTEGER, user, file)
    user = -file
    ierror = MPI_SUCCESS
  end subroutine
  subroutine to_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call sides(userbuf, filebuf, int(position), count, extra_state == 21 .and. datatype == MPI_INTEGER, user, file)
    file = -user
    ierror = MPI_SUCCESS
  end subroutine
  ! The elements of a conversion on both sides.
  subroutine sides(userbuf, filebuf, position, count, is_right, user, file)
    type(c_ptr), intent(in) :: userbuf, filebuf
    integer, intent(in) :: position, count
    logical, intent(in) :: is_right
    integer, pointer, intent(out) :: user(:), file(:)
    integer, pointer :: all(:)
    call check(is_right, 'arguments of a conversion')
    call c_f_pointer(userbuf, all, [position + count])
    user => all(position + 1:)
    call c_f_pointer(filebuf, file, [count])
  end subroutine
end module

program files
  use mpi_f08
  use on_files
  implicit none
  integer, parameter :: several = 5
  integer :: rank, ranks, i, mine(2 * several), got(2 * several)
  integer(kind=MPI_OFFSET_KIND), parameter :: zero = 0
  type(MPI_File) :: file
  type(MPI_Status) :: status
  character(len=1000) :: name
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(0, name)
  name = trim(name) // '.files'
  mine = -1
  mine(1::2) = [(100 * rank + i, i = 1, several)]
  call open_it()
  call properties()
  call explicit_offsets()
  call own_pointers()
  call shared_pointers()
  call halves()
  call errors()
  call MPI_File_close(file)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL)
  call representation()
  call MPI_Finalize()
contains

  subroutine open_it()
    call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
    call MPI_File_set_view(file, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  end subroutine

  ! What was read last is what this rank writes, in a section.
  subroutine check_read(what)
    character(len=*), intent(in) :: what
    integer :: count
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == several, what // ', the status')
    call check(all(got(2::2) == mine(1::2)) .and. all(got(1::2) == -7), what)
    call forget()
  end subroutine

  subroutine forget()
    got = -7
    call MPI_File_sync(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_sync(file)
  end subroutine

  integer(kind=MPI_OFFSET_KIND) function here()
    here = several * rank
  end function

  subroutine properties()
    integer :: mode
    integer(kind=MPI_OFFSET_KIND) :: bytes
    integer(kind=MPI_ADDRESS_KIND) :: extent_there
    integer(kind=MPI_COUNT_KIND) :: large_extent
    type(MPI_Group) :: group
    type(MPI_Info) :: hints
    logical :: flag
    call MPI_File_get_amode(file, mode)
    call check(mode == ior(MPI_MODE_CREATE, MPI_MODE_RDWR), 'MPI_File_get_amode')
    call MPI_File_get_group(file, group)
    call MPI_Group_size(group, mode)
    call check(mode == ranks, 'MPI_File_get_group')
    call MPI_Group_free(group)
    call MPI_File_get_info(file, hints)
    call MPI_File_set_info(file, hints)
    call MPI_Info_free(hints)
    call MPI_File_set_size(file, 40_MPI_OFFSET_KIND)
    call MPI_File_get_size(file, bytes)
    call check(bytes == 40, 'MPI_File_set_size')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_preallocate(file, 400_MPI_OFFSET_KIND)
    call MPI_File_set_atomicity(file, .true.)
    call MPI_File_get_atomicity(file, flag)
    call check(flag, 'MPI_File_set_atomicity')
    call MPI_File_set_atomicity(file, .false.)
    call MPI_File_get_atomicity(file, flag)
    call check(.not. flag, 'a LOGICAL of MPI_File_get_atomicity')
    call MPI_File_get_type_extent(file, MPI_INTEGER, extent_there)
    call check(extent_there == 4, 'MPI_File_get_type_extent')
    call MPI_File_get_type_extent_c(file, MPI_INTEGER, large_extent)
    call check(large_extent == 4, 'MPI_File_get_type_extent_c')
    call MPI_File_get_byte_offset(file, 3_MPI_OFFSET_KIND, bytes)
    call check(bytes == 12, 'MPI_File_get_byte_offset')
  end subroutine

  subroutine explicit_offsets()
    type(MPI_Request) :: request
    got = -7
    call MPI_File_write_at(file, here(), mine(1::2), several, MPI_INTEGER, status)
    call forget()
    call MPI_File_read_at(file, here(), got(2::2), several, MPI_INTEGER, status)
    call check_read('MPI_File_read_at')
    call MPI_File_write_at_all(file, here(), mine(1::2), several, MPI_INTEGER, status)
    call forget()
    call MPI_File_read_at_all(file, here(), got(2::2), several, MPI_INTEGER, status)
    call check_read('MPI_File_read_at_all')
    call MPI_File_iwrite_at(file, here(), mine(1::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call forget()
    call MPI_File_iread_at(file, here(), got(2::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call check_read('MPI_File_iread_at')
    call MPI_File_iwrite_at_all(file, here(), mine(1::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call forget()
    call MPI_File_iread_at_all(file, here(), got(2::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call check_read('MPI_File_iread_at_all')
  end subroutine

  subroutine back(what)
    character(len=*), intent(in) :: what
    integer(kind=MPI_OFFSET_KIND) :: place
    call MPI_File_get_position(file, place)
    call check(place == here() + several, what // ', MPI_File_get_position')
    call MPI_File_seek(file, here(), MPI_SEEK_SET)
    call forget()
  end subroutine

  subroutine own_pointers()
    type(MPI_Request) :: request
    call MPI_File_seek(file, here(), MPI_SEEK_SET)
    call MPI_File_write(file, mine(1::2), several, MPI_INTEGER, status)
    call back('MPI_File_write')
    call MPI_File_read(file, got(2::2), several, MPI_INTEGER, status)
    call check_read('MPI_File_read')
    call back('MPI_File_read')
    call MPI_File_write_all(file, mine(1::2), several, MPI_INTEGER, status)
    call back('MPI_File_write_all')
    call MPI_File_read_all(file, got(2::2), several, MPI_INTEGER, status)
    call check_read('MPI_File_read_all')
    call back('MPI_File_read_all')
    call MPI_File_iwrite(file, mine(1::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call back('MPI_File_iwrite')
    call MPI_File_iread(file, got(2::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call check_read('MPI_File_iread')
    call back('MPI_File_iread')
    call MPI_File_iwrite_all(file, mine(1::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call back('MPI_File_iwrite_all')
    call MPI_File_iread_all(file, got(2::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call check_read('MPI_File_iread_all')
    call back('MPI_File_iread_all')
  end subroutine

  subroutine rewind_shared()
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_seek_shared(file, zero, MPI_SEEK_SET)
    call forget()
  end subroutine

  ! Without an order each rank may read what another one has written.
  subroutine check_some(what)
    character(len=*), intent(in) :: what
    call check(any(got(2) == [(100 * i + 1, i = 0, ranks - 1)]) .and. all(got(4::2) == [(got(2) + i, i = 1, 4)]), what)
  end subroutine

  subroutine shared_pointers()
    type(MPI_Request) :: request
    integer(kind=MPI_OFFSET_KIND) :: place
    call rewind_shared()
    call MPI_File_write_ordered(file, mine(1::2), several, MPI_INTEGER, status)
    call MPI_File_get_position_shared(file, place)
    call check(place == several * ranks, 'MPI_File_get_position_shared')
    call rewind_shared()
    call MPI_File_read_ordered(file, got(2::2), several, MPI_INTEGER, status)
    call check_read('MPI_File_read_ordered')
    call rewind_shared()
    call MPI_File_write_shared(file, mine(1::2), several, MPI_INTEGER, status)
    call rewind_shared()
    call MPI_File_read_shared(file, got(2::2), several, MPI_INTEGER, status)
    call check_some('MPI_File_read_shared')
    call rewind_shared()
    call MPI_File_iwrite_shared(file, mine(1::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call rewind_shared()
    call MPI_File_iread_shared(file, got(2::2), several, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call check_some('MPI_File_iread_shared')
    call rewind_shared()
  end subroutine

  subroutine halves()
    call MPI_File_write_at_all_begin(file, here(), mine(1::2), several, MPI_INTEGER)
    call MPI_File_write_at_all_end(file, mine(1::2), status)
    call forget()
    call MPI_File_read_at_all_begin(file, here(), got(2::2), several, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, got(2::2), status)
    call check_read('MPI_File_read_at_all_begin')
    call MPI_File_seek(file, here(), MPI_SEEK_SET)
    call MPI_File_write_all_begin(file, mine(1::2), several, MPI_INTEGER)
    call MPI_File_write_all_end(file, mine(1::2), status)
    call back('MPI_File_write_all_begin')
    call MPI_File_read_all_begin(file, got(2::2), several, MPI_INTEGER)
    call MPI_File_read_all_end(file, got(2::2), status)
    call check_read('MPI_File_read_all_begin')
    call rewind_shared()
    call MPI_File_write_ordered_begin(file, mine(1::2), several, MPI_INTEGER)
    call MPI_File_write_ordered_end(file, mine(1::2), status)
    call rewind_shared()
    call MPI_File_read_ordered_begin(file, got(2::2), several, MPI_INTEGER)
    call MPI_File_read_ordered_end(file, got(2::2), status)
    call check_read('MPI_File_read_ordered_begin')
  end subroutine

  subroutine errors()
    type(MPI_Errhandler) :: handler, found
    type(MPI_File) :: none
    integer :: code, class
    call MPI_File_create_errhandler(handle, handler)
    call MPI_File_set_errhandler(file, handler)
    call MPI_File_get_errhandler(file, found)
    call MPI_Errhandler_free(found)
    call MPI_File_call_errhandler(file, MPI_ERR_ARG)
    call check(handled == 1, 'MPI_File_call_errhandler')
    call MPI_File_read_at(file, -1_MPI_OFFSET_KIND, got, 1, MPI_INTEGER, MPI_STATUS_IGNORE, code)
    call check(handled == 2, 'an error handler of a file')
    call MPI_File_set_errhandler(file, MPI_ERRORS_RETURN)
    call MPI_Errhandler_free(handler)
    ! Files that are not open have the error handler of MPI_FILE_NULL, which returns.
    call MPI_File_open(MPI_COMM_SELF, trim(name) // '/no/such/file', MPI_MODE_RDONLY, MPI_INFO_NULL, none, code)
    call MPI_Error_class(code, class)
    call check(code /= MPI_SUCCESS .and. class /= MPI_SUCCESS, 'a file that does not exist')
  end subroutine

  ! Where the library does not convert data by procedures of the user, it says so when one is registered or used.
  subroutine representation()
    integer :: code, numbers(3)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Register_datarep('turned', from_file, to_file, extent, 21_MPI_ADDRESS_KIND, code)
    if (code /= MPI_SUCCESS) return
    call MPI_Register_datarep('as it is', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, 21_MPI_ADDRESS_KIND, code)
    call check(code == MPI_SUCCESS, 'MPI_CONVERSION_FN_NULL')
    call MPI_Register_datarep_c('as it is, in large', MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, extent, &
      21_MPI_ADDRESS_KIND, code)
    call check(code == MPI_SUCCESS, 'MPI_CONVERSION_FN_NULL_C')
    call MPI_File_open(MPI_COMM_WORLD, trim(name) // '.turned', ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, &
      MPI_MODE_DELETE_ON_CLOSE)), MPI_INFO_NULL, file)
    call MPI_File_set_view(file, zero, MPI_INTEGER, MPI_INTEGER, 'turned', MPI_INFO_NULL, code)
    if (code == MPI_SUCCESS) then
      call MPI_File_write_at_all(file, 3_MPI_OFFSET_KIND * rank, [1, 2, 3] + rank, 3, MPI_INTEGER, status)
      call MPI_File_sync(file)
      call MPI_Barrier(MPI_COMM_WORLD)
      call MPI_File_read_at_all(file, 3_MPI_OFFSET_KIND * rank, numbers, 3, MPI_INTEGER, status)
      call check(all(numbers == [1, 2, 3] + rank) .and. extents > 0, 'a data representation of the user')
      call MPI_File_set_view(file, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
      call MPI_File_read_at_all(file, 3_MPI_OFFSET_KIND * rank, numbers, 3, MPI_INTEGER, status)
      call check(all(-numbers == [1, 2, 3] + rank), 'what lies in the file')
    end if
    call MPI_File_close(file)
  end subroutine
end program
