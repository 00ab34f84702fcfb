% MPI_Abort: Ends all processes of the job at once.
%
%   MPI_Abort, MPI_Abort (comm), MPI_Abort (comm, code)
%
% The exit code of the job is code, or 1.  Before MPI_Init and after MPI_Finalize it is
% an error and ends nothing.
%
% The function is in the MEX file of this name; this file holds its help.
