% MPI_Init: Starts MPI. Every program calls it once, before any other function.
%
%   MPI_Init
%
% Calling it again while MPI runs does nothing.
%
% The function is in the MEX file of this name; this file holds its help.
