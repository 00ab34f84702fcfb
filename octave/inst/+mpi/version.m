% VERSION  Which version of the MPI standard the library has.
%
%   [version, subversion] = mpi.version()
%
% It can be called before MPI is started.
%
% Example: [version, subversion] = mpi.version(); fprintf('MPI %d.%d\n', version, subversion);
%
% Section 9.1.1 of the MPI standard, MPI_Get_version.
%
% See also: mpi.libraryVersion, mpi.abiVersion.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! [version, subversion] = mpi.version();
%! assert(version >= 4 && subversion >= 0);
