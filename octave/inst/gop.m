function B = gop(varargin)
% GOP  Combines the values of all workers by a function: gop(fcn, A, destination).
%
%   B = gop(...)
%
% The older name of spmdReduce, with the same arguments: see help spmdReduce.
%
% Example: largest = gop(@max, spmdIndex);
%
% See also: spmdReduce.
  B = spmdReduce(varargin{:});
end

%!assert(gop(@max, [1 2]), [1 2])
%!error id=mpi:argument gop(@max)
