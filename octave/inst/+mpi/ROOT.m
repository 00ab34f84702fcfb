% ROOT  The root of a collective over an inter-communicator says this of itself; others of its group say mpi.PROC_NULL.
%
% Example: inter.bcast(x, mpi.ROOT);
%
% Section 6.2.3 of the MPI standard, MPI_ROOT.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.ROOT < 0)
