% HWRESOURCEINFO  Kinds of hardware by which a communicator can be split.
%
%   info = mpi.hwResourceInfo()
%
% info is an mpi.Info: its keys are names for splitType(c, mpi.COMM_TYPE_HW_GUIDED, key, struct('mpi_hw_resource_type', name)), its values
% tell whether this process is bound to one of the kind.
%
% Example: info = mpi.hwResourceInfo(); for k = 0:info.getNkeys() - 1, disp(info.getNthkey(k)), end
%
% Section 9.1.3 of the MPI standard, MPI_Get_hw_resource_info.
%
% See also: mpi.Comm.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(isa(mpi.hwResourceInfo(), 'mpi.Info'))
