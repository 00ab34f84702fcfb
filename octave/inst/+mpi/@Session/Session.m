classdef Session < handle
% SESSION  A use of MPI of its own (section 11.3 of the MPI standard).
%
%   s = mpi.Session();  g = s.groupFromPset('mpi://WORLD');  c = g.createComm('name');
%   s.getNumPsets(), s.getNthPset(0), s.getPsetInfo(name)
%
% Example: s = mpi.Session(); g = s.groupFromPset('mpi://WORLD'); c = g.createComm('mine'); c.barrier();
  properties (SetAccess = private)
    handle
  end
  methods
    n = getNumPsets(s)
    name = getNthPset(s, n)
    info = getPsetInfo(s, name)
    info = getInfo(s)
    group = groupFromPset(s, name)
    attachBuffer(s, bytes)
    bytes = detachBuffer(s)
    flushBuffer(s)
    request = iflushBuffer(s)
    callErrhandler(s, code)
  end
  methods
    function s = Session(info)
      if nargin == 0
        info = [];
      end
      s.handle = postrider_call('Session.begin', info);
    end
    function free(s)
      postrider_call('release', s);
      s.handle = 0;
    end
  end
end
