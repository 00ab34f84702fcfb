% ABIINFO  What the ABI of the library is like.
%
%   info = mpi.abiInfo()
%
% info is an mpi.Info, with the sizes of types as texts. It can be called before MPI is started.
%
% Example: info = mpi.abiInfo(); for k = 0:info.getNkeys() - 1, disp(info.getNthkey(k)), end
%
% Section 20.2 of the MPI standard, MPI_Abi_get_info.
%
% See also: mpi.abiVersion.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(isa(mpi.abiInfo(), 'mpi.Info'))
