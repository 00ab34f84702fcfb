function varargout = parcellfun(team, f, varargin)
% PARCELLFUN  Calls a function for each element of cells, by several processes.
%
%   y = parcellfun(n, f, x)                 by n workers, which this session starts
%   y = parcellfun(c, f, x)                 by all processes of a communicator, an mpi.Comm, which all call it with the same arguments
%   [y1, y2, ...] = parcellfun(team, f, x1, x2, ...)
%   ... = parcellfun(..., option, value)
%
% f is a function handle or a name; x, x1, x2 are cells of the same size. f is called with what they hold, and y has their size. A process
% gets the next element when it has finished with one, so that it does not matter how long each takes.
%
% Workers are kept for later calls with the same n, and end with the session, or when another n is asked for; mpi.pool has them under
% control. With a communicator, each process has all results; rank 0 computes like the others.
%
% Options:
%   'UniformOutput', true     y is an array, of results that are scalars of one class; with false, y is a cell
%   'ErrorHandler', h         where f fails, h is called instead, with a struct (message, identifier, index) and the arguments of f
%   'VerboseLevel', 0         with 1, a line on standard error says how many elements are done
%   'ChunksPerProc', 0        in how many pieces each process gets its elements; 0 gives them one by one. Few large pieces suit many
%                             elements that take less than a millisecond each
%   'CumFunc', g              y is all results combined: g(g(y1, y2), y3) and so on, in the order of elements; with m results,
%                             g is called with m values and with m more, and returns m. g has to be associative
%
% Errors: without an ErrorHandler, an error of f ends the call at all processes with that error, with its identifier and with the index
% of the element in its message. mpi:worker names a worker that has died; mpi:argument says that an argument cannot be used.
%
% Example:
%   y = parcellfun(4, @(name) numel(fileread(name)), {'a.txt', 'b.txt'});
%   c = mpi.world;  s = parcellfun(c, @simulate, parameters, 'UniformOutput', false);
%
% Names and options are those of the parallel package of Octave.
%
% See also: pararrayfun, mpi.pool, cellfun.
  if nargin < 2
    error('mpi:argument', 'parcellfun: parcellfun(n, f, x) needs a number of processes or an mpi.Comm, a function and a cell');
  end
  varargout = postrider.work.spread(team, postrider.work.request('parcellfun', nargout, f, varargin, true));
end

%!assert(parcellfun(mpi.world, @numel, {'a', 'bcd'}), [1 3])
%!assert(parcellfun(mpi.world, @upper, {'a', 'b'}, 'UniformOutput', false), {'A', 'B'})
%!assert(parcellfun(mpi.world, @(x) x, {1, 2, 3}, 'CumFunc', @plus), 6)

%!test    % By a worker that the session starts.
%! a = 3;
%! assert(parcellfun(1, @(x) x ^ a, {1, 2}), [1 8]);

%!error id=mpi:argument parcellfun(1)
%!error id=mpi:argument parcellfun(0, @sin, {1})
%!error <bad 4 \(element 1\)> parcellfun(mpi.world, @(x) error('my:problem', 'bad %d', x), {4})

%!demo
%! parameters = num2cell(0.1:0.1:0.5);
%! y = parcellfun(2, @(a) quad(@(x) exp(-a * x .^ 2), 0, 1), parameters)
