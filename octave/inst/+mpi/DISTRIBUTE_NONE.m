% DISTRIBUTE_NONE  For mpi.Datatype.darray: a dimension that is not divided.
%
% Example:
%   t = mpi.Datatype.darray(4, 0, [8 8], [mpi.DISTRIBUTE_BLOCK mpi.DISTRIBUTE_NONE], [mpi.DISTRIBUTE_DFLT_DARG mpi.DISTRIBUTE_DFLT_DARG], [4 1]);
%
% Section 5.1.4 of the MPI standard, MPI_DISTRIBUTE_NONE.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.DISTRIBUTE_NONE ~= mpi.DISTRIBUTE_BLOCK)
