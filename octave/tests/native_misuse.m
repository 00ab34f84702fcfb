% What cannot be right is an exception that says so, and never a crash: wrong classes, wrong counts, objects that are gone.
function native_misuse(c)
  for wrong = {{}, struct(), sparse(1), @sin, c, mpi.Info(), cell(2)}
    expect_error("mpi:argument", @() c.Send(wrong{1}, c.rank));
    expect_error("mpi:argument", @() c.Recv(wrong{1}, c.rank));
    expect_error("mpi:argument", @() c.Isend(wrong{1}, c.rank));
    expect_error("mpi:argument", @() c.Bcast(wrong{1}, c.rank));
    expect_error("mpi:argument", @() mpi.Buffer(wrong{1}));
  end
  for wrong = {"a", 1.5, [0 0], {}, NaN, Inf, 1e10, 1i, struct()}
    expect_error("mpi:argument", @() c.Send(1, wrong{1}));
    expect_error("mpi:argument", @() c.Send(1, c.rank, wrong{1}));
    expect_error("mpi:argument", @() c.send(1, wrong{1}));
    expect_error("mpi:argument", @() c.Bcast(1, wrong{1}));
    expect_error("mpi:argument", @() c.split(wrong{1}));
  end
  expect_error("mpi:argument", @() c.Send());
  expect_error("mpi:argument", @() c.Send(1));
  expect_error("mpi:argument", @() c.Send(1, c.rank, 0, 0));
  expect_error("mpi:rank", @() c.Send(1, -5));
  expect_error("mpi:tag", @() c.Send(1, c.rank, -5));
  expect_error("mpi:argument", @() c.Recv({1, 2, 3, 4}, c.rank));
  expect_error("mpi:argument", @() too_many(c));
  requests_and_objects(c);
  expect_error("mpi:argument", @() c.compare(5.5));
  expect_error("mpi:argument", @() c.compare({}));
  expect_error("mpi:argument", @() c.create(c));
  expect_error("mpi:argument", @() c.setName(5));
  expect_error("mpi:argument", @() c.dupWithInfo(struct("a", 5)));
  expect_error("mpi:argument", @() c.createCart("a", true));
  expect_error("mpi:argument", @() c.connect(5));
end

function too_many(c)
  [a, b, d] = c.Recv(1, mpi.PROC_NULL);
end

function requests_and_objects(c)
  expect_error("mpi:argument", @() mpi.waitall(5));
  expect_error("mpi:argument", @() mpi.waitall({c}));
  expect_error("mpi:argument", @() mpi.waitall({[]}));
  r = c.Irecv(0, c.rank, 1);
  expect_error("mpi:argument", @() r.wait(5));
  expect_error("mpi:request", @() r.start());
  c.Send(1, c.rank, 1);
  assert(r.wait(), 1);
  r = c.Irecv(0, c.rank, 1);
  expect_error("mpi:request", @() r.pready(0));
  r.cancel();
  r.wait();
  m = c.improbe(c.rank, 1);
  assert(! m);
  c.Send([1 2], c.rank, 1);
  message = c.mprobe(c.rank, 1);
  message.Recv([0 0]);
  expect_error("mpi:argument", @() again(message));
  g = c.getGroup();
  g.free();
  expect_error("mpi:argument", @() c.create(g));
end

% A message is received once; the library says what is wrong with the second time.
function again(message)
  try
    message.Recv([0 0]);
  catch problem
    assert(strncmp(problem.identifier, "mpi:", 4));
    error("mpi:argument", "as expected");
  end
end
