% MPI_ANY_SOURCE: Stands for every source in MPI_Recv and MPI_Probe; so does '*'.
%
%   MPI_ANY_SOURCE
%
% The function is in the MEX file of this name; this file holds its help.
