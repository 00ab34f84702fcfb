% CONGRUENT  Result of compare: the same processes in the same order, and other messages.
%
% Example: d = c.dup(); assert(c.compare(d), mpi.CONGRUENT)
%
% Section 7.4.1 of the MPI standard, MPI_CONGRUENT.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.CONGRUENT ~= mpi.IDENT)
