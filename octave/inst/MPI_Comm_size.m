% MPI_Comm_size: The number of processes of comm.
%
%   n = MPI_Comm_size (comm)
%
% The function is in the MEX file of this name; this file holds its help.
