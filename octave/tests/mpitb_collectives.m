1;
% Collective operations against what they should give, in place, and over an inter-communicator.
function check(info)
  assert(info, 0);
end

function refuse(command)
  try
    evalin('base', command);
  catch problem
    assert(problem.identifier, 'mpi:argument');
    return
  end
  error('%s was not refused', command);
end

postrider.use('mpitb');
check(MPI_Init);
world = MPI_COMM_WORLD;
[info, rank] = MPI_Comm_rank(world);
[info, ranks] = MPI_Comm_size(world);
last = ranks - 1;
check(MPI_Barrier(world));

for root = [0 last]
  for value = {pi, [1 2; 3 4], 'text', int8([1 2]), complex(1, 2), true}
    var = value{1};
    if rank ~= root
      if ischar(var)
        var(:) = ' ';
      elseif iscomplex(var)
        var = complex(0, 0);
      else
        var = cast(zeros(size(var)), class(var));
      end
    end
    kept = var;
    check(MPI_Bcast(var, root, world));
    assert(isequal(var, value{1}) && strcmp(class(var), class(value{1})) && iscomplex(var) == iscomplex(value{1}));
    assert(rank == root || isequal(kept, 0 * value{1}) || ischar(kept));
  end
  % The root may broadcast any expression.
  if rank == root
    check(MPI_Bcast([7 8], root, world));
  else
    got = [0 0];
    check(MPI_Bcast(got, root, world));
    assert(got, [7 8]);
  end

  svar = [rank -rank];
  rvar = -5 * ones(1, 2 * ranks + 1);
  if rank == root
    check(MPI_Gather(svar, rvar, root, world));
    assert(rvar, [reshape([0:last; -(0:last)], 1, []), -5]);
  else
    check(MPI_Gather(svar, [], root, world));
  end
  if rank == root
    rvar = zeros(2, ranks);
    rvar(:, rank + 1) = [rank 1];
    check(MPI_Gather(MPI_IN_PLACE, rvar, root, world));
    assert(rvar, [0:last; ones(1, ranks)]);
  else
    check(MPI_Gather([rank 1], 0, root, world));
  end

  cnts = 1:ranks;
  disps = cumsum([0, 1 + cnts(1:end-1)]);
  svar = int32(rank * ones(1, rank + 1));
  if rank == root
    rvar = -ones(1, sum(cnts) + ranks, 'int32');
    check(MPI_Gatherv(svar, rvar, cnts, disps, root, world));
    wanted = [];
    for r = 0:last
      wanted = [wanted, r * ones(1, r + 1), -1];
    end
    assert(rvar, int32(wanted));
  else
    check(MPI_Gatherv(svar, 0, 0, 0, root, world));
  end

  rvar = [0 0];
  if rank == root
    check(MPI_Scatter(1:2 * ranks, rvar, root, world));
  else
    check(MPI_Scatter(0, rvar, root, world));
  end
  assert(rvar, 2 * rank + [1 2]);
  if rank == root
    check(MPI_Scatter(1:2 * ranks, MPI_IN_PLACE, root, world));
  else
    check(MPI_Scatter(0, rvar, root, world));
  end
  rvar = -ones(1, rank + 1);
  if rank == root
    check(MPI_Scatterv(0:100, cnts, disps, rvar, root, world));
  else
    check(MPI_Scatterv([], [], [], rvar, root, world));
  end
  assert(rvar, disps(rank + 1) + (0:rank));

  total = 0;
  check(MPI_Reduce(rank + 1, total, MPI_SUM, root, world));
  assert(total, (rank == root) * sum(1:ranks));
  if rank == root
    total = rank + 1;
    check(MPI_Reduce(MPI_IN_PLACE, total, MPI_SUM, root, world));
    assert(total, sum(1:ranks));
  else
    check(MPI_Reduce(rank + 1, [], MPI_SUM, root, world));
  end
end

rvar = zeros(1, ranks);
check(MPI_Allgather(rank, rvar, world));
assert(rvar, 0:last);
rvar = zeros(1, ranks);
rvar(rank + 1) = rank;
check(MPI_Allgather(MPI_IN_PLACE, rvar, world));
assert(rvar, 0:last);
text = blanks(2 * ranks);
check(MPI_Allgather(sprintf('%d,', rank), text, world));
assert(text, sprintf('%d,', 0:last));
rvar = zeros(1, sum(cnts));
check(MPI_Allgatherv(rank * ones(1, rank + 1), rvar, cnts, cumsum([0, cnts(1:end-1)]), world));
assert(sum(rvar), sum((0:last) .* cnts));

svar = rank * 100 + (1:2 * ranks);
rvar = zeros(1, 2 * ranks);
check(MPI_Alltoall(svar, rvar, 2, world));
assert(rvar, reshape((0:last) * 100 + 2 * rank + [1; 2], 1, []));
rvar = zeros(1, 2 * ranks + 3);
check(MPI_Alltoallv(svar, ones(1, ranks), 2 * (0:last), rvar, ones(1, ranks), 1 + 2 * (0:last), world));
wanted = zeros(1, 2 * ranks + 3);
wanted(2 + 2 * (0:last)) = (0:last) * 100 + 2 * rank + 1;
assert(rvar, wanted);

% Every operation.
a = int32(rank + 1);
for op = {{MPI_SUM, int32(sum(1:ranks))}, {MPI_PROD, int32(prod(1:ranks))}, {MPI_MAX, int32(ranks)}, {MPI_MIN, int32(1)}, ...
          {MPI_LAND, int32(1)}, {MPI_LOR, int32(1)}, {MPI_LXOR, int32(mod(ranks, 2))}, ...
          {MPI_BAND, int32(ranks == 1)}, {MPI_BOR, int32(2^ceil(log2(ranks + 1)) - 1)}, {MPI_BXOR, []}}
  rvar = int32(0);
  check(MPI_Allreduce(a, rvar, op{1}{1}, world));
  wanted = op{1}{2};
  if isempty(wanted)
    wanted = int32(0);
    for k = 1:ranks
      wanted = bitxor(wanted, int32(k));
    end
  end
  assert(rvar, wanted);
end
flag = false;
check(MPI_Allreduce(rank == 0, flag, MPI_LOR, world));
assert(flag, true);
z = complex(0, 0);
check(MPI_Allreduce(complex(1, rank), z, MPI_SUM, world));
assert(z, complex(ranks, sum(0:last)));
m = rank * ones(2, 3);
check(MPI_Allreduce(MPI_IN_PLACE, m, MPI_SUM, world));
assert(m, sum(0:last) * ones(2, 3));
part = 0;
check(MPI_Scan(rank + 1, part, MPI_SUM, world));
assert(part, sum(1:rank + 1));
rvar = zeros(1, rank + 1);
check(MPI_Reduce_scatter(1:sum(cnts), rvar, cnts, MPI_SUM, world));
assert(rvar, ranks * (sum(1:rank) + (1:rank + 1)));

% Nothing is received outside of variables.
short = 0;
named = zeros(1, 100);
whole = int8(zeros(1, 100));
record.a = zeros(1, 100);
if ranks > 1
  refuse('MPI_Allgather(1, short, world)');
  refuse('MPI_Alltoall(1:100, short, 1, world)');
  refuse('MPI_Alltoall(1, named, 1, world)');
  refuse('MPI_Reduce_scatter(1, named, cnts, MPI_SUM, world)');
end
refuse('MPI_Allreduce([1 2], short, MPI_SUM, world)');
refuse('MPI_Allreduce(1:100, whole, MPI_SUM, world)');
refuse('MPI_Allreduce(1, record.a, MPI_SUM, world)');
refuse('MPI_Allreduce({1}, named, MPI_SUM, world)');
refuse('MPI_Scan(1, zeros(1), MPI_SUM, world)');
refuse('MPI_Allgatherv(1, named, ones(1, ranks + 1), ones(1, ranks + 1), world)');
refuse('MPI_Allgatherv(1, named, ones(1, ranks), 100 * ones(1, ranks), world)');
refuse('MPI_Alltoallv(1:9, -ones(1, ranks), zeros(1, ranks), named, ones(1, ranks), zeros(1, ranks), world)');

if ranks > 1
  % Two groups: even and odd ranks.
  mine = mod(rank, 2);
  [info, half] = MPI_Comm_split(world, mine, rank);
  [info, inter] = MPI_Intercomm_create(half, 0, world, 1 - mine, 5);
  check(info);
  [info, here] = MPI_Comm_rank(inter);
  [info, there] = MPI_Comm_remote_size(inter);
  [info, local_size] = MPI_Comm_size(inter);
  if mine
    root = 0;
  elseif here == 0
    root = MPI_ROOT;
  else
    root = MPI_PROC_NULL;
  end
  var = 9 * (1 - mine);
  check(MPI_Bcast(var, root, inter));
  assert(var, 9);
  rvar = zeros(1, there);
  check(MPI_Gather(rank, rvar, root, inter));
  if root == MPI_ROOT
    assert(rvar, 1:2:2 * there);
  end
  got = 0;
  check(MPI_Scatter(10 * (1:there), got, root, inter));
  if mine
    assert(got, 10 * (here + 1));
  end
  total = 0;
  check(MPI_Reduce(1, total, MPI_SUM, root, inter));
  if root == MPI_ROOT
    assert(total, there);
  end
  rvar = zeros(1, there);
  check(MPI_Allgather(rank, rvar, inter));
  assert(rvar, (1 - mine) + 2 * (0:there - 1));
  total = 0;
  check(MPI_Allreduce(1, total, MPI_SUM, inter));
  assert(total, there);
  check(MPI_Comm_free(inter));
  check(MPI_Comm_free(half));
end
check(MPI_Finalize);
