% PACKEXTERNAL  Packs an array as bytes that every MPI library can read.
%
%   bytes = mpi.packExternal(array)
%   bytes = mpi.packExternal({array, count, type})
%
% The bytes are in the representation external32: numbers begin with their highest byte.
%
% Example: file = fopen('x', 'w'); fwrite(file, mpi.packExternal(x)); fclose(file);
%
% Section 5.3 of the MPI standard, MPI_Pack_external.
%
% See also: mpi.unpackExternal.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.unpackExternal(mpi.packExternal([1 2]), [0 0]), [1 2])
