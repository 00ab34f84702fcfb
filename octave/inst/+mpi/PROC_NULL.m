% PROC_NULL  A process that is none: what is sent to it goes nowhere, and nothing comes from it.
%
% Example: right = c.rank + 1; if right == c.size, right = mpi.PROC_NULL; end, c.send(x, right, 7);
%
% Section 3.10 of the MPI standard, MPI_PROC_NULL.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.PROC_NULL < 0)
