% REDUCELOCAL  Applies an operation of MPI to two arrays of this process.
%
%   c = mpi.reduceLocal(a, b, op)
%
% op is the name of an operation or an mpi.Op, '+' if it is left out. Integers wrap around, as in all functions in capitals.
%
% Example: m = mpi.reduceLocal([1 5 3], [4 2 6], 'max');
%
% Section 6.9.7 of the MPI standard, MPI_Reduce_local.
%
% See also: mpi.Op, mpi.Comm.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! assert(mpi.reduceLocal([1 5 3], [4 2 6], 'max'), [4 5 6]);
%! assert(mpi.reduceLocal(1, 2), 3);
