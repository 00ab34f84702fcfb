classdef pool < handle
% POOL  Workers that compute for this session: Octave (MATLAB) processes, started when the pool is made.
%
%   p = mpi.pool(n)                         n workers
%   p = mpi.pool(n, info)                   with hints for the start, a struct or an mpi.Info: struct('host', 'a')
%   y = p.map(f, x)                         f of each element of x: see below
%   p.size                                  how many workers it has
%   p.close()                               ends them; so do `clear p` and the end of the session
%
% The session needs no launcher. The workers have its path and its working directory, as they were when the pool was made.
%
%   y = p.map(f, x)
%   [y, z] = p.map(f, x1, x2, ...)
%   ... = p.map(f, x, 'UniformOutput', uniform, 'ErrorHandler', handler, 'VerboseLevel', 1, 'ChunksPerProc', chunks, 'CumFunc', combine)
%
% f is a function handle, or a name, that the workers find on their path, or an anonymous function, which is sent to them together with
% the variables that it has captured. x is an array, and so is y, as by arrayfun; or x is a cell, f is called with what its elements
% hold, and y is a cell. The options are those of parcellfun. Each worker gets the next element when it has finished with one.
%
% Errors: the first error of f that the session hears of ends the call, with its identifier, and with the index of the element in its
% message; elements that other workers are at are finished, and dropped. mpi:worker names a worker that has died, and the element that
% it was at; the pool goes on without it. mpi:argument says that an argument cannot be used.
%
% Example:
%   p = mpi.pool(8);
%   a = 3;
%   y = p.map(@(x) x ^ a, 1:100);
%   names = p.map(@upper, {'a', 'b'});
%
% In the standard: MPI_Comm_spawn, section 11.8, once for each worker, so that one that dies takes no other with it.
%
% See also: parcellfun, pararrayfun, mpi.Comm.
  properties (Dependent, SetAccess = private)
    size
  end
  % Not private, since Octave looks at access also when it deletes objects at its end, where no method is known to run.
  properties (Hidden)
    % Of each worker: inter, the communicator to it; name, in words; process and launcher, the numbers of the two processes; task, the number of the call whose function it has; at, the
    % first and last element that it computes, or [].
    workers
    calls
  end
  methods
    pieces = evaluate(p, job)
  end
  methods
    function p = pool(n, info)
      if nargin < 1 || ~(isnumeric(n) && isscalar(n) && n >= 1 && n == fix(n))
        error('mpi:argument', 'mpi.pool: the number of workers has to be a whole number from 1 on');
      end
      if nargin < 2
        info = [];
      end
      p.calls = 0;
      p.workers = struct('inter', {}, 'name', {}, 'process', {}, 'launcher', {}, 'task', {}, 'at', {});
      try
        for k = 1:n
          p.workers(k) = struct('inter', postrider.work.start(info), 'name', sprintf('worker %d', k), 'process', 0, 'launcher', 0, 'task', 0, 'at', []);
        end
        for k = 1:n
          [p.workers(k).name, p.workers(k).process, p.workers(k).launcher] = postrider.work.greet(p.workers(k));
        end
      catch problem
        p.close();
        rethrow(problem);
      end
    end

    function n = get.size(p)
      n = numel(p.workers);
    end

    function varargout = map(p, f, varargin)
      % The function of each element: see help mpi.pool.
      cells = ~isempty(varargin) && iscell(varargin{1});
      if nargin < 2
        error('mpi:argument', 'pool.map: p.map(f, x) needs a function');
      end
      if cells
        varargin = [varargin, {'UniformOutput', false}];
      end
      job = postrider.work.request('pool.map', nargout, f, varargin, cells);
      varargout = postrider.work.spread(p, job);
    end

    function close(p)
      % Ends the workers. One that still computes, for a call that has ended by an error, is given two seconds for that.
      workers = p.workers;
      p.workers = workers([]);
      for k = 1:numel(workers)
        postrider.work.dismiss(workers(k));
      end
    end

    function delete(p)
      p.close();
    end

    function disp(p)
      fprintf('  mpi.pool: %d workers\n', p.size);
    end
  end
end

%!test
%! p = mpi.pool(1);
%! a = 3;
%! assert(p.map(@(x) x ^ a, 1:4), (1:4) .^ 3);
%! assert(p.map(@upper, {'a', 'b'}), {'A', 'B'});
%! p.close();

%!error id=mpi:argument mpi.pool(0)

%!demo
%! p = mpi.pool(2);
%! a = 3;
%! y = p.map(@(x) x ^ a, 1:6)        % an array gives an array
%! names = p.map(@upper, {'a', 'b'}) % a cell gives a cell
%! p.close();
