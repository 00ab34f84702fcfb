% STARTALL  Starts persistent operations.
%
%   mpi.startall(r, ...)
%
% Requests are objects of class mpi.Request, which may hold several operations, and cells of them.
%
% Example: mpi.startall(s, r); mpi.waitall(s, r);
%
% Section 3.9 of the MPI standard, MPI_Startall.
%
% See also: mpi.Request.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! c = mpi.world;
%! b = mpi.Buffer(0);
%! s = c.SendInit(mpi.Buffer(5), 0, 3);
%! r = c.RecvInit(b, 0, 3);
%! mpi.startall(r, s);
%! mpi.waitall(r, s);
%! assert(b.get(), 5);
