function B = labBroadcast(varargin)
% LABBROADCAST  Sends a value from one worker to all: labBroadcast(source, A).
%
%   B = labBroadcast(...)
%
% The older name of spmdBroadcast, with the same arguments: see help spmdBroadcast.
%
% Example: if labindex == 1, x = labBroadcast(1, rand(3)); else, x = labBroadcast(1); end
%
% See also: spmdBroadcast.
  B = spmdBroadcast(varargin{:});
end

%!assert(labBroadcast(1, {'a'}), {'a'})
%!error id=mpi:argument labBroadcast()
