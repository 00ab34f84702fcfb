% PROCESSORNAME  The name of the host, or of the processor, that this process runs on.
%
%   name = mpi.processorName()
%
% Example: names = c.gather(mpi.processorName(), 0);
%
% Section 9.1.2 of the MPI standard, MPI_Get_processor_name.
%
% See also: mpi.hwResourceInfo.
%
% The function is in the MEX file of this name; this file holds its help.

%!assert(~isempty(mpi.processorName()))
