% LOOKUPNAME  The port that somebody has published for a service.
%
%   port = mpi.lookupName(service, info)
%
% Errors: mpi:name if there is none.
%
% Example: d = c.connect(mpi.lookupName('my service'));
%
% Section 11.10.4 of the MPI standard, MPI_Lookup_name.
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

%!error id=mpi:name mpi.world(); mpi.lookupName('a service that nobody has')
