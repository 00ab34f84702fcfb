% MPI_ANY_SOURCE: Stands for every source in MPI_Recv and MPI_Probe; so does '*'.
%
%   MPI_ANY_SOURCE
%
% Example: x = MPI_Recv(MPI_ANY_SOURCE, 7, comm);
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! MPI_Init;
%! MPI_Send(0, 1, MPI_COMM_WORLD, 'from someone');
%! assert(MPI_Recv(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD), 'from someone');
