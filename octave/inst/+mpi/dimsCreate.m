% DIMSCREATE  Divides processes among the dimensions of a grid, as evenly as possible.
%
%   dims = mpi.dimsCreate(n, dims)
%
% A zero in dims is to be chosen; other numbers stay.
% Errors: mpi:dims if n is not a multiple of the product of those that stay.
%
% Example: d = c.createCart(mpi.dimsCreate(c.size, [0 0]), [true false]);
%
% Section 8.5.2 of the MPI standard, MPI_Dims_create.
%
% See also: mpi.Comm.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! assert(mpi.dimsCreate(12, [0 0]), [4 3]);
%! assert(mpi.dimsCreate(12, [0 2]), [6 2]);

%!error id=mpi:dims mpi.dimsCreate(7, [0 2])
