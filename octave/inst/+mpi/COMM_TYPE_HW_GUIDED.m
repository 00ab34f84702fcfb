% COMM_TYPE_HW_GUIDED  For splitType: processes on the same hardware of the kind that an info names.
%
% Example: d = c.splitType(mpi.COMM_TYPE_HW_GUIDED, 0, struct('mpi_hw_resource_type', 'mpi_shared_memory'));
%
% Section 7.4.2 of the MPI standard, MPI_COMM_TYPE_HW_GUIDED.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.COMM_TYPE_HW_GUIDED ~= mpi.COMM_TYPE_SHARED)
