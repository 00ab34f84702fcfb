% Values of any kind: every value by every function in lower case, bit by bit.
function native_values(c)
  % With more ranks fewer of them, since each is sent by each.
  values = every_value()(1:max(1, 2 * c.size - 3):end);
  next = mod(c.rank + 1, c.size);
  previous = mod(c.rank - 1, c.size);
  around_the_ring(c, values, next, previous);
  by_collectives(c, values);
  in_order(c, next, previous);
  matching(c, next, previous);
  long_values(c, next, previous);
  from_itself(c);
end

function around_the_ring(c, values, next, previous)
  for k = 1:numel(values)
    c.send(values{k}, next, k);
    got = c.recv(previous, k);
    same(got, values{k}, "send", k);
    [got, status] = c.sendrecv(values{k}, next, k, previous, k);
    same(got, values{k}, "sendrecv", k);
    assert([status.source, status.tag, status.cancelled], [previous, k, 0]);
  end
  requests = {};
  for k = 1:numel(values)
    requests{end + 1} = c.irecv(previous, k);
    requests{end + 1} = c.isend(values{k}, next, k);
  end
  got = mpi.waitall(requests);
  for k = 1:numel(values)
    same(got{2 * k - 1}, values{k}, "irecv", k);
    assert(isempty(got{2 * k}));
  end
end

function by_collectives(c, values)
  root = c.size - 1;
  for k = 1:numel(values)
    mine = values{mod(k + c.rank, numel(values)) + 1};
    expected = arrayfun(@(rank) values{mod(k + rank, numel(values)) + 1}, 0:c.size - 1, "UniformOutput", false);
    if c.rank == root
      same(c.bcast(values{k}, root), values{k}, "bcast", k);
      same(c.gather(mine, root), expected, "gather", k);
      same(c.scatter(expected, root), mine, "scatter", k);
    else
      same(c.bcast([], root), values{k}, "bcast", k);
      assert(isempty(c.gather(mine, root)));
      same(c.scatter([], root), mine, "scatter", k);
    end
    same(c.allgather(mine), expected, "allgather", k);
  end
  % What process i gives to process j.
  given = @(i, j) values{mod(7 * i + j, numel(values)) + 1};
  out = arrayfun(@(j) given(c.rank, j), 0:c.size - 1, "UniformOutput", false);
  in = arrayfun(@(i) given(i, c.rank), 0:c.size - 1, "UniformOutput", false);
  same(c.alltoall(out), in, "alltoall", 0);
end

function same(got, expected, name, k)
  if ! same_value(got, expected)
    error("value %d, a %s, came back changed by %s", k, class(expected), name);
  end
end

% Messages of one sender do not overtake each other, and requests match in the order in which they were made.
function in_order(c, next, previous)
  for k = 1:20
    c.send(k, next, 3);
  end
  first = c.irecv(previous, 3);
  second = c.irecv(previous, 3);
  assert(c.recv(previous, 3), 3);
  [done, value] = second.test();
  assert(done && value == 2);
  assert(first.wait(), 1);
  assert(isempty(first.wait()));
  for k = 4:20
    assert(c.recv(previous, '*'), k);
  end
  r = [c.irecv(previous, 1), c.irecv(previous, 2)];
  assert(r.count(), 2);
  c.send("two", next, 2);
  c.send("one", next, 1);
  assert(r.wait(), {"one", "two"});
end

function matching(c, next, previous)
  r = c.irecv(previous, 9);
  assert(! r.test());
  c.barrier();
  c.send({1, "a"}, next, 9);
  do
    [done, status] = r.getStatus();
  until done
  do
    [done, value, status] = r.test();
  until done
  assert(value, {1, "a"});
  assert(status.source == previous && status.tag == 9 && status.error == 0);
  cancelled = c.irecv(previous, 10);
  cancelled.cancel();
  [value, status] = cancelled.wait();
  assert(isempty(value) && status.cancelled);
  [value, status] = c.recv(mpi.PROC_NULL);
  assert(isempty(value) && status.source == mpi.PROC_NULL);
  c.send(1, mpi.PROC_NULL);
  expect_error("mpi:rank", @() c.send(1, c.size));
  expect_error("mpi:rank", @() c.recv(c.size));
  expect_error("mpi:argument", @() c.send(1, 0, -5));
  expect_error("mpi:argument", @() c.send(1));
  expect_error("mpi:argument", @() c.scatter({}, c.rank));
  expect_error("mpi:argument", @() c.alltoall(cell(1, c.size + 1)));
  try
    c.send(c, next, 1);
    error("a communicator was sent");
  catch problem
    assert(isempty(strfind(problem.message, "was sent")));
  end
end

function long_values(c, next, previous)
  value = {rand(500), struct("t", repmat("long ", 1, 40000)), c.rank};
  r = c.isend(value, next, 5);
  got = c.recv(previous, 5);
  assert(got{3}, previous);
  assert(got(2), value(2));
  assert(isempty(r.wait()));
  got = c.bcast(value, 0);
  assert(got{3}, 0);
end

% What this process would have to send itself does not come while it waits, and nothing is lost by the error.
function from_itself(c)
  s = mpi.self;
  first = s.irecv(0, 5);
  second = s.irecv(0, 5);
  expect_error("mpi:other", @() first.wait());
  expect_error("mpi:other", @() s.recv(0, 5));
  s.send("one", 0, 5);
  expect_error("mpi:other", @() second.wait());
  assert(first.wait(), "one");
  s.send("two", 0, 5);
  assert(second.wait(), "two");
end
