% MPI_Bcast: Brings the values of the process source to all others.
%
%   [var1, var2, ...] = MPI_Bcast (source, tag, comm, var1, var2, ...)
%
% All processes call it.  The values given on other processes than source are
% not used.
%
% The function is in the MEX file of this name; this file holds its help.
