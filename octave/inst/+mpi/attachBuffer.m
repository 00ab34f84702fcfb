% ATTACHBUFFER  Gives MPI memory for Bsend and its relatives.
%
%   mpi.attachBuffer(bytes)
%   mpi.attachBuffer()
%
% Bsend copies into memory that the program gives; a message that finds no room there is the error mpi:buffer. Without a number there is
% as much room as is needed.
%
% Example: mpi.attachBuffer(); c.Bsend(1:5, 0, 4);
%
% Section 3.6 of the MPI standard, MPI_Buffer_attach.
%
% See also: mpi.detachBuffer, mpi.flushBuffer.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! c = mpi.world;
%! mpi.attachBuffer(100000);
%! c.Bsend(1:5, 0, 4);
%! assert(c.Recv(zeros(1, 5), 0, 4), 1:5);
%! assert(mpi.detachBuffer(), 100000);
