% MPI_ANY_TAG: Stands for every tag in MPI_Recv and MPI_Probe; so does '*'.
%
%   MPI_ANY_TAG
%
% The function is in the MEX file of this name; this file holds its help.
