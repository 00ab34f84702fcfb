% CREATEINFO  An empty mpi.Info; mpi.Info() is the same.
%
%   info = mpi.createInfo()
%
% Wherever an info is wanted, a struct does.
%
% Example: info = mpi.createInfo(); info.set('cb_nodes', '2');
%
% Section 10 of the MPI standard, MPI_Info_create.
%
% See also: mpi.Info, mpi.createInfoEnv.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! info = mpi.createInfo();
%! info.set('cb_nodes', '2');
%! assert(info.get('cb_nodes'), '2');
