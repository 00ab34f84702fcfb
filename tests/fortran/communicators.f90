! Groups, communicators, topologies, info objects and errors by mpi_f08.
program communicators
  use mpi_f08
  implicit none
  integer :: rank, ranks, provided, i
  logical :: flag
  character(len=20) :: unused
  call MPI_Initialized(flag)
  call check(.not. flag, 'MPI_Initialized before it is')
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call check(provided >= MPI_THREAD_FUNNELED, 'MPI_Init_thread')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call inquiry()
  call groups()
  call creation()
  call intercommunicators()
  call grids()
  call graphs()
  call info()
  call error_classes()
  call abi()
  call MPI_Finalize()
  call MPI_Finalized(flag)
  call check(flag, 'MPI_Finalized')
contains

  subroutine inquiry()
    integer :: version, subversion, level
    logical :: is
    type(MPI_Info) :: hardware
    call MPI_Initialized(is)
    call check(is, 'MPI_Initialized')
    call MPI_Finalized(is)
    call check(.not. is, 'MPI_Finalized before it is')
    call MPI_Is_thread_main(is)
    call check(is, 'MPI_Is_thread_main')
    call MPI_Query_thread(level)
    call check(level == provided, 'MPI_Query_thread')
    call MPI_Get_version(version, subversion)
    call check(version >= 4 .and. version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'MPI_Get_version')
    call MPI_Get_hw_resource_info(hardware)
    call MPI_Info_free(hardware)
    call MPI_Pcontrol(1)
    call check(MPI_Wtick() > 0 .and. MPI_Wtick() < 1, 'MPI_Wtick')
  end subroutine

  subroutine groups()
    type(MPI_Group) :: world, first, others, made
    integer :: number, list(2), ranges(3, 1), same
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, 1, [0], first)
    call MPI_Group_excl(world, 1, [0], others)
    call MPI_Group_size(others, number)
    call check(number == ranks - 1, 'MPI_Group_excl')
    call MPI_Group_union(first, others, made)
    call MPI_Group_compare(made, world, same)
    call check(same == MPI_IDENT, 'MPI_Group_union')
    call MPI_Group_free(made)
    call MPI_Group_intersection(first, others, made)
    call check(made == MPI_GROUP_EMPTY, 'MPI_Group_intersection')
    call MPI_Group_difference(world, others, made)
    call MPI_Group_compare(made, first, same)
    call check(same == MPI_IDENT, 'MPI_Group_difference')
    call MPI_Group_free(made)
    ranges(:, 1) = [0, ranks - 1, 1]
    call MPI_Group_range_excl(world, 1, ranges, made)
    call MPI_Group_size(made, number)
    call check(number == 0, 'MPI_Group_range_excl')
    call MPI_Group_translate_ranks(first, 2, [0, MPI_PROC_NULL], world, list)
    call check(all(list == [0, MPI_PROC_NULL]), 'MPI_Group_translate_ranks')
    call MPI_Group_translate_ranks(first, 1, [0], others, list)
    call check(list(1) == MPI_UNDEFINED, 'a rank that is not there')
    call MPI_Group_free(first)
    call MPI_Group_free(others)
    call MPI_Group_free(world)
  end subroutine

  subroutine creation()
    type(MPI_Comm) :: made, other
    type(MPI_Group) :: group
    type(MPI_Info) :: hints
    type(MPI_Request) :: request
    integer :: answer, number
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, made)
    call MPI_Comm_size(made, number)
    call check(number == (ranks + 1 - mod(rank, 2)) / 2, 'MPI_Comm_split')
    call MPI_Comm_free(made)
    call check(made == MPI_COMM_NULL, 'MPI_Comm_free')
    call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, made)
    call check(made == MPI_COMM_NULL, 'MPI_Comm_split without a color')
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made)
    call MPI_Comm_size(made, number)
    call check(number >= 1, 'MPI_Comm_split_type')
    call MPI_Comm_free(made)
    call MPI_Comm_group(MPI_COMM_WORLD, group)
    call MPI_Comm_create(MPI_COMM_WORLD, group, made)
    call MPI_Comm_compare(made, MPI_COMM_WORLD, answer)
    call check(answer == MPI_CONGRUENT, 'MPI_Comm_create')
    call MPI_Comm_free(made)
    call MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, made)
    call MPI_Comm_compare(made, MPI_COMM_WORLD, answer)
    call check(answer == MPI_CONGRUENT, 'MPI_Comm_create_group')
    call MPI_Group_free(group)
    call MPI_Info_create(hints)
    call MPI_Info_set(hints, 'mpi_assert_no_any_tag', 'true')
    call MPI_Comm_set_info(made, hints)
    call MPI_Comm_dup_with_info(made, hints, other)
    call MPI_Comm_free(other)
    call MPI_Comm_idup(made, other, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Comm_compare(made, other, answer)
    call check(answer == MPI_CONGRUENT, 'MPI_Comm_idup')
    call MPI_Comm_free(other)
    call MPI_Comm_idup_with_info(made, hints, other, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Info_free(hints)
    call MPI_Comm_get_info(other, hints)
    call check(hints /= MPI_INFO_NULL, 'MPI_Comm_get_info')
    call MPI_Info_free(hints)
    call MPI_Comm_free(other)
    call MPI_Comm_disconnect(made)
    call check(made == MPI_COMM_NULL, 'MPI_Comm_disconnect')
  end subroutine

  subroutine intercommunicators()
    type(MPI_Comm) :: half, both, merged
    type(MPI_Group) :: group, mine
    integer :: number, value, sum, place
    logical :: is
    call MPI_Comm_test_inter(MPI_COMM_WORLD, is)
    call check(.not. is, 'MPI_Comm_test_inter')
    if (ranks < 2) return
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 3, both)
    call MPI_Comm_test_inter(both, is)
    call MPI_Comm_remote_size(both, number)
    call check(is .and. number == (ranks + mod(rank, 2)) / 2, 'MPI_Intercomm_create')
    call MPI_Comm_remote_group(both, group)
    call MPI_Group_size(group, place)
    call check(place == number, 'MPI_Comm_remote_group')
    value = 10 * mod(rank, 2) + 1
    call MPI_Allreduce(value, sum, 1, MPI_INTEGER, MPI_SUM, both)
    call check(sum == (10 * (1 - mod(rank, 2)) + 1) * number, 'a reduction between groups')
    call MPI_Intercomm_merge(both, mod(rank, 2) == 1, merged)
    call MPI_Comm_rank(merged, place)
    call check((place >= (ranks + 1) / 2) .eqv. (mod(rank, 2) == 1), 'MPI_Intercomm_merge and its LOGICAL')
    call MPI_Comm_free(merged)
    call MPI_Comm_free(both)
    call MPI_Comm_group(half, mine)
    call MPI_Intercomm_create_from_groups(mine, 0, group, 0, 'two halves', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, both)
    call MPI_Comm_remote_size(both, place)
    call check(place == number, 'MPI_Intercomm_create_from_groups')
    call MPI_Comm_free(both)
    call MPI_Group_free(mine)
    call MPI_Group_free(group)
    call MPI_Comm_free(half)
  end subroutine

  subroutine grids()
    type(MPI_Comm) :: grid
    integer :: dims(2), coords(2), from, to, kind, number
    logical :: periods(2)
    dims = [0, 1]
    call MPI_Dims_create(ranks, 2, dims)
    call check(all(dims == [ranks, 1]), 'MPI_Dims_create')
    periods = [.true., .false.]
    call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, number)
    call check(number >= 0 .and. number < ranks, 'MPI_Cart_map')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid)
    call MPI_Topo_test(grid, kind)
    call MPI_Cartdim_get(grid, number)
    call check(kind == MPI_CART .and. number == 2, 'MPI_Cartdim_get')
    call MPI_Cart_coords(grid, rank, 2, coords)
    call check(all(coords == [rank, 0]), 'MPI_Cart_coords')
    call MPI_Cart_shift(grid, 0, 1, from, to)
    call check(from == mod(rank + ranks - 1, ranks) .and. to == mod(rank + 1, ranks), 'MPI_Cart_shift')
    call MPI_Cart_shift(grid, 1, 1, from, to)
    call check(from == MPI_PROC_NULL .and. to == MPI_PROC_NULL, 'MPI_Cart_shift beyond the border')
    call MPI_Comm_free(grid)
    call MPI_Topo_test(MPI_COMM_WORLD, kind)
    call check(kind == MPI_UNDEFINED, 'MPI_Topo_test')
  end subroutine

  subroutine graphs()
    type(MPI_Comm) :: ring
    integer :: ends(ranks), edges(ranks), found(ranks), list(ranks), number, many, weights(ranks), others(ranks)
    logical :: weighted
    ends = [(i, i = 1, ranks)]
    edges = [(mod(i, ranks), i = 1, ranks)]
    call MPI_Graph_map(MPI_COMM_WORLD, ranks, ends, edges, number)
    call check(number >= 0 .and. number < ranks, 'MPI_Graph_map')
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, ends, edges, .false., ring)
    call MPI_Graphdims_get(ring, number, many)
    call check(number == ranks .and. many == ranks, 'MPI_Graphdims_get')
    call MPI_Graph_get(ring, ranks, ranks, found, list)
    call check(all(found == ends) .and. all(list == edges), 'MPI_Graph_get')
    call MPI_Graph_neighbors_count(ring, rank, number)
    call MPI_Graph_neighbors(ring, rank, 1, list)
    call check(number == 1 .and. list(1) == mod(rank + 1, ranks), 'MPI_Graph_neighbors')
    call MPI_Comm_free(ring)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [mod(rank + 1, ranks)], [5], MPI_INFO_NULL, .false., ring)
    call MPI_Dist_graph_neighbors_count(ring, number, many, weighted)
    call check(number == 1 .and. many == 1 .and. weighted, 'MPI_Dist_graph_create')
    call MPI_Dist_graph_neighbors(ring, 1, list, weights, 1, found, others)
    call check(weights(1) == 5 .and. others(1) == 5 .and. found(1) == mod(rank + 1, ranks), 'weights')
    call MPI_Comm_free(ring)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [mod(rank + 1, ranks)], MPI_UNWEIGHTED, MPI_INFO_NULL, &
      .false., ring)
    call MPI_Dist_graph_neighbors_count(ring, number, many, weighted)
    call check(.not. weighted, 'MPI_UNWEIGHTED')
    call MPI_Comm_free(ring)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, list, MPI_WEIGHTS_EMPTY, 0, list, MPI_WEIGHTS_EMPTY, &
      MPI_INFO_NULL, .false., ring)
    call MPI_Dist_graph_neighbors_count(ring, number, many, weighted)
    call check(number == 0 .and. many == 0 .and. weighted, 'MPI_WEIGHTS_EMPTY')
    call MPI_Comm_free(ring)
  end subroutine

  subroutine info()
    type(MPI_Info) :: one, other
    integer :: number
    character(len=30) :: long
    logical :: is
    call MPI_Info_create(one)
    call MPI_Info_set(one, 'key', 'value of ten')
    call MPI_Info_set(one, 'again', 'one')
    call MPI_Info_dup(one, other)
    call MPI_Info_delete(one, 'again')
    call MPI_Info_get_nkeys(one, number)
    call check(number == 1, 'MPI_Info_delete')
    call MPI_Info_get_nkeys(other, number)
    call check(number == 2, 'MPI_Info_dup')
    long = repeat('*', 30)
    call MPI_Info_get(one, 'key ', 30, long, is)
    call check(is .and. long == 'value of ten', 'blanks behind a string')
    call MPI_Info_free(one)
    call MPI_Info_free(other)
    call MPI_Info_create_env(one)
    call MPI_Info_get_nkeys(one, number)
    call check(number >= 0, 'MPI_Info_create_env')
    call MPI_Info_free(one)
    call MPI_Info_get_valuelen(MPI_INFO_ENV, 'no such key', number, is)
    call check(.not. is, 'MPI_INFO_ENV')
  end subroutine

  subroutine error_classes()
    integer :: class, code, found, length
    character(len=MPI_MAX_ERROR_STRING) :: text
    call MPI_Add_error_class(class)
    call MPI_Add_error_code(class, code)
    call MPI_Add_error_string(code, 'an error of ours   ')
    call MPI_Error_string(code, text, length)
    call check(text == 'an error of ours' .and. length == 16, 'MPI_Add_error_string')
    call MPI_Error_class(code, found)
    call check(found == class .and. class > MPI_ERR_LASTCODE, 'MPI_Add_error_code')
    call MPI_Remove_error_string(code)
    call MPI_Remove_error_code(code)
    call MPI_Remove_error_class(class)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send(1, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, code)
    call MPI_Error_class(code, found)
    call check(found == MPI_ERR_RANK, 'MPI_ERRORS_RETURN')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine

  subroutine abi()
    integer :: major, minor
    type(MPI_Info) :: facts
    logical :: is, true_one, false_one
    call MPI_Abi_get_version(major, minor)
    call check(major == 1 .and. minor >= 0, 'MPI_Abi_get_version')
    call MPI_Abi_get_info(facts)
    call MPI_Info_free(facts)
    call MPI_Abi_get_fortran_info(facts)
    call check(facts /= MPI_INFO_NULL, 'MPI_Abi_get_fortran_info')
    call MPI_Info_get(facts, 'mpi_integer_size', 20, unused, is)
    call check(is .and. unused == '4', 'mpi_integer_size')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Abi_set_fortran_info(facts, major)
    call check(major /= MPI_SUCCESS, 'what is said a second time')
    call MPI_Info_free(facts)
    call MPI_Abi_get_fortran_booleans(4, true_one, false_one, is)
    call check(is .and. true_one .and. .not. false_one, 'MPI_Abi_get_fortran_booleans')
    call MPI_Abi_set_fortran_booleans(4, true_one, false_one, major)
  end subroutine
end program
