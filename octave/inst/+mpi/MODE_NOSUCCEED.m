% MODE_NOSUCCEED  For fence: nothing is accessed after it by this process.
%
% Example: w.fence(mpi.MODE_NOSUCCEED);
%
% Section 12.5.5 of the MPI standard, MPI_MODE_NOSUCCEED.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.MODE_NOSUCCEED > 0)
