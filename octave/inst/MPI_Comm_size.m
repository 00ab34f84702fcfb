% MPI_Comm_size: The number of processes of comm.
%
%   n = MPI_Comm_size (comm)
%
% Example: share = 1000 / MPI_Comm_size(MPI_COMM_WORLD);
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! MPI_Init;
%! assert(MPI_Comm_size(MPI_COMM_WORLD), 1);

%!error MPI_Comm_size('no communicator')
