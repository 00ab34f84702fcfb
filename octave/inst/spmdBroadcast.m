function B = spmdBroadcast(source, A)
% SPMDBROADCAST  Sends a value from one worker to all.
%
%   B = spmdBroadcast(source, A)            at the worker with index source
%   B = spmdBroadcast(source)               at all others
%
% All workers call it, with the same source. Each receives A. What another worker than source gives for A is ignored.
%
% Errors: mpi:rank for a source that is no worker's; mpi:argument when source gives no value.
%
% Example:
%   if spmdIndex == 1, p = spmdBroadcast(1, load('p.mat')); else, p = spmdBroadcast(1); end
%
% labBroadcast is the older name. In the standard: MPI_Bcast, section 6.4.
%
% See also: spmdSend, spmdReduce.
  if nargin < 1
    error('mpi:argument', 'spmdBroadcast: the index of the worker that sends is missing');
  end
  root = spmd_rank('spmdBroadcast', source);
  c = mpi.world();
  if c.rank ~= root
    A = [];
  elseif nargin < 2
    error('mpi:argument', 'spmdBroadcast: worker %d is the source, and gives no value; call spmdBroadcast(%d, A) there', source, source);
  end
  B = c.bcast(A, root);
end

%!assert(spmdBroadcast(1, struct('p', 3)), struct('p', 3))
%!error id=mpi:argument spmdBroadcast()
%!error id=mpi:argument spmdBroadcast(1)
%!error id=mpi:rank spmdBroadcast(2, 5)
