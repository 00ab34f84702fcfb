% MPI_ANY_TAG: Stands for every tag in MPI_Recv and MPI_Probe; so does '*'.
%
%   MPI_ANY_TAG
%
% Example: x = MPI_Recv(0, MPI_ANY_TAG, comm);
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! MPI_Init;
%! MPI_Send(0, 12, MPI_COMM_WORLD, 'of some tag');
%! assert(MPI_Recv(0, MPI_ANY_TAG, MPI_COMM_WORLD), 'of some tag');
