% TESTSOME  Which of several operations are complete.
%
%   [indices, values, statuses] = mpi.testsome(r, ...)
%
% Requests are objects of class mpi.Request, which may hold several operations, and cells of them. indices are [] when none is complete.
% values is a cell.
%
% Example: [which, values] = mpi.testsome(r);
%
% Section 3.7.5 of the MPI standard, MPI_Testsome.
%
% See also: mpi.waitsome, mpi.testall, mpi.testany.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! c = mpi.world;
%! r = c.irecv(0, 1);
%! assert(isempty(mpi.testsome(r)));
%! c.send('one', 0, 1);
%! which = [];
%! while isempty(which)
%!   [which, values] = mpi.testsome(r);
%! end
%! assert({which, values}, {1, {'one'}});
