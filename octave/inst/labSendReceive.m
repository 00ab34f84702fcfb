function B = labSendReceive(varargin)
% LABSENDRECEIVE  Sends to one worker while receiving from another: labSendReceive(destination, source, A, tag).
%
%   B = labSendReceive(...)
%
% The older name of spmdSendReceive, with the same arguments: see help spmdSendReceive.
%
% Example: x = labSendReceive(mod(labindex, numlabs) + 1, mod(labindex - 2, numlabs) + 1, labindex);
%
% See also: spmdSendReceive.
  B = spmdSendReceive(varargin{:});
end

%!assert(labSendReceive(1, 1, 'to the next'), 'to the next')
%!error id=mpi:argument labSendReceive(1, 1)
