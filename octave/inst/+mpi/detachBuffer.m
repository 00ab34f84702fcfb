% DETACHBUFFER  Takes the memory back that mpi.attachBuffer has given, once all messages in it have been sent.
%
%   bytes = mpi.detachBuffer()
%
% bytes is how much it was.
%
% Example: mpi.detachBuffer();
%
% Section 3.6 of the MPI standard, MPI_Buffer_detach.
%
% See also: mpi.attachBuffer.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! mpi.attachBuffer(5000);
%! assert(mpi.detachBuffer(), 5000);
