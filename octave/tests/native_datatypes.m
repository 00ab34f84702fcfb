% Datatypes (chapter 5): parts of arrays by index, against the language's own indexing.
function native_datatypes(c)
  by_index(c);
  other_makers(c);
  parts_of_arrays(c);
  packing(c);
  contents();
  refused(c);
end

% What a datatype takes out of an array, and puts into one.
function out = taken(c, A, T, elements)
  r = c.Irecv(repmat(A(1), 1, elements), c.rank, 1);
  c.Send({A, 1, T}, c.rank, 1);
  out = r.wait();
end

function by_index(c)
  A = reshape(1:60, 3, 4, 5);
  cases = {{1:3, 1:4, 1:5}, {2, 3, 4}, {[3 1 2], [4 2], 5}, {1:2, [1 3], 1:2:5}, {3:-1:1, 4:-1:1, 5:-1:1}, {[1 1 2], 2, [5 5]}, ...
           {[], 1, 1}, {[1 3], [1 2 4], [1 3 4]}};
  for k = 1:numel(cases)
    at = cases{k};
    expected = A(at{:});
    for name = {"double", "single", "int8", "uint16", "int64"}
      B = cast(A, name{1});
      T = mpi.Datatype.subarray(size(A), at, name{1});
      assert(isequal(taken(c, B, T, numel(expected)), cast(expected(:)', name{1})), "case %d", k);
      assert(T.getSize(), numel(expected) * mpi.Datatype(name{1}).getSize());
      [lower, extent] = T.getExtent();
      assert([lower, extent], [0, 60 * mpi.Datatype(name{1}).getSize()]);
      T.free();
    end
    if numel(unique(at{1})) == numel(at{1}) && numel(unique(at{3})) == numel(at{3})
      T = mpi.Datatype.subarray(size(A), at);
      into = zeros(size(A));
      r = c.Irecv({into, 1, T}, c.rank, 2);
      c.Send(-expected, c.rank, 2);
      into(at{:}) = -expected;
      assert(r.wait(), into);
      T.free();
    end
  end
  M = magic(6);
  T = mpi.Datatype.subarray([6 6], {':', 2:3});
  assert(taken(c, M, T, 12), M(:, 2:3)(:)');
  T = mpi.Datatype.subarray([6 6], {logical([1 0 0 1 0 0]), ':'});
  assert(taken(c, M, T, 12), M([1 4], :)(:)');
  T = mpi.Datatype.subarray([2 3], {2, ':'}, "complex double");
  Z = complex(reshape(1:6, 2, 3), 1);
  assert(taken(c, Z, T, 3), Z(2, :));
  % Several arrays one after the other.
  T = mpi.Datatype.subarray([2 2], {1, 1:2});
  r = c.Irecv(zeros(1, 4), c.rank, 3);
  c.Send({reshape(1:8, 2, 4), 2, T}, c.rank, 3);
  assert(r.wait(), [1 3 5 7]);
end

function other_makers(c)
  A = 1:12;
  assert(taken(c, A, mpi.Datatype.contiguous(5), 5), 1:5);
  assert(taken(c, A, mpi.Datatype.vector(3, 2, 4), 6), [1 2 5 6 9 10]);
  assert(taken(c, A, mpi.Datatype.hvector(3, 1, 16), 3), [1 3 5]);
  assert(taken(c, A, mpi.Datatype.indexed([2 1 3], [1 5 8]), 6), [1 2 5 8 9 10]);
  assert(taken(c, A, mpi.Datatype.indexed(2, [11 3 7]), 6), [11 12 3 4 7 8]);
  assert(taken(c, A, mpi.Datatype.hindexed([1 2], [8 40]), 3), [2 6 7]);
  assert(taken(c, A, mpi.Datatype.hindexed(1, [88 0]), 2), [12 1]);
  assert(taken(c, int16(A), mpi.Datatype.contiguous(2, "int16"), 2), int16([1 2]));
  assert(taken(c, A, mpi.Datatype.contiguous(2, mpi.Datatype.vector(2, 1, 2)), 4), [1 3 4 6]);
  T = mpi.Datatype.struct({"double", "int32"}, [1 2], [0 8]);
  assert(T.getSize(), 16);
  T = mpi.Datatype.struct(struct("a", [1 2 3], "b", int8(1), "z", 1i));
  assert(T.getSize(), 41);
  T = mpi.Datatype.vector(2, 1, 3);
  U = T.resized(0, 8);
  assert(c.Sendrecv({A, 2, U}, c.rank, 1, zeros(1, 4), c.rank, 1), [1 4 2 5]);
  V = U.dup();
  assert(V.getSize(), 16);
  [lower, extent] = T.getTrueExtent();
  assert([lower, extent], [0 32]);
  T.setName("two of four");
  assert(T.getName(), "two of four");
  assert(mpi.Datatype("int32").getSize(), 4);
  assert(mpi.Datatype("complex single").getSize(), 8);
  assert(mpi.Datatype("byte").getSize(), 1);
  % The rows 1, 3, 5 or 2, 4, 6 of each block cyclic column.
  D = mpi.Datatype.darray(2, 1, [6 2], [mpi.DISTRIBUTE_CYCLIC, mpi.DISTRIBUTE_NONE], ...
                          [mpi.DISTRIBUTE_DFLT_DARG, mpi.DISTRIBUTE_DFLT_DARG], [2 1]);
  assert(taken(c, A, D, 6), [2 4 6 8 10 12]);
  D = mpi.Datatype.darray(2, 1, 6, mpi.DISTRIBUTE_BLOCK, mpi.DISTRIBUTE_DFLT_DARG, 2);
  assert(taken(c, A, D, 3), 4:6);
  R = postrider_call("raw.subarray", "double", [3 4], [2 2], [1 1]);
  assert(taken(c, A, R, 4), [5 6 8 9]);
end

function parts_of_arrays(c)
  n = c.size;
  A = zeros(4, 2 * n);
  A(:, 2 * c.rank + 2) = c.rank + 1;
  column = mpi.Datatype.subarray([4 2], {':', 2});
  got = c.Allgather({A(:, 2 * c.rank + (1:2)), 1, column}, {zeros(4, 2 * n), n, column});
  expected = zeros(4, 2 * n);
  expected(:, 2:2:end) = repmat(1:n, 4, 1);
  assert(got, expected);
end

function packing(c)
  A = reshape(1:12, 3, 4);
  T = mpi.Datatype.subarray([3 4], {2, ':'});
  bytes = [c.pack({A, 1, T}), c.pack(int8(5))];
  assert(class(bytes), "uint8");
  assert(T.packSize(1, c) >= 32);
  [row, next] = c.unpack(bytes, zeros(1, 4));
  assert(row, A(2, :));
  [last, next] = c.unpack(bytes, int8(0), next);
  assert([double(last), next], [5, numel(bytes)]);
  assert(c.unpack(bytes, {zeros(3, 4), 1, T})(2, :), A(2, :));
  bytes = mpi.packExternal([1 2]);
  assert(bytes, [typecast(swapbytes([1 2]), "uint8")]);
  assert(mpi.unpackExternal(bytes, [0 0]), [1 2]);
  assert(mpi.Datatype("double").packExternalSize(3), 24);
  expect_error("mpi:argument", @() c.unpack([1 2], 0));
  expect_error("mpi:argument", @() c.unpack(uint8([1 2]), 0, 3));
  expect_error("mpi:argument", @() c.unpack(uint8([1 2]), 0));
end

function contents()
  T = mpi.Datatype.vector(3, 2, 4);
  [combiner, types, integers, addresses, counts] = T.getContents();
  assert(combiner, "vector");
  assert(types{1}.getSize(), 8);
  assert(sort([integers, counts]), [2 3 4]);
  assert(isempty(addresses));
  [combiner, types] = mpi.Datatype("double").getContents();
  assert(combiner, "named");
  assert(isempty(types));
end

function refused(c)
  expect_error("mpi:argument", @() mpi.Datatype.subarray([3 3], {4, 1}));
  expect_error("mpi:argument", @() mpi.Datatype.subarray([3 3], {0, 1}));
  expect_error("mpi:argument", @() mpi.Datatype.subarray([3 3], {1}));
  expect_error("mpi:argument", @() mpi.Datatype.subarray([3 3], {1, 1}, "cell"));
  expect_error("mpi:argument", @() mpi.Datatype("string"));
  expect_error("mpi:argument", @() mpi.Datatype.indexed([1 2], [1 2 3]));
  expect_error("mpi:argument", @() mpi.Datatype.struct({"double"}, [1 2], [0 8]));
  expect_error("mpi:argument", @() c.Send({1:3, 1, mpi.Datatype.contiguous(4)}, c.rank));
  expect_error("mpi:argument", @() c.Send({1:3, 1, mpi.Datatype.hvector(2, 1, -8)}, c.rank));
  T = mpi.Datatype.contiguous(2);
  T.free();
  expect_error("mpi:argument", @() T.getSize());
  expect_error("mpi:argument", @() T.free());
  expect_error("mpi:argument", @() c.Send({1:2, T}, c.rank));
end
