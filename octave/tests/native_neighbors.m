% Collectives on the neighbourhoods of topologies (section 8.6), each blocking, nonblocking and persistent.
function native_neighbors(c)
  ring = c.createCart(c.size, true);
  left = mod(c.rank - 1, c.size);
  right = mod(c.rank + 1, c.size);
  me = c.rank;
  every_way(ring, "NeighborAllgather", [left right], {me}, [0 0]);
  every_way(ring, "NeighborAllgatherv", [left 0 right], {me, {[0 0 0], [1 1], [0 2]}});
  % To the left its own rank, to the right its own rank and 100.
  every_way(ring, "NeighborAlltoall", [left + 100, right], {[me, me + 100]}, [0 0]);
  every_way(ring, "NeighborAlltoallv", [left + 100, right], {{[me, me + 100], [1 1]}, {[0 0], [1 1]}});
  types = {"double", "double"};
  every_way(ring, "NeighborAlltoallw", [left + 100, right], ...
            {{[me, me + 100], [1 1], [0 8], types}, {[0 0], [1 1], [0 8], types}});
  ends(c);
  graphs(c);
  values_of_neighbors(c);
  expect_error("mpi:argument", @() ring.NeighborAlltoall(1:3, [0 0]));
  expect_error("mpi:argument", @() ring.NeighborAllgather(1, 0));
  expect_error("mpi:argument", @() ring.NeighborAlltoallv({[1 2], [1 1 1]}, {[0 0], [1 1]}));
  expect_error("mpi:topology", @() c.NeighborAllgather(1, []));
  ring.free();
end

function every_way(c, name, expected, arguments, like)
  started = ["I", lower(name(1)), name(2:end)];
  if nargin > 4
    arguments{end + 1} = like;
  end
  assert(feval(name, c, arguments{:}), expected);
  r = feval(started, c, arguments{:});
  assert(r.wait(), expected);
  if iscell(arguments{end})
    arguments{end}{1} = mpi.Buffer(arguments{end}{1});
  else
    arguments{end} = mpi.Buffer(arguments{end});
  end
  r = feval([name, "Init"], c, arguments{:});
  for k = 1:2
    r.start();
    assert(r.wait().get(), expected);
  end
end

% At the ends of a line there is no neighbour, and what would come from one stays as it was.
function ends(c)
  line = c.createCart(c.size, false);
  expected = [c.rank - 1, c.rank + 1];
  if c.rank == 0
    expected(1) = -7;
  end
  if c.rank == c.size - 1
    expected(2) = -7;
  end
  assert(line.NeighborAllgather(c.rank, [-7 -7]), expected);
  r = line.IneighborAllgather(c.rank, [-7 -7]);
  assert(r.wait(), expected);
end

function graphs(c)
  n = c.size;
  % Everyone hears from all that come before, and tells all that come after.
  d = c.createDistGraphAdjacent(0:c.rank - 1, c.rank + 1:n - 1);
  assert(d.NeighborAllgather(c.rank, zeros(1, c.rank)), 0:c.rank - 1);
  assert(d.NeighborAlltoall(10 * c.rank + (c.rank + 1:n - 1), zeros(1, c.rank)), 10 * (0:c.rank - 1) + c.rank);
  % A star around rank 0.
  g = c.createGraph([n - 1, n - 1 + (1:n - 1)], [1:n - 1, zeros(1, n - 1)]);
  if g.rank == 0
    assert(g.NeighborAllgather(0, zeros(1, n - 1)), 1:n - 1);
  else
    assert(g.NeighborAllgather(g.rank, 5), 0);
  end
end

function values_of_neighbors(c)
  line = c.createCart(c.size, false);
  neighbors = {c.rank - 1, c.rank + 1};
  wanted = cellfun(@(rank) struct("of", rank, "matrix", sparse(rank)), neighbors, "UniformOutput", false);
  wanted([c.rank == 0, c.rank == c.size - 1]) = {[]};
  assert(line.neighborAllgather(struct("of", c.rank, "matrix", sparse(c.rank))), wanted);
  to = {sprintf("from %d to the left", c.rank), {c.rank, "to the right", ones(300)}};
  wanted = {{c.rank - 1, "to the right", ones(300)}, sprintf("from %d to the left", c.rank + 1)};
  wanted([c.rank == 0, c.rank == c.size - 1]) = {[]};
  assert(line.neighborAlltoall(to), wanted);
  expect_error("mpi:argument", @() line.neighborAlltoall({1}));
  expect_error("mpi:argument", @() line.neighborAllgather());
  expect_error("mpi:topology", @() c.neighborAllgather(1));
  expect_error("mpi:topology", @() c.neighborAlltoall({1}));
  d = c.createDistGraphAdjacent(0:c.rank - 1, c.rank + 1:c.size - 1);
  assert(d.neighborAllgather({c.rank}), num2cell(num2cell(0:c.rank - 1)));
  assert(d.neighborAlltoall(num2cell("a" + (c.rank + 1:c.size - 1))), num2cell(repmat("a" + c.rank, 1, c.rank)));
end
