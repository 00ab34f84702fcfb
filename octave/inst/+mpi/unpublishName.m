% UNPUBLISHNAME  Takes back what mpi.publishName has published.
%
%   mpi.unpublishName(service, port, info)
%
% Example: mpi.unpublishName('my service', port);
%
% Section 11.10.4 of the MPI standard, MPI_Unpublish_name.
%
% See also: mpi.publishName.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! port = mpi.openPort();
%! name = sprintf('service of process %d', getpid());
%! mpi.publishName(name, port);
%! assert(mpi.lookupName(name), port);
%! mpi.unpublishName(name, port);
%! mpi.closePort(port);
