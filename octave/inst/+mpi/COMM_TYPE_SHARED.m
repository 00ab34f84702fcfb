% COMM_TYPE_SHARED  For splitType: processes that can share memory, which are those of one host.
%
% Example: d = c.splitType(mpi.COMM_TYPE_SHARED, c.rank);
%
% Section 7.4.2 of the MPI standard, MPI_COMM_TYPE_SHARED.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.COMM_TYPE_SHARED ~= mpi.UNDEFINED)
