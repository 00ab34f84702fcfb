% IFLUSHBUFFER  The same as mpi.flushBuffer, as a request.
%
%   request = mpi.iflushBuffer()
%
% Example: r = mpi.iflushBuffer(); compute(); r.wait();
%
% Section 3.6 of the MPI standard, MPI_Buffer_iflush.
%
% See also: mpi.flushBuffer.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! mpi.attachBuffer(1000);
%! r = mpi.iflushBuffer();
%! r.wait();
%! mpi.detachBuffer();
