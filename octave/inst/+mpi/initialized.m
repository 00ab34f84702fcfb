function yes = initialized()
% INITIALIZED  Whether MPI has been started (it may have been finalized since).
%
% Example: started = mpi.initialized();
  yes = postrider_call('state');
end

%!test
%! c = mpi.world;
%! assert(mpi.initialized(), true);
