% MODE_NOPUT  For fence and post: nobody puts into the memory of this process until the next one.
%
% Example: w.fence(mpi.MODE_NOPUT);
%
% Section 12.5.5 of the MPI standard, MPI_MODE_NOPUT.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.MODE_NOPUT > 0)
