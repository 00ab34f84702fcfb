% SIMILAR  Result of compare: the same processes in another order.
%
% Example: same = g.compare(h) == mpi.SIMILAR;
%
% Section 7.4.1 of the MPI standard, MPI_SIMILAR.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.SIMILAR ~= mpi.IDENT)
