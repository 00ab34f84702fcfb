function B = gcat(varargin)
% GCAT  Concatenates the arrays of all workers: gcat(A, dimension, destination).
%
%   B = gcat(...)
%
% The older name of spmdCat, with the same arguments: see help spmdCat.
%
% Example: all = gcat(spmdIndex, 2);
%
% See also: spmdCat.
  B = spmdCat(varargin{:});
end

%!assert(gcat([1 2]), [1 2])
%!error id=mpi:argument gcat()
