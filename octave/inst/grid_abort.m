function grid_abort()
% GRID_ABORT  Ends what grid_run, pRUN or MPI_Run have started, and gives allocated hosts back.
%
%   grid_abort
%
% As MPI_Abort; under Slurm the allocations that bear the name MatMPI and are this user's are
% cancelled as well.
  MPI_Abort();
  config = grid_config();
  if strcmp(config.kind, 'slurm')
    system('scancel --name=MatMPI --user="$(id -un)"');
  end
