% LIBRARYVERSION  What the library says of itself.
%
%   text = mpi.libraryVersion()
%
% It can be called before MPI is started.
%
% Example: disp(mpi.libraryVersion())
%
% Section 9.1.1 of the MPI standard, MPI_Get_library_version.
%
% See also: mpi.version.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(ischar(mpi.libraryVersion()) && ~isempty(mpi.libraryVersion()))
