% MODE_NOCHECK  For epochs of a window: nobody holds a lock that conflicts, or the other side has already called its function.
%
% Example: w.lock(0, false, mpi.MODE_NOCHECK);
%
% Section 12.5.5 of the MPI standard, MPI_MODE_NOCHECK.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.MODE_NOCHECK > 0)
