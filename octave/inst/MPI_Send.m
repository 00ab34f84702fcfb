% MPI_Send: Sends the values to the process dest as one message, and returns at once.
%
%   MPI_Send (dest, tag, comm, var1, var2, ...)
%
% The message carries the values as they are now; the variables may be changed
% afterwards.  Messages to one process with one tag arrive in the order in which
% they were sent.  tag is an integer from 0.  All values can be sent but function
% handles and objects.
%
% Example: MPI_Send(1, 7, comm, 'a name', rand(3));
%
% The function is in the MEX file of this name; this file holds its help.

%!test    % Any value, and several in one message.
%! MPI_Init;
%! MPI_Send(0, 7, MPI_COMM_WORLD, 'a name', struct('field', {{1, sparse(2)}}));
%! [name, s] = MPI_Recv(0, 7, MPI_COMM_WORLD);
%! assert(name, 'a name');
%! assert(s, struct('field', {{1, sparse(2)}}));

%!test    % In order, and by tags that are texts.
%! MPI_Init;
%! for x = 1:3
%!   MPI_Send(0, 'results', MPI_COMM_WORLD, x);
%! end
%! for x = 1:3
%!   assert(MPI_Recv(0, 'results', MPI_COMM_WORLD), x);
%! end

%!error MPI_Send(5, 7, MPI_COMM_WORLD, 1)
%!error MPI_Send(0, 7, MPI_COMM_WORLD, mpi.self)

%!demo
%! MPI_Init;
%! comm = MPI_COMM_WORLD;
%! MPI_Send(0, 7, comm, 'a name', magic(3));
%! [name, matrix] = MPI_Recv(0, 7, comm)
