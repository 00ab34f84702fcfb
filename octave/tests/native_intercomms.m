% Inter-communicators (section 7.6): messages, values and collectives between two groups.
function native_intercomms(c)
  if c.size == 1
    return
  end
  low = c.rank < ceil(c.size / 2);
  half = c.split(double(! low), c.rank);
  others = [ceil(c.size / 2), 0](2 - low);
  inter = half.createIntercomm(0, c, others, 3);
  assert(inter.isInter() && ! c.isInter());
  assert(inter.remoteSize(), c.size - half.size);
  assert(inter.size, half.size);
  assert(inter.remoteGroup().getSize(), inter.remoteSize());
  messages(inter, low);
  collectives(inter, half, low);
  values(inter, half, low);
  merged = inter.merge(! low);
  assert(merged.size, c.size);
  assert(merged.rank, c.rank);
  merged.free();
  d = inter.dup();
  d.barrier();
  d.free();
  inter.free();
  half.free();
end

function messages(inter, low)
  if inter.rank == 0
    if low
      inter.send({"to the others", 1:3}, 0, 1);
      assert(inter.Recv(zeros(2), 0, 2), magic(2));
      assert(inter.irecv(0, 3).wait(), "back");
    else
      assert(inter.recv(0, 1), {"to the others", 1:3});
      inter.Send(magic(2), 0, 2);
      inter.send("back", 0, 3);
    end
  end
end

% Which root the group of the root names, and what the others do.
function root = root_of(inter, gives, rank)
  root = rank;
  if gives && inter.rank == rank
    root = mpi.ROOT;
  elseif gives
    root = mpi.PROC_NULL;
  end
end

function collectives(inter, half, low)
  remote = inter.remoteSize();
  for gives = [low, ! low]
    % The last of the group that gives: a rank that the other group may have as well.
    rank = half.size - 1;
    if ! gives
      rank = remote - 1;
    end
    root = root_of(inter, gives, rank);
    got = inter.Bcast([5 6] * gives, root);
    if root == mpi.ROOT
      assert(got, [5 6]);
    elseif root == mpi.PROC_NULL
      assert(isempty(got));
    else
      assert(got, [5 6]);
    end
    if gives
      got = inter.Gather([], root, zeros(1, remote));
      assert(isempty(got) || isequal(got, 0:remote - 1));
      assert(isempty(got), root == mpi.PROC_NULL);
      got = inter.Scatter(10 * (1:remote), root, 0);
      assert(isempty(got));
      got = inter.Gatherv([], root, {zeros(1, remote), ones(1, remote)});
      assert(isempty(got) || isequal(got, 0:remote - 1));
      assert(isempty(inter.Scatterv({10 * (1:remote), ones(1, remote)}, root, 0)));
      got = inter.Reduce(0, "+", root);
      assert(isempty(got) || got == sum(1:remote));
    else
      assert(isempty(inter.Gather(inter.rank, root)));
      assert(inter.Scatter([], root, 0), 10 * (inter.rank + 1));
      assert(isempty(inter.Gatherv(inter.rank, root, {})));
      assert(inter.Scatterv([], root, 0), 10 * (inter.rank + 1));
      assert(isempty(inter.Reduce(inter.rank + 1, "+", root)));
    end
  end
  inter.barrier();
  assert(inter.Allgather(inter.rank), 0:remote - 1);
  assert(inter.Allgatherv(inter.rank, {zeros(1, remote), ones(1, remote)}), 0:remote - 1);
  assert(inter.Alltoall(inter.rank * ones(1, remote)), 0:remote - 1);
  assert(inter.Allreduce(inter.rank, "+"), sum(0:remote - 1));
  r = inter.Iallreduce(1, "+");
  assert(r.wait(), remote);
  % Both groups give as many elements as both sizes divide.
  elements = half.size * remote;
  got = inter.ReduceScatterBlock(ones(1, elements), "+");
  assert(got, remote * ones(1, remote));
end

function values(inter, half, low)
  remote = inter.remoteSize();
  for gives = [low, ! low]
    root = root_of(inter, gives, 0);
    got = inter.bcast({"value", gives}, root);
    if root >= 0
      assert(got, {"value", true});
    end
    got = inter.gather({inter.rank}, root);
    if root == mpi.ROOT
      assert(got, num2cell(num2cell(0:remote - 1)));
    else
      assert(isempty(got));
    end
    if gives
      assert(isempty(inter.scatter(num2cell(1:remote), root)));
      got = inter.reduce(0, "+", root);
      assert(isempty(got) || got == sum(1:remote));
    else
      assert(inter.scatter([], root), inter.rank + 1);
      assert(isempty(inter.reduce(inter.rank + 1, "+", root)));
    end
  end
  assert(inter.allgather(inter.rank), num2cell(0:remote - 1));
  assert(inter.alltoall(num2cell(inter.rank * ones(1, remote))), num2cell(0:remote - 1));
  assert(inter.allreduce(inter.rank, "+"), sum(0:remote - 1));
  expect_error("mpi:argument", @() inter.scan(1, "+"));
end
