function yes = finalized()
% FINALIZED  Whether MPI has been finalized.
  [running, yes] = postrider_call('state');
end

%!assert(mpi.finalized(), false)
