% UNDEFINED  A rank, color or count that is none.
%
% Example: d = c.split(mpi.UNDEFINED, 0);    % no communicator for this process
%
% Section 7.4.2 of the MPI standard, MPI_UNDEFINED.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.UNDEFINED < 0)
