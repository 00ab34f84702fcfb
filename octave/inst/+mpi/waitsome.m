% WAITSOME  Waits until at least one of several operations is complete, and gives all that are.
%
%   [indices, values, statuses] = mpi.waitsome(r, ...)
%
% Requests are objects of class mpi.Request, which may hold several operations, and cells of them. indices count from 1; they are [] when
% none is active. values is a cell.
%
% Example: [which, values] = mpi.waitsome(r);
%
% Section 3.7.5 of the MPI standard, MPI_Waitsome.
%
% See also: mpi.waitall, mpi.waitany, mpi.testsome.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! c = mpi.world;
%! r = [c.irecv(0, 1), c.irecv(0, 2)];
%! c.send('two', 0, 2);
%! [which, values] = mpi.waitsome(r);
%! assert({which, values}, {2, {'two'}});
%! c.send('one', 0, 1);
%! mpi.waitall(r);
