function S = gplus(varargin)
% GPLUS  The sum of the values of all workers: gplus(A, destination).
%
%   S = gplus(...)
%
% The older name of spmdPlus, with the same arguments: see help spmdPlus.
%
% Example: total = gplus(spmdIndex);
%
% See also: spmdPlus.
  S = spmdPlus(varargin{:});
end

%!assert(gplus(3, 1), 3)
%!error id=mpi:argument gplus()
