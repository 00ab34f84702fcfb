% IDENT  Result of compare: the two are the same object.
%
% Example: same = c.compare(d) == mpi.IDENT;
%
% Section 7.4.1 of the MPI standard, MPI_IDENT.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! c = mpi.world;
%! assert(c.compare(c) == mpi.IDENT);
