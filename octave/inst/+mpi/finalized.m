function yes = finalized()
% FINALIZED  Whether MPI has been finalized.
%
% Example: if ~mpi.finalized(), c = mpi.world; end
  [running, yes] = postrider_call('state');
end

%!assert(mpi.finalized(), false)
