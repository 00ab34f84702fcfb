% JOIN  Joins two processes that have a socket between them.
%
%   inter = mpi.join(descriptor)
%
% descriptor is the number of a connected socket; inter is a communicator to the process at its other end, which calls this too.
% Errors: mpi:arg or another class of MPI for what is no socket.
%
% Example: inter = mpi.join(descriptor); inter.send('hello', 0);
%
% Section 11.10.6 of the MPI standard, MPI_Comm_join.
%
% See also: mpi.openPort.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! fail('mpi.join(-1)');
