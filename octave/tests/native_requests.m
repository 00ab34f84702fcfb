% Nonblocking and persistent operations (section 3.7): completion in every way, requests that nobody waits for, buffers that are deleted.
function native_requests(c)
  next = mod(c.rank + 1, c.size);
  previous = mod(c.rank - 1, c.size);
  completion(c, next, previous);
  persistent_requests(c, next, previous);
  life(c, next, previous);
end

function completion(c, next, previous)
  r = {c.Irecv(0, previous, 1), c.Irecv(0, previous, 2), c.irecv(previous, 3)};
  [done, values] = mpi.testall(r);
  assert(! done && isempty(values));
  [index, value, status] = mpi.testany(r);
  assert(isempty(index) && isempty(value) && isempty(status));
  [indices, values, statuses] = mpi.testsome(r);
  assert(isempty(indices) && isempty(values) && isempty(statuses));
  c.barrier();
  c.Send(20, next, 2);
  [index, value, status] = mpi.waitany(r);
  assert([index, value, status.tag], [2, 20, 2]);
  c.barrier();
  c.Send(10, next, 1);
  c.send(30, next, 3);
  seen = [];
  while numel(seen) < 2
    [indices, values, statuses] = mpi.waitsome(r);
    for k = 1:numel(indices)
      assert(values{k}, 10 * indices(k));
      assert(statuses{k}.tag, indices(k));
    end
    seen = [seen, indices];
  end
  assert(sort(seen), [1 3]);
  % All have been taken.
  assert(isempty(mpi.waitany(r)));
  assert(isempty(mpi.waitsome(r)));
  [done, values, statuses] = mpi.testall(r);
  assert(done);
  assert(values, {[], [], []});
  assert(statuses{1}.tag, 1);
  assert(isempty(mpi.waitall()));
  % One object for several, with empty ones left out.
  r = [c.Irecv([0 0], previous, 4), [], c.Isend([1 2], next, 4)];
  assert(r.count(), 2);
  r = [r; c.Isend(5, next, 5)];
  [values, statuses] = r.wait();
  assert(values, {[1 2], [], []});
  assert(statuses{1}.bytes, 16);
  assert(c.Recv(0, previous, 5), 5);
  % A receive that is cancelled.
  r = c.Irecv(0, previous, 99);
  [done, status] = r.getStatus();
  assert(! done && isempty(status));
  r.cancel();
  [value, status] = r.wait();
  assert(status.cancelled);
  % Done and taken by test.
  r = c.Irecv(0, previous, 6);
  c.Send(6, next, 6);
  do
    [done, value, status] = r.test();
  until done
  assert([value, status.bytes], [6, 8]);
  [done, status] = r.getStatus();
  assert(done && status.bytes == 8);
  % An error of a receive is the exception of its wait.
  r = c.Irecv(0, previous, 7);
  c.Send([1 2 3], next, 7);
  expect_error("mpi:truncate", @() r.wait());
end

function persistent_requests(c, next, previous)
  out = mpi.Buffer([0 0 0]);
  in = mpi.Buffer([0 0 0]);
  for name = {"SendInit", "SsendInit", "RsendInit", "BsendInit"}
    receive = c.RecvInit(in, previous, 1);
    send = feval(name{1}, c, out, next, 1);
    assert(isempty(mpi.waitany({send, receive})));
    for k = 1:3
      out.set([k c.rank k]);
      receive.start();
      c.barrier();
      send.start();
      got = receive.wait();
      send.wait();
      assert(got.get(), [k previous k]);
      assert(in.get(), [k previous k]);
    end
    mpi.startall(receive);
    c.barrier();
    mpi.startall(send);
    indices = [];
    while numel(indices) < 2
      indices(end + 1) = mpi.waitany({send, receive});
    end
    assert(sort(indices), [1 2]);
    assert(isempty(mpi.waitany({send, receive})));
  end
  % An array that is sent again and again is that of the beginning.
  send = c.SendInit([1 2 3], next, 2);
  send.start();
  assert(c.Recv([0 0 0], previous, 2), [1 2 3]);
  send.wait();
  expect_error("mpi:argument", @() c.RecvInit([0 0 0], previous, 1));
  expect_error("mpi:argument", @() c.BcastInit([0 0 0], 0));
end

function life(c, next, previous)
  % Dropped while the operation goes on: the arrays stay until it is over.
  for k = 1:50
    c.Isend(k * ones(1000, 1), next, 1);
    c.Irecv(zeros(1000, 1), previous, 1);
  end
  c.barrier();
  % The request keeps the memory of a buffer that is deleted.
  b = mpi.Buffer(zeros(1, 1000));
  r = c.RecvInit(b, previous, 2);
  delete(b);
  clear b
  for k = 1:3
    r.start();
    c.Send(k * ones(1, 1000), next, 2);
    r.wait();
  end
  clear r
  b = mpi.Buffer(zeros(1, 1000));
  r = c.Irecv(b, previous, 3);
  clear b
  c.Send(1:1000, next, 3);
  b = r.wait();
  assert(b.get(), 1:1000);
  delete(b);
  expect_error("mpi:argument", @() b.get());
  expect_error("mpi:argument", @() c.Send(b, next));
  delete(b);
  % A list holds its requests, and a request that is deleted is over for good.
  r = c.Irecv([0 0], previous, 4);
  list = [r, c.Irecv([0 0], previous, 5)];
  delete(r);
  expect_error("mpi:argument", @() r.wait());
  clear r
  c.Send([1 2], next, 4);
  c.Send([3 4], next, 5);
  assert(list.wait(), {[1 2], [3 4]});
  % A persistent request that is dropped while it is active.
  r = c.SendInit(7 * ones(1, 100), next, 6);
  r.start();
  clear r
  assert(c.Recv(zeros(1, 100), previous, 6), 7 * ones(1, 100));
  % Requests for values of a communicator that is freed.
  d = c.dup();
  r = d.irecv(previous, 1);
  d.free();
  [value, status] = r.wait();
  assert(isempty(value) && status.cancelled);
end
