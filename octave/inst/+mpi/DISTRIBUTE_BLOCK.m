% DISTRIBUTE_BLOCK  For mpi.Datatype.darray: one block for each process.
%
% Example: t = mpi.Datatype.darray(4, 0, 8, mpi.DISTRIBUTE_BLOCK, mpi.DISTRIBUTE_DFLT_DARG, 4);
%
% Section 5.1.4 of the MPI standard, MPI_DISTRIBUTE_BLOCK.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! assert(mpi.Datatype.darray(4, 0, 8, mpi.DISTRIBUTE_BLOCK, mpi.DISTRIBUTE_DFLT_DARG, 4).getSize() == 16);
