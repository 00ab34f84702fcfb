! Windows by mpi_f08: all kinds of memory and of synchronization, operations with requests, names, attributes, error handlers.
module on_windows
  use mpi_f08
  implicit none
  integer :: handled = 0, copies = 0, deletions = 0
contains
  subroutine handle(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code, class
    call MPI_Error_class(error_code, class)
    if (win /= MPI_WIN_NULL .and. class == MPI_ERR_RANK) handled = handled + 1
  end subroutine
  subroutine copy(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Win) :: oldwin
    integer :: win_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call check(oldwin /= MPI_WIN_NULL .and. win_keyval /= MPI_KEYVAL_INVALID .and. extra_state == 3, 'arguments of a copy')
    copies = copies + 1
    attribute_val_out = attribute_val_in
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(win, win_keyval, attribute_val, extra_state, ierror)
    type(MPI_Win) :: win
    integer :: win_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call check(win /= MPI_WIN_NULL .and. win_keyval /= MPI_KEYVAL_INVALID, 'arguments of a deletion')
    if (attribute_val == 12 .and. extra_state == 3) deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program one_sided
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use on_windows
  implicit none
  integer :: rank, ranks, next, before
  integer(kind=MPI_ADDRESS_KIND), parameter :: zero = 0, ten = 40
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  call passive()
  call with_requests()
  call groups_of_processes()
  call shared()
  call dynamic()
  call around()
  call MPI_Finalize()
contains

  subroutine passive()
    type(MPI_Win) :: win
    type(c_ptr) :: place
    integer, pointer :: memory(:)
    integer :: got, old
    call MPI_Win_allocate(ten, 4, MPI_INFO_NULL, MPI_COMM_WORLD, place, win)
    call c_f_pointer(place, memory, [10])
    memory = 0
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, next, zero, 1, MPI_INTEGER, win)
    call MPI_Win_flush_local(next, win)
    call MPI_Win_flush(next, win)
    call MPI_Get(got, 1, MPI_INTEGER, next, zero, 1, MPI_INTEGER, win)
    call MPI_Win_unlock(next, win)
    call check(got == rank, 'MPI_Win_lock')
    call MPI_Win_lock_all(0, win)
    call MPI_Accumulate([1, 2], 2, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, 2, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_flush_local_all(win)
    call MPI_Win_flush_all(win)
    call MPI_Win_sync(win)
    call MPI_Compare_and_swap(17, 0, old, MPI_INTEGER, next, 5_MPI_ADDRESS_KIND, win)
    call MPI_Win_flush_all(win)
    call check(old == 0, 'MPI_Compare_and_swap')
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, win)
    call check(memory(1) == before .and. memory(6) == 17, 'what others have written')
    if (rank == 0) call check(all(memory(2:3) == [ranks, 2 * ranks]), 'MPI_Accumulate')
    call MPI_Win_unlock(rank, win)
    call MPI_Win_free(win)
    call check(win == MPI_WIN_NULL, 'MPI_Win_free')
  end subroutine

  subroutine with_requests()
    type(MPI_Win) :: win
    integer :: memory(10), from(9), to(9)
    type(MPI_Request) :: request
    memory = 1
    from = 5
    to = -1
    call MPI_Win_create(memory, ten, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_lock_all(0, win)
    call MPI_Rput(from(1:9:2), 5, MPI_INTEGER, next, zero, 5, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_flush_all(win)
    call MPI_Raccumulate(from(1:9:2), 5, MPI_INTEGER, next, zero, 5, MPI_INTEGER, MPI_SUM, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_flush_all(win)
    call MPI_Rget(to(1:9:2), 5, MPI_INTEGER, next, zero, 5, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(to == [10, -1, 10, -1, 10, -1, 10, -1, 10]), 'MPI_Rget')
    call MPI_Rget_accumulate(from(1:9:2), 5, MPI_INTEGER, to(1:9:2), 5, MPI_INTEGER, next, zero, 5, MPI_INTEGER, &
      MPI_REPLACE, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_F_sync_reg(memory)
    call check(all(memory(1:5) == 5) .and. all(memory(6:) == 1), 'MPI_Rget_accumulate')
    call MPI_Win_free(win)
  end subroutine

  subroutine groups_of_processes()
    type(MPI_Win) :: win
    type(MPI_Group) :: world, to, from
    integer :: memory(2)
    logical :: flag
    memory = -1
    call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_get_group(win, world)
    call MPI_Group_incl(world, 1, [next], to)
    call MPI_Group_incl(world, 1, [before], from)
    call MPI_Win_post(from, 0, win)
    call MPI_Win_start(to, 0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Win_complete(win)
    call MPI_Win_wait(win)
    call check(memory(2) == before, 'MPI_Win_wait')
    call MPI_Win_post(from, 0, win)
    call MPI_Win_start(to, 0, win)
    call MPI_Win_complete(win)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(win, flag)
    end do
    call MPI_Group_free(world)
    call MPI_Group_free(to)
    call MPI_Group_free(from)
    call MPI_Win_free(win)
  end subroutine

  subroutine shared()
    type(MPI_Comm) :: host
    type(MPI_Win) :: win
    type(c_ptr) :: place
    integer, pointer :: memory(:), others(:)
    integer :: here, many, unit
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, host)
    call MPI_Comm_rank(host, here)
    call MPI_Comm_size(host, many)
    call MPI_Win_allocate_shared(ten, 4, MPI_INFO_NULL, host, place, win)
    call c_f_pointer(place, memory, [10])
    call MPI_Win_lock_all(0, win)
    memory = here
    call MPI_Win_sync(win)
    call MPI_Barrier(host)
    call MPI_Win_sync(win)
    call MPI_Win_shared_query(win, mod(here + 1, many), bytes, unit, place)
    call c_f_pointer(place, others, [10])
    call check(bytes == 40 .and. unit == 4 .and. all(others == mod(here + 1, many)), 'MPI_Win_shared_query')
    call MPI_Win_unlock_all(win)
    call MPI_Win_free(win)
    call MPI_Comm_free(host)
  end subroutine

  subroutine dynamic()
    type(MPI_Win) :: win
    integer, asynchronous :: memory(4)
    integer :: got
    integer(kind=MPI_ADDRESS_KIND) :: place, theirs
    memory = 10 * rank
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_attach(win, memory, 16_MPI_ADDRESS_KIND)
    call MPI_Get_address(memory(3), place)
    call MPI_Sendrecv(place, 1, MPI_AINT, before, 0, theirs, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Win_fence(0, win)
    call MPI_Get(got, 1, MPI_INTEGER, next, theirs, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(got == 10 * next, 'MPI_Win_create_dynamic')
    call MPI_Win_detach(win, memory)
    call MPI_Win_free(win)
  end subroutine

  subroutine around()
    type(MPI_Win) :: win
    type(MPI_Info) :: hints
    type(MPI_Errhandler) :: handler, found
    integer :: memory(2), key, code, length
    integer(kind=MPI_ADDRESS_KIND) :: value
    character(len=MPI_MAX_OBJECT_NAME) :: name
    logical :: flag
    call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_set_name(win, 'a window ')
    call MPI_Win_get_name(win, name, length)
    call check(name == 'a window' .and. length == 8, 'MPI_Win_set_name')
    call MPI_Win_get_info(win, hints)
    call MPI_Win_set_info(win, hints)
    call MPI_Info_free(hints)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag)
    call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag)
    call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag)
    call check(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag)
    call check(flag .and. value == transfer(c_loc_of(memory), value), 'MPI_WIN_BASE')
    call MPI_Win_create_keyval(copy, delete, key, 3_MPI_ADDRESS_KIND)
    call MPI_Win_set_attr(win, key, 11_MPI_ADDRESS_KIND)
    call MPI_Win_set_attr(win, key, 12_MPI_ADDRESS_KIND)
    call MPI_Win_get_attr(win, key, value, flag)
    call check(flag .and. value == 12, 'MPI_Win_set_attr')
    call MPI_Win_delete_attr(win, key)
    call check(deletions == 1 .and. copies == 0, 'MPI_Win_delete_attr')
    call MPI_Win_set_attr(win, key, 12_MPI_ADDRESS_KIND)
    call MPI_Win_free_keyval(key)
    call MPI_Win_create_errhandler(handle, handler)
    call MPI_Win_set_errhandler(win, handler)
    call MPI_Win_get_errhandler(win, found)
    call check(found == handler .or. found /= MPI_ERRHANDLER_NULL, 'MPI_Win_get_errhandler')
    call MPI_Errhandler_free(found)
    call MPI_Errhandler_free(handler)
    call MPI_Win_fence(0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, ranks, zero, 1, MPI_INTEGER, win, code)
    call check(handled == 1, 'an error handler of a window')
    call MPI_Win_call_errhandler(win, MPI_ERR_RANK)
    call check(handled == 2, 'MPI_Win_call_errhandler')
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
    call check(deletions == 2, 'attributes of a window that ends')
  end subroutine

  type(c_ptr) function c_loc_of(memory)
    integer, target :: memory(2)
    c_loc_of = c_loc(memory)
  end function
end program
