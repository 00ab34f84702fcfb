% DISTRIBUTE_DFLT_DARG  For mpi.Datatype.darray: the usual size of a block.
%
% Example: t = mpi.Datatype.darray(4, 0, 8, mpi.DISTRIBUTE_BLOCK, mpi.DISTRIBUTE_DFLT_DARG, 4);
%
% Section 5.1.4 of the MPI standard, MPI_DISTRIBUTE_DFLT_DARG.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(isscalar(mpi.DISTRIBUTE_DFLT_DARG))
