function MPI_Init()
% MPI_INIT  Starts MPI. Every program calls it before it sends and receives.
%
%   MPI_Init
%
% From then on the global variable MPI_COMM_WORLD, which is also a function of that name, is the
% communicator of all ranks of the job. In a program that MPI_Run has started they are the ranks of
% that call, in one that a launcher has started (postrider run) those of the launcher; otherwise
% there is one rank. Calling it again while MPI runs does nothing.
%
% Example:
%   MPI_Init;
%   comm = MPI_COMM_WORLD;
%   disp(MPI_Comm_rank(comm));
%   MPI_Finalize;
%
% MPI 5.0, section 11.2.1.
  global MPI_COMM_WORLD
  facts = MatMPI_session('begin');
  if ~isstruct(MPI_COMM_WORLD) || ~isfield(MPI_COMM_WORLD, 'handle') || MPI_COMM_WORLD.handle ~= facts(3)
    MatMPI_Comm_world();
  end

%!test
%! global MPI_COMM_WORLD
%! MPI_Init;
%! MPI_Init;
%! assert([MPI_COMM_WORLD.rank, MPI_COMM_WORLD.size], [0 1]);
