% WAITANY  Waits until one of several operations is complete.
%
%   [index, value, status] = mpi.waitany(r, ...)
%
% Requests are objects of class mpi.Request, which may hold several operations, and cells of them. index counts from 1; it is [] when none
% of them is active. value is what was received.
%
% Example: r = [c.irecv(0, 1), c.irecv(1, 1)]; [k, value] = mpi.waitany(r);
%
% Section 3.7.5 of the MPI standard, MPI_Waitany.
%
% See also: mpi.waitall, mpi.waitsome, mpi.testany.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! c = mpi.world;
%! r = [c.irecv(0, 1), c.irecv(0, 2)];
%! c.send('two', 0, 2);
%! [k, value] = mpi.waitany(r);
%! assert({k, value}, {2, 'two'});
%! c.send('one', 0, 1);
%! mpi.waitall(r);
