classdef Group < handle
% GROUP  An ordered set of processes (section 7.3 of the MPI standard).
%
%   g = c.getGroup();  h = g.incl([0 2 4]);  d = c.create(h);
%   g.getSize(), g.getRank()           mpi.UNDEFINED where this process is none of it
%   incl excl rangeIncl rangeExcl      ranks, or rows [first last step] as the columns of a 3 x n array
%   union intersection difference compare translateRanks(ranks, other)
%
% Example: g = c.getGroup(); d = c.create(g.incl([0 1]));
  properties (SetAccess = private)
    handle
  end
  methods
    n = getSize(g)
    rank = getRank(g)
    h = incl(g, ranks)
    h = excl(g, ranks)
    h = rangeIncl(g, ranges)
    h = rangeExcl(g, ranges)
    h = union(g, other)
    h = intersection(g, other)
    h = difference(g, other)
    result = compare(g, other)
    ranks = translateRanks(g, ranks, other)
    c = createComm(g, name, info)
    c = createIntercomm(g, leader, remotegroup, remoteleader, name, info)
  end
  methods
    function g = Group(handle)
      g.handle = handle;
    end
    function free(g)
      postrider_call('release', g);
      g.handle = 0;
    end
    function disp(g)
      fprintf('  mpi.Group of %d processes\n', g.getSize());
    end
  end
end
