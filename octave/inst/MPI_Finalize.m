% MPI_Finalize: Waits until everything that was sent has left, and ends MPI.
%
%   MPI_Finalize
%
% A program that ends without an error and without this call is finalized by itself.
%
% The function is in the MEX file of this name; this file holds its help.
