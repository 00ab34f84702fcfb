1;
% MPI_Abort before MPI_Init and after MPI_Finalize ends nothing, and says so: the session goes on.
function expect_nothing()
  assert(evalc('MPI_Abort'), sprintf('No pid files found\n'));
end

expect_nothing();
% A process of its own, whose settings stay what they are unless a launcher started it.
MPI_Init;
assert(sigterm_dumps_octave_core(), isempty(getenv("POSTRIDER_JOB")));
comm = MPI_COMM_WORLD;
try
  MPI_Recv(MPI_Comm_rank(comm), 1, comm);
  error("no error for a message that was never sent");
catch problem
  assert(! isempty(strfind(problem.message, "would wait for ever")));
end
MPI_Finalize;
expect_nothing();
