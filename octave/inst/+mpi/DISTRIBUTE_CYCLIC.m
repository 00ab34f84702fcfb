% DISTRIBUTE_CYCLIC  For mpi.Datatype.darray: blocks dealt out in turn.
%
% Example: t = mpi.Datatype.darray(4, 0, 8, mpi.DISTRIBUTE_CYCLIC, 1, 4);
%
% Section 5.1.4 of the MPI standard, MPI_DISTRIBUTE_CYCLIC.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! assert(mpi.Datatype.darray(4, 0, 8, mpi.DISTRIBUTE_CYCLIC, 1, 4).getSize() == 16);
