% OPENPORT  Opens a port where another job can connect to this one.
%
%   name = mpi.openPort(info)
%
% name is a text to be given to the other job, which calls c.connect(name); here c.accept(name) waits for it.
%
% Example: port = mpi.openPort(); mpi.publishName('my service', port); d = c.accept(port);
%
% Section 11.10.2 of the MPI standard, MPI_Open_port.
%
% See also: mpi.closePort, mpi.publishName, mpi.Comm.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! port = mpi.openPort();
%! assert(ischar(port) && ~isempty(port));
%! mpi.closePort(port);
