function spmdSend(A, destinations, tag)
% SPMDSEND  Sends a value to one or several workers.
%
%   spmdSend(A, destination)
%   spmdSend(A, destinations, tag)
%
% A is of any kind that can be sent; destinations is the index of a worker, or an array of them; tag is an integer from 0 on, 0 when it
% is left out. The function does not wait until A has been received. Values of a worker arrive in the order in which they were sent.
%
% Errors: mpi:rank for an index that is no worker's, before anything is sent; mpi:argument for a tag that is none.
%
% Example:
%   if spmdIndex == 1, spmdSend({'name', 1:3}, 2:spmdSize), else, x = spmdReceive(1); end
%
% labSend is the older name. In the standard: MPI_Send, section 3.2.
%
% See also: spmdReceive, spmdSendReceive, spmdBroadcast.
  if nargin < 2
    error('mpi:argument', 'spmdSend: spmdSend(A, destinations, tag) needs a value and the indices of workers');
  end
  if nargin < 3 || isempty(tag)
    tag = 0;
  end
  c = mpi.world();
  ranks = zeros(1, numel(destinations));
  for i = 1:numel(destinations)
    ranks(i) = spmd_rank('spmdSend', destinations(i));
  end
  for rank = ranks
    c.send(A, rank, tag);
  end
end

%!test    % In order; a list of workers, here the same one twice.
%! spmdSend('first', [1 1]);
%! spmdSend('second', 1);
%! assert(spmdReceive(1), 'first');
%! assert(spmdReceive(1), 'first');
%! assert(spmdReceive(1), 'second');

%!error id=mpi:argument spmdSend(5)
%!error id=mpi:rank spmdSend(5, 2)
%!error id=mpi:argument spmdSend(5, 1, 0.5)

%!demo
%! spmdSend({'name', magic(3)}, spmdIndex);    % to itself; any worker's index
%! [A, source, tag] = spmdReceive('any')
