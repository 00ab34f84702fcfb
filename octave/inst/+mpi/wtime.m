% WTIME  The time of a clock, in seconds.
%
%   t = mpi.wtime()
%
% Only differences mean something, and only on one process.
%
% Example: t = mpi.wtime(); x = c.allreduce(x, '+'); t = mpi.wtime() - t;
%
% Section 9.6 of the MPI standard, MPI_Wtime.
%
% See also: mpi.wtick.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! before = mpi.wtime();
%! assert(mpi.wtime() >= before);
