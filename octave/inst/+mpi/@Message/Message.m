classdef Message < handle
% MESSAGE  A message that a probe has matched, and that nobody else receives (section 3.8.2 of the MPI standard).
%
%   [m, status] = c.mprobe(source, tag);
%   A = m.Recv(zeros(1, status.count('double')));
%
% Example: [m, status] = c.mprobe('*', 7); A = m.Recv(zeros(1, status.count('double')));
  properties (SetAccess = private)
    handle
  end
  methods
    [array, status] = Recv(m, like)
    request = Irecv(m, like)
  end
  methods
    function m = Message(handle)
      m.handle = handle;
    end
  end
end
