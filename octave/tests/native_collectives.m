% Collectives of arrays (chapter 6), each blocking, nonblocking and persistent.
function native_collectives(c)
  n = c.size;
  root = n - 1;
  A = c.rank + reshape(1:6, 2, 3);
  all_of = @(f) cat(3, arrayfun(f, 0:n - 1, "UniformOutput", false){:});
  whole = all_of(@(r) r + reshape(1:6, 2, 3));
  barriers(c);
  every_way(c, "Bcast", root + reshape(1:6, 2, 3), {A, root});
  every_way(c, "Allgather", whole, {A}, zeros(2, 3, n));
  every_way(c, "Gather", at(c, root, whole), {A, root}, zeros(2, 3, n));
  parts = reshape(1:6 * n, 2, 3 * n);
  every_way(c, "Scatter", parts(:, 3 * c.rank + (1:3)), {parts, root}, zeros(2, 3));
  every_way(c, "Alltoall", 100 * (0:n - 1) + c.rank, {100 * c.rank + (0:n - 1)}, zeros(1, n));
  varying(c, root);
  vectors_of_types(c);
  reductions(c, root);
  shapes(c);
  in_place(c, root);
  refused(c);
end

% The result at one process, and [] elsewhere.
function value = at(c, root, value)
  if c.rank != root
    value = [];
  end
end

% Blocking, nonblocking, and three times persistent; `like` is what the result is received into, where it can be left out.
function every_way(c, name, expected, arguments, like)
  check(feval(name, c, arguments{:}), expected, name);
  started = ["I", lower(name(1)), name(2:end)];
  r = feval(started, c, arguments{:});
  check(r.wait(), expected, started);
  if nargin > 4
    check(feval(name, c, arguments{:}, like), expected, name);
    arguments{end + 1} = mpi.Buffer(like);
  elseif strcmp(name, "Bcast")
    arguments{1} = mpi.Buffer(arguments{1});
  end
  persistent_way(c, name, expected, arguments);
end

function persistent_way(c, name, expected, arguments)
  r = feval([name, "Init"], c, arguments{:}, struct("hint", "none"));
  for k = 1:3
    r.start();
    got = r.wait();
    if isa(got, "mpi.Buffer")
      got = got.get();
    end
    check(got, expected, [name, "Init"]);
  end
end

function check(got, expected, name)
  if ! isequal(size(got), size(expected)) || any(abs(double(got(:)) - double(expected(:))) > 1e-9) || ! strcmp(class(got), class(expected))
    error("%s gave %s where %s was expected", name, disp(got), disp(expected));
  end
end

function barriers(c)
  c.barrier();
  r = c.ibarrier();
  assert(isempty(r.wait()));
  r = c.barrierInit();
  for k = 1:2
    r.start();
    r.wait();
  end
end

% Process r has r + 1 elements, which lie two elements apart at their receiver.
function varying(c, root)
  n = c.size;
  counts = 1:n;
  starts = [0, cumsum(counts + 1)(1:end - 1)];
  length = sum(counts + 1);
  mine = int32(100 * c.rank + (0:c.rank));
  expected = -ones(1, length, "int32");
  for r = 0:n - 1
    expected(starts(r + 1) + (1:r + 1)) = 100 * r + (0:r);
  end
  like = -ones(1, length, "int32");
  vary(c, "Gatherv", at(c, root, expected), {mine, root, {like, counts, starts}});
  vary(c, "Allgatherv", expected, {mine, {like, counts, starts}});
  vary(c, "Scatterv", mine, {{expected, counts, starts}, root, zeros(1, c.rank + 1, "int32")});
  % What one has for another is (rank of the sender, rank of the receiver), as often as the receiver's rank + 1 says.
  out = cell2mat(arrayfun(@(r) repmat(int32(10 * c.rank + r), 1, r + 1), 0:n - 1, "UniformOutput", false));
  in = cell2mat(arrayfun(@(r) repmat(int32(10 * r + c.rank), 1, c.rank + 1), 0:n - 1, "UniformOutput", false));
  vary(c, "Alltoallv", in, {{out, counts}, {zeros(size(in), "int32"), repmat(c.rank + 1, 1, n)}});
  assert(c.Allgatherv(mine, {zeros(1, sum(counts), "int32"), counts})(1), int32(0));
end

function vary(c, name, expected, arguments)
  check(feval(name, c, arguments{:}), expected, name);
  started = ["I", lower(name(1)), name(2:end)];
  r = feval(started, c, arguments{:});
  check(r.wait(), expected, started);
  last = arguments{end};
  if iscell(last)
    last{1} = mpi.Buffer(last{1});
  else
    last = mpi.Buffer(last);
  end
  arguments{end} = last;
  persistent_way(c, name, expected, arguments);
end

function vectors_of_types(c)
  n = c.size;
  % Each column goes to one process, who lays it as a row.
  row = mpi.Datatype.vector(2, 1, n);
  types = repmat({mpi.Datatype("double")}, 1, n);
  rows = repmat({row}, 1, n);
  out = 10 * c.rank + reshape(1:2 * n, 2, n);
  in = zeros(n, 2);
  for r = 0:n - 1
    in(r + 1, :) = 10 * r + reshape(1:2 * n, 2, n)(:, c.rank + 1)';
  end
  sent = {out, repmat(2, 1, n), 16 * (0:n - 1), types};
  vary(c, "Alltoallw", in, {sent, {zeros(n, 2), ones(1, n), 8 * (0:n - 1), rows}});
  vary(c, "Alltoallw", in, {sent, {zeros(n, 2), ones(1, n), 8 * (0:n - 1), rows}});
  % A datatype behind the displacements, which count its extent.
  T = mpi.Datatype.subarray([2, 1], {1, 1});
  got = c.Allgatherv(c.rank + 5, {zeros(2, n), ones(1, n), 0:n - 1, T});
  check(got, [5 + (0:n - 1); zeros(1, n)], "Allgatherv");
end

function reductions(c, root)
  n = c.size;
  A = (c.rank + 1) * [1 2; 3 4];
  total = sum(1:n) * [1 2; 3 4];
  before = sum(1:c.rank) * [1 2; 3 4];
  every_way(c, "Allreduce", total, {A, "+"}, zeros(2));
  every_way(c, "Reduce", at(c, root, total), {A, "+", root}, zeros(2));
  every_way(c, "Scan", before + A, {A, "sum"}, zeros(2));
  every_way(c, "Exscan", before, {A, "+"}, zeros(2));
  counts = 1:n;
  vector = (c.rank + 1) * (1:sum(counts));
  first = sum(1:c.rank);
  mine = sum(1:n) * (first + (1:c.rank + 1));
  vary_reduction(c, "ReduceScatter", mine, {vector, counts, "+"}, zeros(1, c.rank + 1));
  every_way(c, "ReduceScatterBlock", sum(1:n) * (2 * c.rank + (1:2)), {(c.rank + 1) * (1:2 * n), "+"}, zeros(1, 2));
  check(c.Allreduce(int8(100), "max"), int8(100), "Allreduce");
  check(c.Allreduce(uint8(c.rank), mpi.Op("min")), uint8(0), "Allreduce");
  check(c.Allreduce([true false], "or"), [true false], "Allreduce");
  check(mpi.reduceLocal([1 5 3], [4 2 6], "max"), [4 5 6], "reduceLocal");
  check(mpi.reduceLocal(1, 2), 3, "reduceLocal");
  assert(mpi.Op("max").isCommutative());
end

function vary_reduction(c, name, expected, arguments, like)
  check(feval(name, c, arguments{:}, like), expected, name);
  r = feval(["I", lower(name(1)), name(2:end)], c, arguments{:}, like);
  check(r.wait(), expected, name);
  persistent_way(c, name, expected, [arguments, {mpi.Buffer(like)}]);
end

function shapes(c)
  n = c.size;
  assert(c.Allgather(c.rank), 0:n - 1);
  assert(size(c.Allgather(zeros(3, 1))), [3, n]);
  assert(size(c.Allgather(zeros(0, 3))), [0, 3, n](1:2 + (n > 1)));
  assert(c.Allgather("ab"), reshape(repmat("ab", 1, n), [1, 2, n]));
  assert(c.Allgather(complex(c.rank, 1)), (0:n - 1) + 1i);
  assert(c.Scatter(single(reshape(1:3 * n, 3, n)), 0), single(3 * c.rank + (1:3)'));
  assert(c.Bcast(zeros(0, 4), 0), zeros(0, 4));
  big = c.Allgather(repmat(c.rank, 100, 100));
  assert(squeeze(big(100, 100, :))', squeeze(0:n - 1));
end

function in_place(c, root)
  n = c.size;
  b = mpi.Buffer([c.rank, 1]);
  c.Allreduce(mpi.IN_PLACE, "+", b);
  assert(b.get(), [sum(0:n - 1), n]);
  b = mpi.Buffer(zeros(1, n));
  b.set(c.rank, c.rank + 1);
  c.Allgather(mpi.IN_PLACE, b);
  assert(b.get(), 0:n - 1);
  b = mpi.Buffer(c.rank * ones(1, n));
  c.Alltoall(mpi.IN_PLACE, b);
  assert(b.get(), 0:n - 1);
  b = mpi.Buffer(1:n);
  c.ReduceScatterBlock(mpi.IN_PLACE, "+", b);
  assert(b.get(1), n * (c.rank + 1));
  b = mpi.Buffer(1:n);
  c.ReduceScatter(mpi.IN_PLACE, ones(1, n), "+", b);
  assert(b.get(1), n * (c.rank + 1));
  b = mpi.Buffer(c.rank * ones(1, n));
  if c.rank == root
    c.Gather(mpi.IN_PLACE, root, b);
    assert(b.get(), 0:n - 1);
    c.Scatter(1:n, root, mpi.IN_PLACE);
  else
    c.Gather(c.rank, root);
    assert(c.Scatter([], root, 0), c.rank + 1);
  end
  % What is made where a buffer is sent is an array.
  b = mpi.Buffer([1 2]);
  assert(c.Allreduce(b, "+"), n * [1 2]);
  assert(size(c.Allgather(b)), [1, 2, n](1:2 + (n > 1)));
  assert(b.get(), [1 2]);
  expect_error("mpi:argument", @() c.Allreduce(mpi.IN_PLACE, "+"));
  r = c.Iallreduce(mpi.IN_PLACE, "+", mpi.Buffer(1));
  assert(r.wait().get(), n);
end

% What could not be right is an error before anything is sent.
function refused(c)
  n = c.size;
  expect_error("mpi:argument", @() c.Allreduce([1 2], "+", 0));
  expect_error("mpi:argument", @() c.Allreduce([1 2], "+", single([0 0])));
  expect_error("mpi:argument", @() c.Allreduce(1, "nothing"));
  expect_error("mpi:argument", @() c.Allreduce(1, @plus));
  expect_error("mpi:argument", @() c.Allreduce(sparse(1)));
  expect_error("mpi:argument", @() c.Bcast({}, 0));
  expect_error("mpi:argument", @() c.Bcast(struct(), 0));
  expect_error("mpi:argument", @() c.ReduceScatter(1:n, 2 * ones(1, n), "+", 0));
  expect_error("mpi:argument", @() c.ReduceScatter(1:n, 1:n + 1, "+", 0));
  expect_error("mpi:argument", @() c.Allgatherv(1, {zeros(1, n), ones(1, n + 1)}));
  expect_error("mpi:argument", @() c.Allgatherv(1, {zeros(1, n), [ones(1, n - 1), 2]}));
  expect_error("mpi:argument", @() c.Allgatherv(1, {zeros(1, n), ones(1, n), (1:n)}));
  expect_error("mpi:argument", @() c.Allgatherv(1, zeros(1, n)));
  expect_error("mpi:argument", @() c.Alltoallw(zeros(1, n), zeros(1, n)));
  expect_error("mpi:argument", @() c.Alltoallw({zeros(1, n), ones(1, n), 8 * (1:n), repmat({"double"}, 1, n)}, zeros(1, n)));
  if n > 1
    expect_error("mpi:argument", @() c.Alltoall(zeros(1, n + 1)));
    expect_error("mpi:argument", @() c.Allgather(1, zeros(1, n + 1)));
    expect_error("mpi:argument", @() c.ReduceScatterBlock(1:n + 1, "+"));
  end
  expect_error("mpi:root", @() c.Bcast(1, n));
  expect_error("mpi:argument", @() c.Bcast(1, 0, 3));
  expect_error("mpi:argument", @() c.Allgather());
end
