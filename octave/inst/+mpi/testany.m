% TESTANY  Whether one of several operations is complete.
%
%   [index, value, status] = mpi.testany(r, ...)
%
% Requests are objects of class mpi.Request, which may hold several operations, and cells of them. index is [] when none is complete.
%
% Example: [k, value] = mpi.testany(r); if ~isempty(k), take(k, value), end
%
% Section 3.7.5 of the MPI standard, MPI_Testany.
%
% See also: mpi.waitany, mpi.testall, mpi.testsome.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! c = mpi.world;
%! r = c.irecv(0, 1);
%! assert(isempty(mpi.testany(r)));
%! c.send('one', 0, 1);
%! k = [];
%! while isempty(k)
%!   [k, value] = mpi.testany(r);
%! end
%! assert({k, value}, {1, 'one'});
