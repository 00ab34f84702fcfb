% MPI_Bcast: Brings the values of the process source to all others.
%
%   [var1, var2, ...] = MPI_Bcast (source, tag, comm, var1, var2, ...)
%
% All processes call it.  The values given on other processes than source are
% not used.
%
% Example: settings = MPI_Bcast(0, 3, comm, settings);
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! MPI_Init;
%! [n, name] = MPI_Bcast(0, 7, MPI_COMM_WORLD, 3, 'three');
%! assert({n, name}, {3, 'three'});

%!error MPI_Bcast(1, 7, MPI_COMM_WORLD, 3)
