% MPI_COMM_WORLD: The communicator of all processes of the job.
%
%   comm = MPI_COMM_WORLD
%
% The function is in the MEX file of this name; this file holds its help.
