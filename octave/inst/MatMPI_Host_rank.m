function rank = MatMPI_Host_rank(comm)
% MATMPI_HOST_RANK  The rank of the session that called MPI_Run, 0, or -1 when all ranks run in the
%                   background.
%
%   rank = MatMPI_Host_rank(comm)
%
% In programs that a launcher has started (postrider run) there is no session, and the result is -1.
%
% Example: if comm.rank == MatMPI_Host_rank(comm), disp('at the prompt'); end
  rank = comm.host_rank;

%!test
%! MPI_Init;
%! comm = MPI_COMM_WORLD;
%! assert(MatMPI_Host_rank(comm), comm.host_rank);
