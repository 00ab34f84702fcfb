% WTICK  How fine mpi.wtime is, in seconds.
%
%   t = mpi.wtick()
%
% Example: fprintf('within %g s\n', mpi.wtick());
%
% Section 9.6 of the MPI standard, MPI_Wtick.
%
% See also: mpi.wtime.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.wtick() > 0 && mpi.wtick() < 1)
