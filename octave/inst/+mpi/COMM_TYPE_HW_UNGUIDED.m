% COMM_TYPE_HW_UNGUIDED  For splitType: processes on the same hardware of the next smaller kind.
%
% Example: d = c.splitType(mpi.COMM_TYPE_HW_UNGUIDED, c.rank);
%
% Section 7.4.2 of the MPI standard, MPI_COMM_TYPE_HW_UNGUIDED.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.COMM_TYPE_HW_UNGUIDED ~= mpi.COMM_TYPE_SHARED)
