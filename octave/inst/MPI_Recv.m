% MPI_Recv: Waits for the next message from source with this tag and returns its values.
%
%   [var1, var2, ...] = MPI_Recv (source, tag, comm)
%
% source and tag may be '*'.  Values of the message beyond the outputs are
% dropped; asking for more than it holds is an error.  So is waiting for a message
% from this process itself that it has not sent.
%
% The function is in the MEX file of this name; this file holds its help.
