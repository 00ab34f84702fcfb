function B = spmdSendReceive(destination, source, A, tag)
% SPMDSENDRECEIVE  Sends a value to one worker while receiving one from another.
%
%   B = spmdSendReceive(destination, source, A)
%   B = spmdSendReceive(destination, source, A, tag)
%
% As spmdSend(A, destination, tag) and B = spmdReceive(source, tag), so that all workers of a ring can call it at once. tag is 0 when it
% is left out. With destination [] nothing is sent, with source [] nothing is received and B is [].
%
% Errors: mpi:rank for an index that is no worker's.
%
% Example:
%   right = mod(spmdIndex, spmdSize) + 1;  left = mod(spmdIndex - 2, spmdSize) + 1;
%   B = spmdSendReceive(right, left, A);
%
% labSendReceive is the older name. In the standard: MPI_Sendrecv, section 3.10.
%
% See also: spmdSend, spmdReceive.
  if nargin < 3
    error('mpi:argument', 'spmdSendReceive: spmdSendReceive(destination, source, A, tag) needs two workers and a value');
  end
  if nargin < 4
    tag = 0;
  end
  c = mpi.world();
  B = [];
  if ~isempty(source)
    source = spmd_rank('spmdSendReceive', source);
  end
  if ~isempty(destination)
    c.send(A, spmd_rank('spmdSendReceive', destination), tag);
  end
  if ~isempty(source)
    B = c.recv(source, tag);
  end
end

%!assert(spmdSendReceive(1, 1, {'around'}, 4), {'around'})
%!assert(spmdSendReceive([], [], 5), [])
%!error id=mpi:argument spmdSendReceive(1, 1)
%!error id=mpi:rank spmdSendReceive(2, 1, 5)
