function comm = MatMPI_Comm_world()
% MATMPI_COMM_WORLD  Makes the global variable MPI_COMM_WORLD anew, and returns it.
%
%   comm = MatMPI_Comm_world()
%
% MPI_Init calls it, and MPI_COMM_WORLD in a program that has cleared the variable. MPI is started
% if it does not run.
  global MPI_COMM_WORLD
  facts = MatMPI_session('begin');
  comm = matmpi_comm(facts(2), {});
  comm.rank = facts(1);
  comm.handle = facts(3);
  if facts(4)
    comm.host_rank = -1;
  end
  MPI_COMM_WORLD = comm;

%!test    % A program that has cleared its variables gets the communicator again.
%! global MPI_COMM_WORLD
%! MPI_COMM_WORLD = [];
%! comm = MatMPI_Comm_world();
%! assert(MPI_COMM_WORLD, comm);
%! assert([comm.rank, comm.size], [0 1]);
