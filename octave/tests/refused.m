1;
% What cannot be sent, and wrong arguments, give an error that says what and where;
% the next message is not disturbed.
function expect_error(pattern, varargin)
  try
    MPI_Send(varargin{:});
  catch problem
    if isempty(regexp(problem.message, pattern, "once"))
      error("the error was: %s", problem.message);
    end
    return
  end
  error("no error where one with '%s' was due", pattern);
end

MPI_Init;
comm = MPI_COMM_WORLD;
rank = MPI_Comm_rank(comm);
object = mpi.self;
expect_error("var1 is a mpi.Comm", rank, 1, comm, object);
expect_error("var2 is a mpi.Comm", rank, 1, comm, rand(200), object);
expect_error("var1\\{2\\}\\.f is a mpi.Comm", rank, 1, comm, {1, struct("f", object)});
expect_error("var1\\(2\\)\\.f is a mpi.Comm", rank, 1, comm, struct("f", {1, object}));
expect_error("rank", MPI_Comm_size(comm), 1, comm, 1);
expect_error("rank", 0.5, 1, comm, 1);
expect_error("tag", rank, NaN, comm, 1);
expect_error("tag", rank, {"text"}, comm, 1);
expect_error("comm", rank, 1, 12345, 1);
expect_error("too few", rank);
deep = {};
for k = 1:250
  deep = {deep};
end
expect_error("nested", rank, 1, comm, deep);
expect_error("too large", rank, 1, comm, zeros(0, 2^61));
many = repmat(struct(), 2^10, 2^9);
expect_error("var3 is a struct array without fields", rank, 1, comm, many, many, struct());
hidden = repmat({'text'}, 1, 40);
hidden{17} = {object};
expect_error("var1\\{17\\}\\{1\\} is a mpi.Comm", rank, 1, comm, hidden);
MPI_Send(rank, 1, comm, "good");
assert(MPI_Recv(rank, 1, comm), "good");
MPI_Send(rank, 1, comm, 1);
try
  [a, b] = MPI_Recv(rank, 1, comm);
  error("no error for a missing value");
catch problem
  assert(! isempty(regexp(problem.message, "holds 1 values, but 2", "once")));
end
MPI_Finalize;
assert(MPI_Comm_rank(comm), rank);
expect_error("finalized", rank, 1, comm, 1);
