% CLOSEPORT  Closes a port.
%
%   mpi.closePort(name)
%
% Example: mpi.closePort(port);
%
% Section 11.10.2 of the MPI standard, MPI_Close_port.
%
% See also: mpi.openPort.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! mpi.closePort(mpi.openPort());
