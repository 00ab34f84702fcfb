! Datatypes by mpi_f08: all ways to make one, what it was made from, names, extents of all kinds, the external representation.
program datatypes
  use mpi_f08
  implicit none
  type(MPI_Datatype) :: made
  call MPI_Init()
  call vectors()
  call lists()
  call arrays()
  call of_precision()
  call values_with_places()
  call extents()
  call names()
  call external_data()
  call handles()
  call MPI_Finalize()
contains

  ! Sends one of the datatype to itself, and compares what arrives with the elements of `from` at these places; frees it.
  subroutine check_elements(places, what)
    integer, intent(in) :: places(:)
    character(len=*), intent(in) :: what
    integer :: from(40), to(40), i, bytes
    from = [(i, i = 1, 40)]
    to = -1
    call MPI_Type_commit(made)
    call MPI_Type_size(made, bytes)
    call check(bytes == 4 * size(places), what // ', size')
    call MPI_Sendrecv(from, 1, made, 0, 1, to, 40, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(all(to(1:size(places)) == places) .and. to(size(places) + 1) == -1, what)
    call MPI_Type_free(made)
  end subroutine

  subroutine check_made_by(combiner, integers, addresses, datatypes, first, what)
    integer, intent(in) :: combiner, integers, addresses, datatypes, first
    character(len=*), intent(in) :: what
    integer :: found(4), list(100)
    integer(kind=MPI_COUNT_KIND) :: many(4), large_list(100), large_lists(100)
    integer(kind=MPI_ADDRESS_KIND) :: places(100)
    type(MPI_Datatype) :: types(10)
    call MPI_Type_get_envelope(made, found(1), found(2), found(3), found(4))
    call check(all(found == [integers, addresses, datatypes, combiner]), what // ', MPI_Type_get_envelope')
    call MPI_Type_get_contents(made, integers, addresses, datatypes, list, places, types)
    call check(list(1) == first .or. integers == 0, what // ', MPI_Type_get_contents')
    call check(datatypes == 0 .or. types(1) == MPI_INTEGER, what // ', the datatype that it was made from')
    call MPI_Type_get_envelope(made, many(1), many(2), many(3), many(4), found(4))
    call check(all(many == [integers, addresses, 0, datatypes]), what // ', large counts')
    call MPI_Type_get_contents(made, many(1), many(2), many(3), many(4), list, places, large_list, types)
    call check(list(1) == first .or. integers == 0, what // ', contents by large counts')
  end subroutine

  subroutine vectors()
    call MPI_Type_contiguous(3, MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_CONTIGUOUS, 1, 0, 1, 3, 'MPI_Type_contiguous')
    call check_elements([1, 2, 3], 'MPI_Type_contiguous')
    call MPI_Type_vector(2, 2, 5, MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_VECTOR, 3, 0, 1, 2, 'MPI_Type_vector')
    call check_elements([1, 2, 6, 7], 'MPI_Type_vector')
    call MPI_Type_create_hvector(2, 1, 12_MPI_ADDRESS_KIND, MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_HVECTOR, 2, 1, 1, 2, 'MPI_Type_create_hvector')
    call check_elements([1, 4], 'MPI_Type_create_hvector')
    call MPI_Type_dup(MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_DUP, 0, 0, 1, 0, 'MPI_Type_dup')
    call check_elements([1], 'MPI_Type_dup')
    call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 12_MPI_ADDRESS_KIND, made)
    call check_made_by(MPI_COMBINER_RESIZED, 0, 2, 1, 0, 'MPI_Type_create_resized')
    call check_elements([1], 'MPI_Type_create_resized')
    call MPI_Type_create_resized_c(MPI_INTEGER, 0_MPI_COUNT_KIND, 12_MPI_COUNT_KIND, made)
    call check_elements([1], 'MPI_Type_create_resized_c')
    call MPI_Type_vector(2_MPI_COUNT_KIND, 1_MPI_COUNT_KIND, 3_MPI_COUNT_KIND, MPI_INTEGER, made)
    call check_elements([1, 4], 'MPI_Type_vector with large counts')
  end subroutine

  subroutine lists()
    call MPI_Type_indexed(2, [1, 2], [3, 6], MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_INDEXED, 5, 0, 1, 2, 'MPI_Type_indexed')
    call check_elements([4, 7, 8], 'MPI_Type_indexed')
    call MPI_Type_create_hindexed(2, [1, 2], [8_MPI_ADDRESS_KIND, 20_MPI_ADDRESS_KIND], MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_HINDEXED, 3, 2, 1, 2, 'MPI_Type_create_hindexed')
    call check_elements([3, 6, 7], 'MPI_Type_create_hindexed')
    call MPI_Type_create_indexed_block(2, 2, [0, 5], MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_INDEXED_BLOCK, 4, 0, 1, 2, 'MPI_Type_create_indexed_block')
    call check_elements([1, 2, 6, 7], 'MPI_Type_create_indexed_block')
    call MPI_Type_create_hindexed_block(2, 1, [0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND], MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 1, 2, 'MPI_Type_create_hindexed_block')
    call check_elements([1, 5], 'MPI_Type_create_hindexed_block')
    call MPI_Type_create_struct(2, [1, 1], [4_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_REAL], made)
    call check_made_by(MPI_COMBINER_STRUCT, 3, 2, 2, 2, 'MPI_Type_create_struct')
    call MPI_Type_free(made)
  end subroutine

  subroutine arrays()
    call MPI_Type_create_subarray(2, [4, 3], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_SUBARRAY, 8, 0, 1, 2, 'MPI_Type_create_subarray')
    call check_elements([6, 7, 10, 11], 'MPI_Type_create_subarray in the order of Fortran')
    call MPI_Type_create_subarray(2, [4, 3], [2, 2], [1, 1], MPI_ORDER_C, MPI_INTEGER, made)
    call check_elements([5, 6, 8, 9], 'MPI_Type_create_subarray in the order of C')
    call MPI_Type_create_darray(4, 1, 2, [4, 4], [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC], &
      [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [2, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, made)
    call check_made_by(MPI_COMBINER_DARRAY, 12, 0, 1, 4, 'MPI_Type_create_darray')
    call check_elements([5, 6, 13, 14], 'MPI_Type_create_darray')
  end subroutine

  subroutine of_precision()
    integer :: bytes, found(4), list(2)
    integer(kind=MPI_ADDRESS_KIND) :: places(1)
    type(MPI_Datatype) :: types(1), match
    integer, parameter :: classes(3) = [MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX]
    integer :: i, lengths(3) = [8, 8, 16]
    call MPI_Type_create_f90_real(15, 300, made)
    call MPI_Type_size(made, bytes)
    call MPI_Type_get_envelope(made, found(1), found(2), found(3), found(4))
    call check(bytes == 8 .and. all(found == [2, 0, 0, MPI_COMBINER_F90_REAL]), 'MPI_Type_create_f90_real')
    call MPI_Type_get_contents(made, 2, 0, 0, list, places, types)
    call check(all(list == [15, 300]), 'the precision that was asked for')
    call MPI_Type_create_f90_real(6, MPI_UNDEFINED, made)
    call MPI_Type_size(made, bytes)
    call check(bytes == 4, 'MPI_Type_create_f90_real with a precision only')
    call MPI_Type_create_f90_complex(15, 300, made)
    call MPI_Type_size(made, bytes)
    call check(bytes == 16, 'MPI_Type_create_f90_complex')
    call MPI_Type_create_f90_integer(18, made)
    call MPI_Type_size(made, bytes)
    call check(bytes == 8, 'MPI_Type_create_f90_integer')
    do i = 1, 3
      call MPI_Type_match_size(classes(i), lengths(i), match)
      call MPI_Type_size(match, bytes)
      call check(bytes == lengths(i), 'MPI_Type_match_size')
    end do
    call sizes()
  end subroutine

  subroutine sizes()
    integer :: bytes(7)
    character(len=5) :: text
    complex(8) :: wave(3)
    call MPI_Sizeof(1_1, bytes(1))
    call MPI_Sizeof(1_8, bytes(2))
    call MPI_Sizeof(1.0, bytes(3))
    call MPI_Sizeof(wave, bytes(4))
    call MPI_Sizeof(.true., bytes(5))
    call MPI_Sizeof(text(1:1), bytes(6))
    call MPI_Sizeof(wave(1:3:2), bytes(7))
    call check(all(bytes == [1, 8, 4, 16, 4, 1, 16]), 'MPI_Sizeof')
  end subroutine

  subroutine values_with_places()
    type(MPI_Datatype) :: pair
    integer :: pairs(2), found(2), bytes
    call MPI_Type_get_value_index(MPI_DOUBLE_PRECISION, MPI_INTEGER, pair)
    if (pair /= MPI_DATATYPE_NULL) then
      call MPI_Type_size(pair, bytes)
      call check(bytes == 12, 'MPI_Type_get_value_index')
    end if
    pairs = [7, 3]
    call MPI_Allreduce(pairs, found, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_SELF)
    call check(all(found == pairs), 'MPI_2INTEGER')
  end subroutine

  subroutine extents()
    integer(kind=MPI_ADDRESS_KIND) :: lb, extent
    integer(kind=MPI_COUNT_KIND) :: large_lb, large_extent, bytes
    call MPI_Type_create_struct(1, [2], [8_MPI_ADDRESS_KIND], [MPI_INTEGER], made)
    call MPI_Type_get_true_extent(made, lb, extent)
    call check(lb == 8 .and. extent == 8, 'MPI_Type_get_true_extent')
    call MPI_Type_get_true_extent_c(made, large_lb, large_extent)
    call check(large_lb == 8 .and. large_extent == 8, 'MPI_Type_get_true_extent_c')
    call MPI_Type_get_true_extent_x(made, large_lb, large_extent)
    call check(large_lb == 8 .and. large_extent == 8, 'MPI_Type_get_true_extent_x')
    call MPI_Type_get_extent_x(made, large_lb, large_extent)
    call check(large_lb == 8 .and. large_extent == 8, 'MPI_Type_get_extent_x')
    call MPI_Type_size_x(made, bytes)
    call check(bytes == 8, 'MPI_Type_size_x')
    call MPI_Type_size(made, bytes)
    call check(bytes == 8, 'MPI_Type_size with a large count')
    call MPI_Type_free(made)
  end subroutine

  subroutine names()
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: length
    type(MPI_Datatype), parameter :: types(19) = [MPI_CHARACTER, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_DOUBLE_PRECISION, &
      MPI_INTEGER, MPI_LOGICAL, MPI_REAL, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_REAL4, MPI_REAL8, &
      MPI_COMPLEX8, MPI_COMPLEX16, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER, MPI_PACKED]
    character(len=*), parameter :: theirs(19) = [character(len=24) :: 'MPI_CHARACTER', 'MPI_COMPLEX', 'MPI_DOUBLE_COMPLEX', &
      'MPI_DOUBLE_PRECISION', 'MPI_INTEGER', 'MPI_LOGICAL', 'MPI_REAL', 'MPI_INTEGER1', 'MPI_INTEGER2', 'MPI_INTEGER4', &
      'MPI_INTEGER8', 'MPI_REAL4', 'MPI_REAL8', 'MPI_COMPLEX8', 'MPI_COMPLEX16', 'MPI_2REAL', 'MPI_2DOUBLE_PRECISION', &
      'MPI_2INTEGER', 'MPI_PACKED']
    integer :: i
    do i = 1, size(types)
      call MPI_Type_get_name(types(i), name, length)
      call check(name == theirs(i) .and. length == len_trim(theirs(i)), 'the name of ' // theirs(i))
    end do
    call MPI_Type_dup(MPI_REAL, made)
    call MPI_Type_get_name(made, name, length)
    call check(name == '' .and. length == 0, 'a datatype without a name')
    call MPI_Type_set_name(made, 'a real one  ')
    call MPI_Type_get_name(made, name, length)
    call check(name == 'a real one' .and. length == 10, 'MPI_Type_set_name')
    call MPI_Type_free(made)
  end subroutine

  subroutine external_data()
    character :: room(80)
    integer(kind=MPI_ADDRESS_KIND) :: position, bytes
    integer(kind=MPI_COUNT_KIND) :: place
    integer :: numbers(3), waves_bytes
    real(8) :: waves(4)
    character(len=3) :: text
    position = 0
    bytes = 80
    call MPI_Pack_external('external32', [1, -2, 3], 3, MPI_INTEGER, room, bytes, position)
    waves = [1.5d0, 0d0, -2.5d0, 0d0]
    call MPI_Pack_external('external32', waves(1:4:2), 2, MPI_DOUBLE_PRECISION, room, bytes, position)
    call MPI_Pack_external('external32', 'abc', 3, MPI_CHARACTER, room, bytes, position)
    call check(position == 31, 'MPI_Pack_external')
    call check(iachar(room(4)) == 1 .and. iachar(room(13)) == 63, 'the order of bytes')
    position = 0
    waves = 0
    call MPI_Unpack_external('external32', room, bytes, position, numbers, 3, MPI_INTEGER)
    call MPI_Unpack_external('external32', room, bytes, position, waves(2:4:2), 2, MPI_DOUBLE_PRECISION)
    call MPI_Unpack_external('external32', room, bytes, position, text, 3, MPI_CHARACTER)
    call check(all(numbers == [1, -2, 3]) .and. text == 'abc', 'MPI_Unpack_external')
    call check(all(waves == [0d0, 1.5d0, 0d0, -2.5d0]), 'MPI_Unpack_external into a section')
    place = 0
    call MPI_Pack(numbers, 3_MPI_COUNT_KIND, MPI_INTEGER, room, 80_MPI_COUNT_KIND, place, MPI_COMM_SELF)
    call MPI_Pack_size(3, MPI_INTEGER, MPI_COMM_SELF, waves_bytes)
    call check(place == 12 .and. waves_bytes >= 12, 'MPI_Pack with large counts')
  end subroutine

  ! What handles are beside functions: values that can be compared, and numbers.
  subroutine handles()
    type(MPI_Comm) :: comm
    integer(kind=MPI_ADDRESS_KIND) :: place, places(2)
    integer :: row(3)
    comm%MPI_VAL = MPI_COMM_SELF%MPI_VAL
    call check(comm == MPI_COMM_SELF .and. .not. comm == MPI_COMM_WORLD, '==')
    call check(comm /= MPI_COMM_NULL .and. .not. comm /= MPI_COMM_SELF, '/=')
    call MPI_Get_address(row(1), places(1))
    call MPI_Get_address(row(3), places(2))
    place = MPI_Aint_diff(places(2), places(1))
    call check(place == 8 .and. MPI_Aint_add(places(1), place) == places(2), 'MPI_Aint_diff')
    call MPI_F_sync_reg(row)
  end subroutine
end program
