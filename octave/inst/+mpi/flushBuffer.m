% FLUSHBUFFER  Waits until all messages of Bsend have been sent from its memory.
%
%   mpi.flushBuffer()
%
% Example: c.Bsend(x, 0, 4); mpi.flushBuffer();
%
% Section 3.6 of the MPI standard, MPI_Buffer_flush.
%
% See also: mpi.attachBuffer, mpi.iflushBuffer.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! c = mpi.world;
%! mpi.attachBuffer(1000);
%! c.Bsend(7, 0, 4);
%! assert(c.Recv(0, 0, 4), 7);
%! mpi.flushBuffer();
%! mpi.detachBuffer();
