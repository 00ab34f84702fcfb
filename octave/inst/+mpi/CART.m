% CART  Result of topology: a grid.
%
% Example: if c.topology() == mpi.CART, n = c.cartDim(); end
%
% Section 8.5.5 of the MPI standard, MPI_CART.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(mpi.CART ~= mpi.UNDEFINED)
