% UNEQUAL  Result of compare: other processes.
%
% Example: other = g.compare(h) == mpi.UNEQUAL;
%
% Section 7.4.1 of the MPI standard, MPI_UNEQUAL.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.UNEQUAL ~= mpi.IDENT)
