function index = spmdIndex()
% SPMDINDEX  The index of this worker, from 1 to spmdSize.
%
%   index = spmdIndex
%
% A process that no launcher has started is the one worker of its job, with index 1. labindex is the older name.
%
% Example:
%   if spmdIndex == 1, spmdSend(magic(4), 2), elseif spmdIndex == 2, A = spmdReceive(1); end
%
% The index is the rank of mpi.world, which counts from 0, plus 1.
%
% See also: spmdSize, spmdSend, mpi.world.
  c = mpi.world();
  index = c.rank + 1;
end

%!assert(spmdIndex, 1)
