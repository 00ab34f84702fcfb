% The environment (chapter 9): versions, clocks, errors, buffers for buffered sends.
function native_environment(c)
  [version, subversion] = mpi.version();
  assert(version >= 4 && subversion >= 0);
  assert(ischar(mpi.libraryVersion()) && ! isempty(mpi.libraryVersion()));
  [major, minor] = mpi.abiVersion();
  assert(major >= 1 && minor >= 0);
  assert(! isempty(mpi.processorName()));
  assert(any(mpi.threadLevel() == [mpi.THREAD_SINGLE, mpi.THREAD_FUNNELED, mpi.THREAD_SERIALIZED, mpi.THREAD_MULTIPLE]));
  assert(mpi.isThreadMain());
  before = mpi.wtime();
  assert(mpi.wtime() >= before && before > 0 && mpi.wtick() > 0);
  mpi.pcontrol(1);
  errors(c);
  constants();
  [first, last] = mpi.block(c, 10);
  assert(c.allreduce(last - first + 1, "+"), 10);
  assert(c.bcast(first, 0), 1);
  assert(c.bcast(last, c.size - 1), 10);
  buffered(c);
  objects_are_shown(c);
end

function errors(c)
  class = mpi.addErrorClass();
  code = mpi.addErrorCode(class);
  mpi.addErrorString(code, "an error of the program's own");
  assert(mpi.errorClass(code), class);
  assert(mpi.errorString(code), "an error of the program's own");
  expect_error("mpi:other", @() c.callErrhandler(code));
  mpi.removeErrorString(code);
  mpi.removeErrorCode(code);
  mpi.removeErrorClass(class);
  w = mpi.Win.createDynamic(c);
  expect_error("mpi:rank", @() w.callErrhandler(6));
  w.free();
  try
    c.Send(1, c.size, 0);
  catch problem
    assert(! isempty(strfind(problem.message, "Send")) && problem.identifier, "mpi:rank");
  end
end

function constants()
  numbers = [mpi.ANY_SOURCE, mpi.ANY_TAG, mpi.PROC_NULL, mpi.ROOT, mpi.UNDEFINED];
  assert(numel(unique(numbers)) >= 4 && all(numbers < 0));
  assert(numel(unique([mpi.IDENT, mpi.CONGRUENT, mpi.SIMILAR, mpi.UNEQUAL])), 4);
  assert(numel(unique([mpi.CART, mpi.GRAPH, mpi.DIST_GRAPH, mpi.UNDEFINED])), 4);
  assert(numel(unique([mpi.COMM_TYPE_SHARED, mpi.COMM_TYPE_HW_GUIDED, mpi.COMM_TYPE_HW_UNGUIDED])), 3);
  assert(numel(unique([mpi.MODE_NOCHECK, mpi.MODE_NOPRECEDE, mpi.MODE_NOPUT, mpi.MODE_NOSTORE, mpi.MODE_NOSUCCEED])), 5);
  assert(numel(unique([mpi.DISTRIBUTE_NONE, mpi.DISTRIBUTE_BLOCK, mpi.DISTRIBUTE_CYCLIC])), 3);
  assert(isscalar(mpi.DISTRIBUTE_DFLT_DARG));
end

function buffered(c)
  mpi.detachBuffer();
  expect_error("mpi:buffer", @() c.Bsend(1, c.rank));
  mpi.attachBuffer(100000);
  c.Bsend(1:5, c.rank, 4);
  assert(c.Recv(zeros(1, 5), c.rank, 4), 1:5);
  mpi.flushBuffer();
  r = mpi.iflushBuffer();
  r.wait();
  assert(mpi.detachBuffer(), 100000);
  c.attachBuffer();
  c.Bsend(6, c.rank, 4);
  assert(c.Recv(0, c.rank, 4), 6);
  c.flushBuffer();
  c.iflushBuffer().wait();
  c.detachBuffer();
  mpi.attachBuffer();
end

function objects_are_shown(c)
  assert(! isempty(strfind(evalc("disp(c)"), sprintf("rank %d of %d", c.rank, c.size))));
  assert(! isempty(strfind(evalc("disp(c.getGroup())"), "Group")));
  assert(! isempty(strfind(evalc("disp(mpi.Datatype('double'))"), "8 bytes")));
  assert(! isempty(strfind(evalc("disp(c.isend(1, mpi.PROC_NULL))"), "Request")));
end
