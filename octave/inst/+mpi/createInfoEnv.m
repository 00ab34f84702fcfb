% CREATEINFOENV  An mpi.Info with what is known of how this program was started.
%
%   info = mpi.createInfoEnv()
%
% Keys are those of the standard, such as command, maxprocs and wdir.
%
% Example: info = mpi.createInfoEnv();
%
% Section 10 of the MPI standard, MPI_Info_create_env.
%
% See also: mpi.createInfo.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(isa(mpi.createInfoEnv(), 'mpi.Info'))
