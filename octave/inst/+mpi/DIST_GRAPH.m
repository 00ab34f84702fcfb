% DIST_GRAPH  Result of topology: a graph of which each process knows its neighbours.
%
% Example: if c.topology() == mpi.DIST_GRAPH, [from, to] = c.distGraphNeighbors(); end
%
% Section 8.5.5 of the MPI standard, MPI_DIST_GRAPH.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.DIST_GRAPH ~= mpi.GRAPH)
