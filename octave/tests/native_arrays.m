% Messages of arrays (chapter 3): every class, real and complex, every mode of sending, probes.
function native_arrays(c)
  next = mod(c.rank + 1, c.size);
  previous = mod(c.rank - 1, c.size);
  arrays = every_array();
  for k = 1:numel(arrays)
    A = arrays{k};
    r = c.Irecv(A, previous, k);
    c.Send(A, next, k);
    assert(same_value(r.wait(), A), "array %d", k);
    [got, status] = c.Sendrecv(A, next, k, A, previous, k);
    assert(same_value(got, A));
    assert(status.count(kind(A)), numel(A));
    [got, status] = c.SendrecvReplace(A, next, k, previous, k);
    assert(same_value(got, A));
    assert(status.source, previous);
  end
  modes(c, next, previous);
  probes(c, next, previous);
  parts(c, next, previous);
  buffers(c, next, previous);
  large(c, next, previous);
end

function name = kind(A)
  name = class(A);
  if iscomplex(A)
    name = ["complex ", name];
  end
end

function arrays = every_array()
  arrays = {};
  for name = {"double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"}
    arrays = [arrays, {cast(magic(4), name{1}), zeros(0, 3, name{1}), cast(reshape(1:24, 2, 3, 4), name{1}), ones(300, 200, name{1})}];
  end
  nan = typecast(uint64([9221120237041090561, 18444492273895866369]), "double");
  arrays = [arrays, {[nan, -0, Inf, NA], complex([nan(1), -0], [0, nan(2)]), single([1i, NaN]), complex(rand(2, 3), 0), ...
                     complex(zeros(0, 2), 0), complex(rand(200), 1), true(2, 3), false(0, 1), rand(200) > 0.5, "text", ...
                     ["ab"; "cd"], char(0:255), "", 1:1000, eye(5), 5}];
end

function modes(c, next, previous)
  A = rand(50, 3);
  r = {c.Irecv(A, previous, 1), c.Irecv(A, previous, 2), c.Irecv(A, previous, 3), c.Irecv(A, previous, 4)};
  c.barrier();
  c.Rsend(A, next, 1);
  c.Ssend(A, next, 2);
  c.Bsend(A, next, 3);
  mpi.waitall(c.Isend(A, next, 4));
  got = mpi.waitall(r);
  assert(all(cellfun(@(x) isequal(x, A), got)));
  r = {c.Irecv(A, previous, 1), c.Irecv(A, previous, 2), c.Irecv(A, previous, 3)};
  c.barrier();
  got = mpi.waitall(r, c.Irsend(A, next, 1), c.Issend(A, next, 2), c.Ibsend(A, next, 3));
  assert(got, {A, A, A, [], [], []});
  got = mpi.waitall(c.Isendrecv(A, next, 5, zeros(50, 3), previous, 5), c.IsendrecvReplace(A + 1, next, 6, previous, 6));
  assert(got, {A, A + 1});
  % The array that is sent may change at once.
  B = A;
  r = c.Isend(B, next, 7);
  B(:) = 0;
  assert(c.Recv(zeros(50, 3), previous, 7), A);
  r.wait();
end

function probes(c, next, previous)
  assert(! c.iprobe(previous, 77));
  [found, message, status] = c.improbe(previous, 77);
  assert(! found && isempty(message) && isempty(status));
  c.barrier();
  c.Send(int16(1:5), next, 77);
  status = c.probe(previous, 77);
  assert([status.source, status.tag, status.bytes], [previous, 77, 10]);
  assert(status.count("int16") == 5 && status.count("double") == mpi.UNDEFINED);
  [found, status] = c.iprobe(previous, 77);
  assert(found && status.bytes == 10);
  [message, status] = c.mprobe(previous, 77);
  assert(! c.iprobe(previous, 77));
  [got, status] = message.Recv(zeros(1, 5, "int16"));
  assert(got, int16(1:5));
  assert(status.tag, 77);
  c.Send("abc", next, 78);
  do
    [found, message, status] = c.improbe(previous, 78);
  until found
  r = message.Irecv("xyz");
  assert(r.wait(), "abc");
  message = c.mprobe(mpi.PROC_NULL);
  assert(message.Recv([1 2]), [1 2]);
  % Without source and tag, and with '*' for each.
  c.Send(4, next, 8);
  assert(c.Recv(0), 4);
  c.Send(5, next, 8);
  [got, status] = c.Recv(0, '*', '*');
  assert([got, status.source, status.tag], [5, previous, 8]);
end

% Counts and datatypes; what does not arrive stays as it was.
function parts(c, next, previous)
  c.Send([1 2 3], next, 1);
  assert(c.Recv(9 * ones(1, 5), previous, 1), [1 2 3 9 9]);
  c.Send({1:10, 4}, next, 1);
  assert(c.Recv({zeros(1, 6), 5}, previous, 1), [1 2 3 4 0 0]);
  c.Send(uint8(1:11), next, 1);
  assert(c.Recv(uint8(zeros(1, 12)), previous, 1), uint8([1:11, 0]));
  T = mpi.Datatype.vector(3, 1, 2);
  c.Send({1:6, 1, T}, next, 1);
  assert(c.Recv({zeros(1, 5), T}, previous, 1), [1 0 3 0 5]);
  c.Send({typecast([pi, 2], "uint8"), "double"}, next, 1);
  assert(c.Recv([0 0], previous, 1), [pi, 2]);
  T.free();
  assert(c.Recv([7 8], mpi.PROC_NULL), [7 8]);
  c.Send([1 2 3], next, 1);
  expect_error("mpi:truncate", @() c.Recv([0 0], previous, 1));
  expect_error("mpi:argument", @() c.Send({1:3, 4}, next, 1));
  expect_error("mpi:argument", @() c.Send({1:3, -1}, next, 1));
end

function buffers(c, next, previous)
  A = reshape(1:6, 2, 3);
  b = mpi.Buffer(A);
  to = mpi.Buffer(zeros(2, 3));
  assert(b.get(), A);
  assert(b.get([6 1]), [6 1]);
  assert(size(b.get(zeros(0, 1))), [0 1]);
  r = c.Irecv(to, previous, 2);
  c.Send(b, next, 2);
  received = r.wait();
  assert(received.get(), A);
  assert(to.get(), A);
  b.set(0);
  b.set([7 8], [1 6]);
  assert(b.get(), [7 0 0; 0 0 8]);
  expect_error("mpi:argument", @() b.set([1 2 3]));
  expect_error("mpi:argument", @() b.set(single(1)));
  expect_error("mpi:argument", @() b.set(1, 7));
  expect_error("mpi:argument", @() b.get(0));
  expect_error("mpi:argument", @() b.get(1.5));
  for A = every_array()
    b = mpi.Buffer(A{1});
    assert(same_value(b.get(), A{1}));
  end
end

% What is received into is new memory, of any content, and is the receiver's own.
function large(c, next, previous)
  for A = {reshape(1:120000, 40, 50, 60), single(1:1e5), (1:1e5)', complex((1:5e4)', 0)}
    A = A{1};
    like = A;
    like(:) = -1;
    for round = 1:3
      got = c.Sendrecv(A + round, next, 8, like, previous, 8);
      assert(same_value(got, A + round) || iscomplex(A) && isequal(got, A + round));
      assert(class(got), class(A));
      got(:) = 0;
      assert(all(like(:) == -1));
    end
    [got, status] = c.Sendrecv(A(1:10), next, 9, like, previous, 9);
    assert(size(got), size(A));
    assert(got(1:10)(:), A(1:10)(:));
    assert(all(got(11:end) == -1));
  end
  c.send(single(reshape(1:3e5, 100, 30, 100)), next, 10);
  assert(same_value(c.recv(previous, 10), single(reshape(1:3e5, 100, 30, 100))));
  big = c.Allgather((1:4e4)' + c.rank);
  assert(big, (1:4e4)' + (0:c.size - 1));
end
