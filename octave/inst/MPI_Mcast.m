% MPI_MCAST  Sends values from one rank to several.
%
%   [var1, ...] = MPI_Mcast(source, dest, tag, comm, var1, ...)
%
% source      the rank that sends; only there the values matter
% dest        list of the ranks that receive; they may as well call MPI_Recv(source, tag, comm)
% tag, comm   as in MPI_Send
%
% Returns the values at source and in dest, and empty ones elsewhere.
%
% Example:
%   x = MPI_Mcast(0, [1 3], 7, comm, x);
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! MPI_Init;
%! [n, name] = MPI_Mcast(0, [], 7, MPI_COMM_WORLD, 3, 'three');
%! assert({n, name}, {3, 'three'});
