! Datatypes, packing, info objects, names, topologies, groups and sessions by mpi_f08: strings, LOGICALs, arrays of handles.
program objects
  use mpi_f08
  implicit none
  integer :: rank, ranks
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call datatypes()
  call packing()
  call info()
  call names()
  call topologies()
  call groups()
  call sessions()
  call MPI_Finalize()
contains

  subroutine datatypes()
    type(MPI_Datatype) :: made, parts(2), found
    integer :: integers(20), how_many(3), combiner, bytes
    integer(kind=MPI_ADDRESS_KIND) :: places(20), lb, extent
    integer(kind=MPI_COUNT_KIND) :: large_lb, large_extent
    call MPI_Type_create_struct(2, [3, 1], [0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND], &
      [MPI_INTEGER, MPI_DOUBLE_PRECISION], made)
    call MPI_Type_get_envelope(made, how_many(1), how_many(2), how_many(3), combiner)
    call check(combiner == MPI_COMBINER_STRUCT .and. all(how_many == [3, 2, 2]), 'MPI_Type_get_envelope')
    call MPI_Type_get_contents(made, 3, 2, 2, integers, places, parts)
    call check(parts(1) == MPI_INTEGER .and. parts(2) == MPI_DOUBLE_PRECISION, 'MPI_Type_get_contents')
    call check(all(integers(1:3) == [2, 3, 1]) .and. places(2) == 16, 'what a structure is made from')
    call MPI_Type_get_extent(made, lb, extent)
    call MPI_Type_get_extent_c(made, large_lb, large_extent)
    call check(lb == 0 .and. extent == 24 .and. large_extent == 24, 'MPI_Type_get_extent')
    call MPI_Type_free(made)
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, found)
    call MPI_Type_size(found, bytes)
    call check(bytes == 8, 'MPI_Type_match_size')
    call MPI_Type_create_f90_integer(9, found)
    call MPI_Type_size(found, bytes)
    call check(bytes == 4, 'MPI_Type_create_f90_integer')
    call MPI_Sizeof(1.0d0, bytes)
    call check(bytes == 8, 'MPI_Sizeof')
  end subroutine

  subroutine packing()
    integer :: position, values(6), got(3), bytes
    integer(kind=MPI_ADDRESS_KIND) :: at, size
    character :: room(100)
    values = [1, 2, 3, 4, 5, 6]
    position = 0
    call MPI_Pack(values(1:6:2), 3, MPI_INTEGER, room, 100, position, MPI_COMM_WORLD)
    call MPI_Pack_size(3, MPI_INTEGER, MPI_COMM_WORLD, bytes)
    call check(position == 12 .and. bytes >= 12, 'MPI_Pack')
    position = 0
    call MPI_Unpack(room, 100, position, got, 3, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(got == [1, 3, 5]), 'MPI_Unpack')
    at = 0
    call MPI_Pack_external_size('external32', 3, MPI_INTEGER, size)
    call MPI_Pack_external('external32', values, 3, MPI_INTEGER, room, size, at)
    call check(at == 12 .and. iachar(room(4)) == 1, 'MPI_Pack_external')
  end subroutine

  subroutine info()
    type(MPI_Info) :: one
    character(len=10) :: value
    character(len=MPI_MAX_INFO_KEY) :: key
    integer :: length, keys
    logical :: flag
    call MPI_Info_create(one)
    call MPI_Info_set(one, '  color ', '  dark red  ')
    call MPI_Info_get_nkeys(one, keys)
    call MPI_Info_get_nthkey(one, 0, key)
    call check(keys == 1 .and. key == 'color', 'blanks around a key')
    length = 10
    call MPI_Info_get_string(one, 'color', length, value, flag)
    call check(flag .and. length == 8 .and. value == 'dark red', 'MPI_Info_get_string')
    length = 4
    call MPI_Info_get_string(one, 'color', length, value, flag)
    call check(flag .and. length == 8 .and. value == 'dark', 'the beginning of a value')
    value = 'untouched'
    call MPI_Info_get(one, 'taste', 9, value, flag)
    call check(.not. flag .and. value == 'untouched', 'a value that is not there')
    call MPI_Info_get_valuelen(one, 'color', length, flag)
    call check(flag .and. length == 8, 'MPI_Info_get_valuelen')
    call MPI_Info_free(one)
    call check(one == MPI_INFO_NULL, 'MPI_Info_free')
  end subroutine

  subroutine names()
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length
    type(MPI_Comm) :: twin
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length)
    call check(name == 'MPI_COMM_WORLD' .and. length == 14, 'MPI_Comm_get_name')
    call MPI_Comm_dup(MPI_COMM_WORLD, twin)
    call MPI_Comm_set_name(twin, 'a twin   ')
    call MPI_Comm_get_name(twin, name, length)
    call check(name == 'a twin' .and. length == 6, 'MPI_Comm_set_name')
    call MPI_Comm_free(twin)
    call MPI_Error_string(MPI_ERR_RANK, text, length)
    call check(length > 0 .and. len_trim(text) == length, 'MPI_Error_string')
    call MPI_Get_library_version(version, length)
    call check(length > 0, 'MPI_Get_library_version')
    call check(MPI_MAX_OBJECT_NAME == 127 .and. MPI_SUBARRAYS_SUPPORTED, 'constants')
  end subroutine

  subroutine topologies()
    type(MPI_Comm) :: grid, part, graph
    integer :: dims(2), coords(2), here, sources(1), targets(1), weights(1), others(1)
    logical :: periods(2), weighted, reorder = .false.
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], reorder, grid)
    call MPI_Cart_get(grid, 2, dims, periods, coords)
    call check(periods(1) .and. .not. periods(2), 'LOGICALs of a grid')
    call MPI_Cart_rank(grid, coords, here)
    call check(here == rank, 'MPI_Cart_rank')
    call MPI_Cart_sub(grid, [.true., .false.], part)
    call MPI_Comm_free(part)
    call MPI_Comm_free(grid)
    sources = mod(rank + ranks - 1, ranks)
    targets = mod(rank + 1, ranks)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, &
      MPI_INFO_NULL, reorder, graph)
    call MPI_Dist_graph_neighbors_count(graph, dims(1), dims(2), weighted)
    call check(all(dims == 1) .and. .not. weighted, 'MPI_UNWEIGHTED')
    call MPI_Dist_graph_neighbors(graph, 1, others, MPI_UNWEIGHTED, 1, weights, MPI_UNWEIGHTED)
    call check(others(1) == sources(1), 'MPI_Dist_graph_neighbors')
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, others, 1, MPI_INTEGER, graph)
    call check(others(1) == sources(1), 'MPI_Neighbor_allgather')
    call MPI_Comm_free(graph)
  end subroutine

  subroutine groups()
    type(MPI_Group) :: world, some
    integer :: ranges(3, 1), here, answer
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    ranges(:, 1) = [ranks - 1, 0, -1]
    call MPI_Group_range_incl(world, 1, ranges, some)
    call MPI_Group_rank(some, here)
    call check(here == ranks - 1 - rank, 'MPI_Group_range_incl')
    call MPI_Group_compare(world, some, answer)
    call check(answer == merge(MPI_IDENT, MPI_SIMILAR, ranks == 1), 'MPI_Group_compare')
    call MPI_Group_free(some)
    call MPI_Group_free(world)
  end subroutine

  subroutine sessions()
    type(MPI_Session) :: session
    type(MPI_Group) :: group
    type(MPI_Comm) :: comm
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    integer :: sets, length, number
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets)
    length = 0
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
    number = length
    length = len(name)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
    call check(sets >= 2 .and. len_trim(name) == number, 'MPI_Session_get_nth_pset')
    call MPI_Group_from_session_pset(session, 'mpi://WORLD', group)
    call MPI_Comm_create_from_group(group, 'objects', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm)
    call MPI_Comm_size(comm, number)
    call check(number == ranks, 'MPI_Comm_create_from_group')
    call MPI_Comm_free(comm)
    call MPI_Group_free(group)
    call MPI_Session_finalize(session)
  end subroutine
end program
