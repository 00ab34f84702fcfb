% GRAPH  Result of topology: a graph that each process knows.
%
% Example: if c.topology() == mpi.GRAPH, [index, edges] = c.graphGet(); end
%
% Section 8.5.5 of the MPI standard, MPI_GRAPH.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.GRAPH ~= mpi.CART)
