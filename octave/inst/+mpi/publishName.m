% PUBLISHNAME  Lets other jobs find a port by the name of a service.
%
%   mpi.publishName(service, port, info)
%
% Example: mpi.publishName('my service', mpi.openPort());
%
% Section 11.10.4 of the MPI standard, MPI_Publish_name.
%
% See also: mpi.lookupName, mpi.unpublishName.
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
