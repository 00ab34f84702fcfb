function spmdBarrier()
% SPMDBARRIER  Waits until all workers have called it.
%
%   spmdBarrier
%
% Example:
%   if spmdIndex == 1, mkdir('out'); end
%   spmdBarrier
%
% labBarrier is the older name. In the standard: MPI_Barrier, section 6.3.
  c = mpi.world();
  c.barrier();
end

%!test spmdBarrier();
