% One-sided communication (chapter 12): every kind of window, every kind of epoch, every access.
function native_windows(c)
  next = mod(c.rank + 1, c.size);
  previous = mod(c.rank - 1, c.size);
  locked(c, next, previous);
  atomics(c);
  fences(c, next, previous);
  pairs(c, next, previous);
  kinds_of_windows(c, next, previous);
  requests(c, next);
  safety(c, next);
end

function locked(c, next, previous)
  w = mpi.Win.allocate(c, reshape(1:6, 2, 3));
  assert(w.buffer.get(), reshape(1:6, 2, 3));
  c.barrier();
  w.lock(next);
  w.put([10 20], next, 5);
  assert(w.get([0 0 0], next, 4), [4 10 20]);
  w.accumulate([1 1], next, 1);
  w.accumulate(5, next, 2, "replace");
  assert(w.getAccumulate([1 2], next, 5, "+"), [10 20]);
  assert(w.getAccumulate(0, next, 1, "no_op"), 2);
  w.flush(next);
  w.flushLocal(next);
  w.unlock(next);
  c.barrier();
  w.lock(c.rank, true, mpi.MODE_NOCHECK);
  assert(w.buffer.get(), [2 3 11; 5 4 22]);
  w.unlock(c.rank);
  c.barrier();
  % By a datatype, which says where in the target.
  T = mpi.Datatype.subarray([2 3], {1, ':'});
  w.lockAll();
  w.put([7 8 9], next, T);
  w.flushAll();
  w.flushLocalAll();
  assert(w.get([0 0 0], next, T), [7 8 9]);
  w.sync();
  w.unlockAll();
  c.barrier();
  assert(w.buffer.get()(1, :), [7 8 9]);
  w.free();
end

function atomics(c)
  w = mpi.Win.allocate(c, int32([0 0]));
  c.barrier();
  w.lockAll();
  first = w.fetchAndOp(int32(1), 0, 1, "+");
  assert(first >= 0 && first < c.size);
  w.flushAll();
  c.barrier();
  assert(w.fetchAndOp(int32(0), 0, 1, "no_op"), int32(c.size));
  old = w.compareAndSwap(int32(c.rank + 1), int32(0), 0, 2);
  winners = c.allreduce(double(old == 0), "+");
  assert(winners, 1);
  w.unlockAll();
  expect_error("mpi:argument", @() w.fetchAndOp(int32([1 2]), 0, 1));
  expect_error("mpi:argument", @() w.compareAndSwap(int32(1), 0, 0, 1));
  expect_error("mpi:argument", @() w.put(1, 0, 0));
  w.free();
end

function fences(c, next, previous)
  w = mpi.Win.allocate(c, zeros(1, 4));
  b = mpi.Buffer([0 0]);
  w.fence(mpi.MODE_NOPRECEDE);
  % The arrays need not stay: what is sent is kept until the epoch ends.
  for k = 1:3
    w.put(c.rank * ones(1, 1) + k, next, k);
  end
  w.accumulate(100, next, 4);
  w.fence();
  assert(w.buffer.get(), [previous + (1:3), 100]);
  w.get(b, next, 2);
  w.fence();
  assert(b.get(), c.rank + [2 3]);
  w.getAccumulate(1, next, 4, "+", mpi.Buffer(0));
  expect_error("mpi:argument", @() w.get([0 0], next, 1));
  expect_error("mpi:argument", @() w.fetchAndOp(1, next, 1, "+"));
  clear b
  w.fence(mpi.MODE_NOSUCCEED);
  assert(w.buffer.get(4), 101);
  w.free();
end

function pairs(c, next, previous)
  w = mpi.Win.allocate(c, 0);
  everyone = c.getGroup();
  to = everyone.incl(next);
  from = everyone.incl(previous);
  for k = 1:2
    w.post(from);
    w.start(to);
    w.put(c.rank + k, next);
    w.complete();
    if k == 1
      w.wait();
    else
      while ! w.test()
      end
    end
    assert(w.buffer.get(), previous + k);
  end
  w.free();
end

function kinds_of_windows(c, next, previous)
  b = mpi.Buffer(int8(1:4));
  w = mpi.Win.create(c, b, struct("no_locks", "false"));
  % The window keeps the memory.
  delete(b);
  w.lock(next);
  assert(w.get(int8([0 0]), next, 3), int8([3 4]));
  w.unlock(next);
  assert(w.getAttr("size"), 4);
  assert(w.getAttr("disp_unit"), 1);
  assert(w.getAttr("create_flavor") > 0 && w.getAttr("model") > 0);
  assert(w.getGroup().getSize(), c.size);
  w.setName("a window");
  assert(w.getName(), "a window");
  w.setInfo(struct("same_size", "true"));
  assert(isa(w.getInfo(), "mpi.Info"));
  w.free();
  w = mpi.Win.create(c, []);
  assert(w.getAttr("size"), 0);
  w.free();
  shared(c, next);
  dynamic(c, next);
end

function shared(c, next)
  w = mpi.Win.allocateShared(c, c.rank * ones(2, 2));
  w.fence();
  there = w.sharedQuery(next, zeros(2, 2));
  assert(there.get(), next * ones(2, 2));
  w.fence();
  there.set(-1, 4);
  w.fence();
  assert(w.buffer.get(), [c.rank, c.rank; c.rank, -1]);
  expect_error("mpi:argument", @() w.sharedQuery(next, zeros(100)));
  w.free();
  expect_error("mpi:argument", @() there.get());
end

% Places in a dynamic window are addresses.
function dynamic(c, next)
  w = mpi.Win.createDynamic(c);
  b = mpi.Buffer(zeros(1, 10));
  w.attach(b);
  w.detach(b);
  w.attach(b);
  places = c.allgather(b.address());
  w.lock(next);
  w.put([1 2 3], next, places{next + 1});
  assert(w.get([0 0 0], next, places{next + 1} + 8), [2 3 0]);
  w.unlock(next);
  c.barrier();
  assert(b.get(1:4), [1 2 3 0]);
  delete(b);
  expect_error("mpi:argument", @() w.attach(zeros(1, 3)));
  w.free();
end

function requests(c, next)
  w = mpi.Win.allocate(c, [1 2 3]);
  c.barrier();
  w.lockAll();
  r = w.rget([0 0], next, 2);
  assert(r.wait(), [2 3]);
  r = w.rput(9, next, 3);
  r.wait();
  w.flushAll();
  c.barrier();
  r = [w.raccumulate(1, next, 1), w.rgetAccumulate(5, next, 2, "replace")];
  assert(r.wait(), {[], 2});
  w.unlockAll();
  c.barrier();
  assert(w.buffer.get(), [2 5 9]);
  w.free();
end

function safety(c, next)
  w = mpi.Win.allocate(c, 1:3);
  b = w.buffer;
  expect_error("mpi:rmaRange", @() in_lock(w, next, @() w.put([1 2], next, 3)));
  expect_error("mpi:rank", @() w.lock(c.size));
  assert(in_lock(w, next, @() w.get([7 7], mpi.PROC_NULL)), [7 7]);
  expect_error("mpi:argument", @() w.put("a", next, "b"));
  w.free();
  expect_error("mpi:argument", @() b.get());
  expect_error("mpi:argument", @() b.set(1, 1));
  expect_error("mpi:argument", @() c.Send(b, next));
  expect_error("mpi:argument", @() w.fence());
  expect_error("mpi:argument", @() w.free());
  expect_error("mpi:argument", @() mpi.Win.allocate(c, {}));
  expect_error("mpi:argument", @() mpi.Win.create(c, 1:3));
end

function varargout = in_lock(w, rank, action)
  w.lock(rank);
  problem = [];
  try
    [varargout{1:nargout}] = action();
  catch problem
  end
  w.unlock(rank);
  if ! isempty(problem)
    error(problem.identifier, "%s", problem.message);
  end
end
