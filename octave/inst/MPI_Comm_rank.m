% MPI_Comm_rank: The number of this process in comm: 0 ... size-1.
%
%   r = MPI_Comm_rank (comm)
%
% Example: if MPI_Comm_rank(MPI_COMM_WORLD) == 0, disp('begin'); end
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! MPI_Init;
%! assert(MPI_Comm_rank(MPI_COMM_WORLD), 0);

%!error MPI_Comm_rank('no communicator')
