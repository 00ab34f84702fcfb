% Files (chapter 14): views by index, every way of reading and writing.
function native_files(c)
  name = "";
  if c.rank == 0
    name = tempname();
  end
  name = c.bcast(name, 0);
  explicit_offsets(c, name);
  views(c, name);
  individual(c, name);
  shared_pointer(c, name);
  nonblocking(c, name);
  split_collectives(c, name);
  inquiry(c, name);
  refused(c, name);
end

function explicit_offsets(c, name)
  f = mpi.File.open(c, name, "create|rdwr");
  A = c.rank + reshape(1:6, 2, 3);
  status = f.writeAtAll(48 * c.rank, A);
  assert(status.count("double"), 6);
  f.sync();
  c.barrier();
  there = mod(c.rank + 1, c.size);
  [B, status] = f.readAt(48 * there, zeros(2, 3));
  assert(B, there + reshape(1:6, 2, 3));
  assert(status.bytes, 48);
  assert(f.readAtAll(48 * c.rank, zeros(2, 3)), A);
  % Behind the end of the file there is nothing.
  [B, status] = f.readAt(48 * c.size - 8, [-1 -2]);
  assert(B(2), -2);
  assert(status.count("double"), 1);
  c.barrier();
  status = f.writeAt(48 * c.rank, int8([1 2]));
  assert(status.bytes, 2);
  assert(f.readAt(48 * c.rank, int8([0 0])), int8([1 2]));
  f.close();
  expect_error("mpi:argument", @() f.getSize());
  c.barrier();
end

% The rows of a matrix are dealt out like cards.
function views(c, name)
  n = c.size;
  M = reshape(1:12 * n, 3 * n, 4);
  rows = c.rank + 1:n:3 * n;
  f = mpi.File.open(c, name, "w");
  T = mpi.Datatype.subarray(size(M), {rows, ':'});
  f.setView(16, "double", T);
  f.writeAll(M(rows, :));
  f.close();
  f = mpi.File.open(c, name, "r");
  f.setView(16, mpi.Datatype("double"), mpi.Datatype("double"), "native", struct());
  assert(f.readAll(zeros(3 * n, 4)), M);
  [offset, etype, filetype, representation] = f.getView();
  assert(offset, 16);
  assert(etype.getSize(), 8);
  assert(representation, "native");
  f.setView(16, "double", T);
  assert(f.readAtAll(0, zeros(3, 4)), M(rows, :));
  assert(f.getByteOffset(0), 16 + 8 * c.rank);
  assert(f.getTypeExtent("int32"), 4);
  f.close();
  T.free();
  % external32 has the other order of bytes.
  f = mpi.File.open(c, name, "w");
  f.setView(0, "double", "double", "external32");
  f.writeAtAll(c.rank, pi);
  f.close();
  f = mpi.File.open(c, name);
  assert(f.readAt(8 * c.rank, uint8(zeros(1, 8))), typecast(swapbytes(pi), "uint8"));
  f.close();
end

function individual(c, name)
  f = mpi.File.open(c, name, "create|rdwr");
  f.setSize(0);
  f.setView(100 * c.rank, "byte", "byte");
  f.write(int32([1 2 3]));
  f.write("text");
  assert(f.getPosition(), 16);
  f.seek(4);
  assert(f.read(int32([0 0])), int32([2 3]));
  f.seek(-4, "end");
  f.seek(12, "set");
  f.seek(0, "cur");
  assert(f.read("    "), "text");
  f.seek(0);
  assert(f.readAll(int32(0)), int32(1));
  expect_error("mpi:argument", @() f.seek(0, "middle"));
  T = mpi.Datatype.vector(2, 1, 2, "int32");
  f.seek(0);
  assert(f.read({int32([9 9 9]), T}), int32([1 9 2]));
  f.close();
end

function shared_pointer(c, name)
  n = c.size;
  f = mpi.File.open(c, name, "create|rdwr");
  f.setSize(0);
  f.setView(0, "double", "double");
  status = f.writeOrdered(c.rank * ones(1, c.rank + 1));
  f.seekShared(0);
  expected = c.rank * ones(1, c.rank + 1);
  assert(f.readOrdered(zeros(1, c.rank + 1)), expected);
  assert(f.getPositionShared(), sum(1:n));
  c.barrier();
  f.writeShared(7);
  c.barrier();
  f.seekShared(sum(1:n));
  assert(f.readShared(0), 7);
  c.barrier();
  f.iwriteShared(8).wait();
  c.barrier();
  f.seekShared(sum(1:n) + n);
  r = f.ireadShared(0);
  assert(r.wait(), 8);
  f.close();
end

function nonblocking(c, name)
  f = mpi.File.open(c, name, "create|rdwr");
  f.setView(80 * c.rank, "double", "double");
  [~, status] = f.iwriteAt(0, [1 2]).wait();
  assert(status.bytes, 16);
  mpi.waitall(f.iwriteAtAll(2, [3 4]));
  mpi.waitall(f.iwrite([5 6]), f.iwriteAll([7 8]));
  f.seek(0);
  got = mpi.waitall(f.ireadAt(2, [0 0]), f.ireadAtAll(2, [0 0]));
  assert(got, {[7 8], [7 8]});
  first = f.iread([0 0]).wait();
  second = f.ireadAll([0 0]).wait();
  assert([first, second], [5 6 7 8]);
  b = mpi.Buffer([0 0]);
  r = f.ireadAt(2, b);
  clear b
  assert(r.wait().get(), [7 8]);
  f.close();
end

function split_collectives(c, name)
  f = mpi.File.open(c, name, "create|rdwr");
  f.setView(80 * c.rank, "double", "double");
  out = mpi.Buffer([1 2]);
  in = mpi.Buffer([0 0]);
  f.writeAtAllBegin(0, out);
  status = f.writeAtAllEnd(out);
  assert(status.bytes, 16);
  f.readAtAllBegin(0, in);
  f.readAtAllEnd(in);
  assert(in.get(), [1 2]);
  out.set([3 4]);
  f.writeAllBegin(out);
  f.writeAllEnd(out);
  f.seek(0);
  f.readAllBegin(in);
  f.readAllEnd(in);
  assert(in.get(), [3 4]);
  f.setView(0, "double", "double");
  out.set([c.rank, 5]);
  f.writeOrderedBegin(out);
  f.writeOrderedEnd(out);
  f.seekShared(0);
  f.readOrderedBegin(in);
  f.readOrderedEnd(in);
  assert(in.get(), [c.rank, 5]);
  expect_error("mpi:argument", @() f.readAllBegin([0 0]));
  f.close();
end

function inquiry(c, name)
  f = mpi.File.open(c, name, "rdwr", struct("access_style", "random"));
  f.setSize(1000);
  assert(f.getSize(), 1000);
  f.preallocate(2000);
  assert(f.getSize(), 2000);
  assert(f.getGroup().getSize(), c.size);
  assert(f.getAmode() > 0);
  assert(isa(f.getInfo(), "mpi.Info"));
  f.setInfo(struct("access_style", "sequential"));
  f.setAtomicity(true);
  assert(f.getAtomicity());
  f.close();
  c.barrier();
  if c.rank == 0
    mpi.deleteFile(name);
    expect_error("mpi:noSuchFile", @() mpi.File.remove(name));
  end
  c.barrier();
end

function refused(c, name)
  expect_error("mpi:noSuchFile", @() mpi.File.open(c, name, "rdonly"));
  expect_error("mpi:amode", @() mpi.File.open(c, name, "read"));
  expect_error("mpi:argument", @() mpi.File.open(c, 5, "r"));
  f = mpi.File.open(c, name, "create|rdwr|delete_on_close");
  expect_error("mpi:argument", @() f.write({}));
  expect_error("mpi:argument", @() f.write(sparse(1)));
  expect_error("mpi:argument", @() f.readAt(0.5, 0));
  expect_error("mpi:arg", @() f.readAt(-1, 0));
  expect_error("mpi:unsupportedDatarep", @() f.setView(0, "double", "double", "nothing"));
  % MPI_ERR_IO of the standard ABI.
  expect_error("mpi:io", @() f.callErrhandler(35));
  f.close();
  assert(exist(name, "file"), 0);
end
