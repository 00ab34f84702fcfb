% MODE_NOPRECEDE  For fence: nothing was accessed before it by this process.
%
% Example: w.fence(mpi.MODE_NOPRECEDE);
%
% Section 12.5.5 of the MPI standard, MPI_MODE_NOPRECEDE.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.MODE_NOPRECEDE > 0)
