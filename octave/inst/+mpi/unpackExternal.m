% UNPACKEXTERNAL  Makes an array of bytes that mpi.packExternal has made.
%
%   [array, next] = mpi.unpackExternal(bytes, like, position)
%
% array has the class and the size of like. position is where in bytes it begins, from 0, which is the default; next is where it ends.
%
% Example: [n, next] = mpi.unpackExternal(bytes, 0); x = mpi.unpackExternal(bytes, zeros(1, n), next);
%
% Section 5.3 of the MPI standard, MPI_Unpack_external.
%
% See also: mpi.packExternal.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! bytes = [mpi.packExternal(2), mpi.packExternal([7 8])];
%! [n, next] = mpi.unpackExternal(bytes, 0);
%! assert([n, next], [2 8]);
%! assert(mpi.unpackExternal(bytes, zeros(1, n), next), [7 8]);
