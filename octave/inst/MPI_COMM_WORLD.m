% MPI_COMM_WORLD  The communicator of all ranks of the job.
%
%   comm = MPI_COMM_WORLD
%
% It is a global variable, which MPI_Init and MPI_Run assign, and this function for programs that do
% not declare it. Its value is a struct, described in MatMPI_Comm_init.
%
% Example: comm = MPI_COMM_WORLD; fprintf('rank %d of %d\n', comm.rank, comm.size);
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! MPI_Init;
%! comm = MPI_COMM_WORLD;
%! assert([comm.rank, comm.size, comm.group], [0 1 0]);
