classdef Info < handle
% INFO  Keys and texts that tell MPI more (chapter 10 of the MPI standard).
%
%   info = mpi.Info();  info.set('host', 'a');  info.get('host');  info.getNkeys();  info.getNthkey(0);  info.remove('host')
%   info.keys(), info.values()           all of them, in cells
%
% Wherever an info is wanted a struct can be given: c.spawn('worker', {}, 4, struct('wdir', '/tmp')).
%
% Example: i = mpi.Info(); i.set('wdir', pwd()); c.spawn('octave', {'-q', 'worker.m'}, 2, i);
  properties (SetAccess = private)
    handle
  end
  methods
    set(i, key, value)
    value = get(i, key)
    remove(i, key)
    j = dup(i)
    n = getNkeys(i)
    key = getNthkey(i, n)
  end
  methods
    function i = Info(handle)
      if nargin == 0
        made = mpi.createInfo();
        handle = made.handle;
      end
      i.handle = handle;
    end
    function all = keys(i)
      % The keys, in a row of a cell.
      all = cell(1, i.getNkeys());
      for k = 1:numel(all)
        all{k} = i.getNthkey(k - 1);
      end
    end
    function all = values(i)
      % The texts, in the order of the keys.
      all = cellfun(@(key) i.get(key), i.keys(), 'UniformOutput', false);
    end
    function free(i)
      postrider_call('release', i);
      i.handle = 0;
    end
  end
end

%!test
%! info = mpi.Info();
%! info.set('host', 'a');
%! assert(info.get('host'), 'a');
%! assert(info.getNkeys(), 1);
%! assert({info.keys(), info.values()}, {{'host'}, {'a'}});
%! info.remove('host');
%! assert(info.getNkeys(), 0);
%! info.free();
