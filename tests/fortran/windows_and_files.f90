! Memory that MPI gives, windows, and files by mpi_f08.
program windows_and_files
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer :: rank, ranks
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call memory()
  call window()
  call file()
  call buffered()
  call MPI_Finalize()
contains

  subroutine memory()
    type(c_ptr) :: place
    integer, pointer :: values(:)
    call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, place)
    call c_f_pointer(place, values, [10])
    values = rank
    call check(sum(values) == 10 * rank, 'MPI_Alloc_mem')
    call MPI_Free_mem(values)
  end subroutine

  subroutine window()
    type(c_ptr) :: place
    type(MPI_Win) :: win
    integer, pointer :: values(:)
    integer :: mine(20), target_rank
    integer(kind=MPI_ADDRESS_KIND) :: size, base
    logical :: flag
    target_rank = mod(rank + 1, ranks)
    call MPI_Win_allocate(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, place, win)
    call c_f_pointer(place, values, [10])
    values = -1
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, size, flag)
    call check(flag .and. size == 40, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_BASE, base, flag)
    call check(flag .and. base == transfer(place, base), 'MPI_WIN_BASE')
    mine = rank
    call MPI_Win_fence(0, win)
    call MPI_Put(mine(1:20:2), 10, MPI_INTEGER, target_rank, 0_MPI_ADDRESS_KIND, 10, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(values == mod(rank + ranks - 1, ranks)), 'MPI_Put from a section')
    call MPI_Get(mine(2:20:2), 10, MPI_INTEGER, target_rank, 0_MPI_ADDRESS_KIND, 10, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(mine == rank), 'MPI_Get into a section')
    call MPI_Win_free(win)
  end subroutine

  subroutine file()
    type(MPI_File) :: handle
    type(MPI_Datatype) :: etype, filetype
    type(MPI_Status) :: status
    integer :: mine(10), got(5), count, length
    integer(kind=MPI_OFFSET_KIND) :: disp
    character(len=MPI_MAX_DATAREP_STRING) :: datarep
    character(len=1000) :: name
    call get_command_argument(0, name)
    name = trim(name) // '.data'
    mine = [(rank, rank, count = 1, 5)]
    mine(1:10:2) = 100 + rank
    call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), &
      MPI_INFO_NULL, handle)
    call MPI_File_set_view(handle, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_get_view(handle, disp, etype, filetype, datarep)
    call check(disp == 0 .and. etype == MPI_INTEGER .and. datarep == 'native', 'MPI_File_get_view')
    call MPI_File_write_at_all(handle, int(5 * rank, MPI_OFFSET_KIND), mine(1:10:2), 5, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, length)
    call check(length == 5, 'MPI_File_write_at_all')
    call MPI_File_sync(handle)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_read_at_all(handle, int(5 * mod(rank + 1, ranks), MPI_OFFSET_KIND), got, 5, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(got == 100 + mod(rank + 1, ranks)), 'MPI_File_read_at_all')
    call MPI_File_close(handle)
    call check(handle == MPI_FILE_NULL, 'MPI_File_close')
  end subroutine

  subroutine buffered()
    type(c_ptr) :: place
    character, target :: room(1000 + MPI_BSEND_OVERHEAD)
    integer :: bytes, value
    call MPI_Buffer_attach(room, size(room))
    call MPI_Bsend(rank, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD)
    call MPI_Recv(value, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Buffer_detach(place, bytes)
    call check(c_associated(place, c_loc(room)) .and. bytes == size(room), 'MPI_Buffer_detach')
  end subroutine
end program
