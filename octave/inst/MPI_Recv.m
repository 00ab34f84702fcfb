% MPI_Recv: Waits for the next message from source with this tag and returns its values.
%
%   [var1, var2, ...] = MPI_Recv (source, tag, comm)
%
% source and tag may be '*'.  Values of the message beyond the outputs are
% dropped; asking for more than it holds is an error.  So is waiting for a message
% from this process itself that it has not sent.
%
% Example: [name, matrix] = MPI_Recv(0, 7, comm);
%
% The function is in the MEX file of this name; this file holds its help.

%!test    % Values that are not asked for are dropped.
%! MPI_Init;
%! MPI_Send(0, 7, MPI_COMM_WORLD, 'a name', magic(3), {});
%! [name, matrix] = MPI_Recv(0, 7, MPI_COMM_WORLD);
%! assert({name, matrix}, {'a name', magic(3)});

%!error MPI_Recv(0, 7, MPI_COMM_WORLD)
%!error MPI_Recv(5, 7, MPI_COMM_WORLD)
