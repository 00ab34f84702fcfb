% MPI_Abort: Ends all processes of the job at once.
%
%   MPI_Abort, MPI_Abort (comm), MPI_Abort (comm, code)
%
% The exit code of the job is code, or 1.
%
% The function is in the MEX file of this name; this file holds its help.
