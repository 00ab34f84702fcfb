% ABIVERSION  Which version of the standard ABI the library has.
%
%   [major, minor] = mpi.abiVersion()
%
% It can be called before MPI is started.
%
% Example: [major, minor] = mpi.abiVersion();
%
% Section 20.2 of the MPI standard, MPI_Abi_get_version.
%
% See also: mpi.abiInfo.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! [major, minor] = mpi.abiVersion();
%! assert(major >= 1 && minor >= 0);
