% MODE_NOSTORE  For fence and post: this process has not written into its memory by itself.
%
% Example: w.post(group, mpi.MODE_NOSTORE);
%
% Section 12.5.5 of the MPI standard, MPI_MODE_NOSTORE.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.MODE_NOSTORE > 0)
