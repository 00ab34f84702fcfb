1;
% Communicators, groups, topologies, info objects, attributes, error handlers and the rest.
function check(info)
  assert(info, 0);
end

function [info, attr, flag] = mpitb_copy(comm, kv, extra_st, attr)
  info = 0;
  flag = extra_st.copies;
  attr = {attr, 'copied'};
end

function info = mpitb_delete(comm, kv, attr, extra_st)
  global deleted
  deleted{end + 1} = attr;
  info = 0;
end

function mpitb_handle(comm, errclass, errcode, errmsg)
  global handled
  handled = {comm, errclass, errcode, errmsg};
end

global deleted handled
deleted = {};
postrider.use('mpitb');
[info, flag] = MPI_Initialized;
assert([info flag], [0 0]);
[info, flag] = MPI_Finalized;
assert([info flag], [0 0]);
[info, major, minor] = MPI_Get_version;
assert([info major minor], [0 MPI_VERSION MPI_SUBVERSION]);
check(MPI_Init('one', 'two'));
assert(MPI_Init, MPI_ERR_OTHER);
[info, flag] = MPI_Initialized;
assert([info flag], [0 1]);
world = MPI_COMM_WORLD;
[info, rank] = MPI_Comm_rank(world);
[info, ranks] = MPI_Comm_size(world);
last = ranks - 1;
[info, name] = MPI_Get_processor_name;
assert(ischar(name) && ~isempty(name));
start = MPI_Wtime;
assert(MPI_Wtime >= start && MPI_Wtick > 0);
var = [1 2 3];
[info, addr] = MPI_Address(var);
check(info);
assert(addr > 0 && addr == fix(addr));

% Communicators.
[info, copy] = MPI_Comm_dup(world);
check(info);
[info, result] = MPI_Comm_compare(world, copy);
assert([info result], [0 MPI_CONGRUENT]);
[info, result] = MPI_Comm_compare(world, world);
assert(result, MPI_IDENT);
[info, part] = MPI_Comm_split(world, mod(rank, 2), -rank);
[info, n] = MPI_Comm_size(part);
assert(n, ceil((ranks - mod(rank, 2)) / 2));
[info, none] = MPI_Comm_split(world, MPI_UNDEFINED, 0);
assert(none, MPI_COMM_NULL);
[info, flag] = MPI_Comm_test_inter(world);
assert([info flag], [0 0]);
[info, grp] = MPI_Comm_group(world);
[info, first] = MPI_Group_incl(grp, 0);
[info, sub] = MPI_Comm_create(world, first);
assert((sub == MPI_COMM_NULL) == (rank > 0));
if rank == 0
  check(MPI_Comm_free(sub));
  assert(sub, MPI_COMM_NULL);
end
check(MPI_Comm_free(copy));
assert(copy, MPI_COMM_NULL);
check(MPI_Comm_disconnect(part));
assert(part, MPI_COMM_NULL);
if ranks > 1
  [info, half] = MPI_Comm_split(world, rank > 0, rank);
  [info, inter] = MPI_Intercomm_create(half, 0, world, 1 - (rank > 0), 3);
  check(info);
  [info, flag] = MPI_Comm_test_inter(inter);
  assert(flag, 1);
  [info, n] = MPI_Comm_remote_size(inter);
  assert(n, [last 1](1 + (rank > 0)));
  [info, other] = MPI_Comm_remote_group(inter);
  [info, n2] = MPI_Group_size(other);
  assert(n2, n);
  [info, together] = MPI_Intercomm_merge(inter, rank == 0);
  [info, r] = MPI_Comm_rank(together);
  assert(r, mod(rank - 1, ranks));
  check(MPI_Group_free(other));
  assert(other, MPI_GROUP_NULL);
  check(MPI_Comm_free(inter));
  check(MPI_Comm_free(together));
  check(MPI_Comm_free(half));
end

% Groups.
[info, n] = MPI_Group_size(grp);
[info, r] = MPI_Group_rank(grp);
assert([n r], [ranks rank]);
[info, back] = MPI_Group_incl(grp, last:-1:0);
[info, result] = MPI_Group_compare(grp, back);
assert(result == MPI_SIMILAR || ranks == 1);
[info, r2] = MPI_Group_translate_ranks(grp, 0:last, back);
assert(r2, last:-1:0);
[info, rest] = MPI_Group_excl(grp, 0);
[info, n] = MPI_Group_size(rest);
assert(n, last);
[info, both] = MPI_Group_union(first, rest);
[info, result] = MPI_Group_compare(both, grp);
assert(result, MPI_IDENT);
[info, none] = MPI_Group_intersection(first, rest);
[info, n] = MPI_Group_size(none);
assert(n, 0);
[info, all_but] = MPI_Group_difference(grp, first);
[info, result] = MPI_Group_compare(all_but, rest);
assert(result, MPI_IDENT);
[info, even] = MPI_Group_range_incl(grp, [0 0 1; last last 1](1:min(ranks, 2), :));
[info, n] = MPI_Group_size(even);
assert(n, min(ranks, 2));
[info, r2] = MPI_Group_translate_ranks(even, 0:n - 1, grp);
assert(r2, [0 last](1:n));
[info, odd] = MPI_Group_range_excl(grp, [0 last 2]);
[info, n] = MPI_Group_size(odd);
assert(n, floor(ranks / 2));
[info, r] = MPI_Group_rank(MPI_GROUP_EMPTY);
assert(r, MPI_UNDEFINED);
check(MPI_Group_free(grp));

% Topologies.
[info, topo] = MPI_Topo_test(world);
assert(topo, MPI_UNDEFINED);
[info, dims] = MPI_Dims_create(12, 2);
assert(dims, [4 3]);
[info, dims] = MPI_Dims_create(12, [0 2 0]);
assert(dims, [3 2 2]);
[info, dims] = MPI_Dims_create(ranks, 2);
assert(prod(dims), ranks);
[info, cart] = MPI_Cart_create(world, dims, [1 0], 0);
check(info);
[info, topo] = MPI_Topo_test(cart);
assert(topo, MPI_CART);
[info, n] = MPI_Cartdim_get(cart);
assert(n, 2);
[info, d, periods, coords] = MPI_Cart_get(cart);
assert({d, periods, coords}, {dims, [1 0], [floor(rank / dims(2)), mod(rank, dims(2))]});
[info, c] = MPI_Cart_coords(cart, rank);
assert(c, coords);
[info, r] = MPI_Cart_rank(cart, coords);
assert(r, rank);
[info, src, dst] = MPI_Cart_shift(cart, 0, 1);
assert([src dst], mod(coords(1) + [-1 1], dims(1)) * dims(2) + coords(2));
[info, row] = MPI_Cart_sub(cart, [false true]);
[info, n] = MPI_Comm_size(row);
assert(n, dims(2));
[info, r] = MPI_Cart_map(world, dims, [1 0]);
check(info);
assert(r >= 0 && r < ranks);
index = 2 * (1:ranks);
edges = reshape([mod((0:last) - 1, ranks); mod((0:last) + 1, ranks)], 1, []);
[info, graph] = MPI_Graph_create(world, index, edges, 0);
check(info);
[info, topo] = MPI_Topo_test(graph);
assert(topo, MPI_GRAPH);
[info, nodes, n] = MPI_Graphdims_get(graph);
assert([nodes n], [ranks 2 * ranks]);
[info, i, e] = MPI_Graph_get(graph);
assert({i, e}, {index, edges});
[info, n] = MPI_Graph_neighbors_count(graph, rank);
assert(n, 2);
[info, neighbours] = MPI_Graph_neighbors(graph, rank);
assert(neighbours, mod(rank + [-1 1], ranks));
[info, r] = MPI_Graph_map(world, index, edges);
check(info);

for wrong = {'MPI_Cart_create(world, [1 1], 1, 0)', 'MPI_Cart_rank(cart, 0)', 'MPI_Cart_sub(cart, [1 1 1])', ...
             'MPI_Graph_create(world, 3, 1, 0)', 'MPI_Cart_map(world, 1, [])'}
  try
    eval([wrong{1} ';']);
    error('nothing was wrong');
  catch problem
    assert(problem.identifier, 'mpi:argument');
  end
end

% Info objects.
[info, inf] = MPI_Info_create;
check(MPI_Info_set(inf, 'host', 'somewhere'));
check(MPI_Info_set(inf, 'wdir', ''));
[info, n] = MPI_Info_get_nkeys(inf);
assert(n, 2);
[info, flag, val] = MPI_Info_get(inf, 'host');
assert({info flag val}, {0 1 'somewhere'});
[info, flag, val] = MPI_Info_get(inf, 'nothing');
assert([info flag isempty(val)], [0 0 1]);
[info, len, flag] = MPI_Info_get_valuelen(inf, 'host');
assert([info len flag], [0 9 1]);
[info, key] = MPI_Info_get_nthkey(inf, 0);
assert(key, 'host');
[info, other] = MPI_Info_dup(inf);
check(MPI_Info_delete(inf, 'host'));
[info, n] = MPI_Info_get_nkeys(inf);
[info, n2] = MPI_Info_get_nkeys(other);
assert([n n2], [1 2]);
check(MPI_Info_free(inf));
check(MPI_Info_free(other));
assert([inf other], MPI_INFO_NULL * [1 1]);

% Attributes.
[info, tag_ub, flag] = MPI_Attr_get(world, MPI_TAG_UB);
assert(flag == 1 && tag_ub >= 32767);
[info, n, flag] = MPI_Attr_get(world, MPI_WTIME_IS_GLOBAL);
assert([info flag], [0 1]);
extra.copies = 1;
[info, dup] = MPI_Keyval_create('DUP', 'NULL', []);
[info, null] = MPI_Keyval_create('MPI_NULL_COPY_FN', MPI_NULL_DELETE_FN, 0);
[info, dup_too] = MPI_Keyval_create(MPI_DUP_FN, 'NULL_DELETE_FN', 0);
[info, own] = MPI_Keyval_create('mpitb_copy', 'mpitb_delete', extra);
check(info);
[info, attr, flag] = MPI_Attr_get(world, dup);
assert([info flag isempty(attr)], [0 0 1]);
value = {1, 'two', struct('three', 3)};
for kv = [dup null dup_too own]
  check(MPI_Attr_put(world, kv, value));
  [info, attr, flag] = MPI_Attr_get(world, kv);
  assert({attr flag}, {value 1});
end
[info, copy] = MPI_Comm_dup(world);
[info, attr, flag] = MPI_Attr_get(copy, dup);
assert({attr flag}, {value 1});
[info, attr, flag] = MPI_Attr_get(copy, dup_too);
assert({attr flag}, {value 1});
[info, attr, flag] = MPI_Attr_get(copy, null);
assert(flag, 0);
[info, attr, flag] = MPI_Attr_get(copy, own);
assert({attr flag}, {{value, 'copied'} 1});
assert(numel(deleted), 0);
check(MPI_Comm_free(copy));
assert(deleted, {{value, 'copied'}});
check(MPI_Attr_put(world, own, 5));
assert(numel(deleted), 2);
check(MPI_Attr_delete(world, own));
assert(deleted{3}, 5);
for kv = [dup null dup_too]
  check(MPI_Attr_delete(world, kv));
  [info, attr, flag] = MPI_Attr_get(world, kv);
  assert(flag, 0);
end
check(MPI_Keyval_free(own));
assert(own, MPI_KEYVAL_INVALID);

% Error handlers.
[info, eh] = MPI_Errhandler_get(world);
assert(eh, MPI_ERRORS_ARE_FATAL);
[info, mine] = MPI_Errhandler_create('mpitb_handle');
check(MPI_Errhandler_set(world, mine));
[info, eh] = MPI_Errhandler_get(world);
assert(eh, mine);
info = MPI_Send(1, ranks, 1, world);
assert(handled{1}, world);
assert(handled{2}, MPI_ERR_RANK);
assert(handled{3}, info);
[none, text] = MPI_Error_string(info);
assert(~isempty(text) && ischar(handled{4}));
[none, class_there] = MPI_Error_class(info);
assert(class_there, MPI_ERR_RANK);
% So do errors without a communicator.
handled = {};
info = MPI_Group_size(MPI_GROUP_NULL);
assert(handled{2}, MPI_ERR_GROUP);
% And those in functions that change their caller's variables.
handled = {};
buf = 0;
info = MPI_Recv(buf, ranks, 1, world);
assert(handled{2}, MPI_ERR_RANK);
check(MPI_Errhandler_set(world, MPI_ERRORS_RETURN));
handled = {};
[info, n] = MPI_Comm_size(MPI_COMM_NULL);
[none, class_there] = MPI_Error_class(info);
assert({class_there, n, handled}, {MPI_ERR_COMM, [], {}});
check(MPI_Errhandler_free(mine));
assert(mine, MPI_ERRHANDLER_NULL);
assert(MPI_Barrier(world), 0);
check(MPI_Finalize);
[info, flag] = MPI_Finalized;
assert([info flag], [0 1]);
try
  MPI_Barrier(world);
  error('nothing was wrong');
catch problem
  assert(problem.identifier, 'mpi:state');
end
