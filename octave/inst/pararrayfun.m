function varargout = pararrayfun(team, f, varargin)
% PARARRAYFUN  Calls a function for each element of arrays, by several processes.
%
%   y = pararrayfun(n, f, x)                by n workers, which this session starts
%   y = pararrayfun(c, f, x)                by all processes of a communicator, an mpi.Comm, which all call it with the same arguments
%   [y1, y2, ...] = pararrayfun(team, f, x1, x2, ...)
%   ... = pararrayfun(..., option, value)
%
% As parcellfun, whose options it has, for arrays of the same size instead of cells: f is called with x(1), with x(2) and so on. x may be
% a struct array, or a cell, whose elements f gets as cells. One more option:
%
%   'Vectorized', false       with true, f is called once for each piece that 'ChunksPerProc' makes, with its elements as a column, and
%                             returns as many; so is an ErrorHandler. With a CumFunc, f returns what combines its elements
%
% Example:
%   area = pararrayfun(4, @(a, b) integral(@(x) exp(-x .^ 2), a, b), 0:7, 1:8);
%   y = pararrayfun(4, @(x) x .^ 2, 1:1e5, 'Vectorized', true, 'ChunksPerProc', 4);
%
% Names and options are those of the parallel package of Octave.
%
% See also: parcellfun, mpi.pool, arrayfun.
  if nargin < 2
    error('mpi:argument', 'pararrayfun: pararrayfun(n, f, x) needs a number of processes or an mpi.Comm, a function and an array');
  end
  varargout = postrider.work.spread(team, postrider.work.request('pararrayfun', nargout, f, varargin, false));
end

%!assert(pararrayfun(mpi.world, @(x) x ^ 2, 1:5), (1:5) .^ 2)
%!assert(pararrayfun(mpi.world, @plus, [1 2], [3 4]), [4 6])
%!assert(pararrayfun(mpi.world, @(x) x .^ 2, 1:5, 'Vectorized', true, 'ChunksPerProc', 2), (1:5) .^ 2)
%!error id=mpi:argument pararrayfun(1)
%!error <element> pararrayfun(mpi.world, @(x) error('bad %d', x), 4)
