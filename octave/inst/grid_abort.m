function grid_abort()
% GRID_ABORT  Ends what grid_run, pRUN or MPI_Run have started, and gives allocated hosts back.
%
%   grid_abort
%
% As MPI_Abort; under Slurm the allocations that bear the name MatMPI and are this user's are
% cancelled as well.
%
% Example: eval(grid_run('program', 8)); grid_abort;
  MPI_Abort();
  config = grid_config();
  if strcmp(config.kind, 'slurm')
    system('scancel --name=MatMPI --user="$(id -un)"');
  end

%!test
%! before = grid_config();
%! grid_config('machines', {});
%! folder = tempname();
%! mkdir(folder);
%! where = cd(folder);
%! unwind_protect
%!   assert(evalc('grid_abort'), sprintf('No pid files found\n'));
%! unwind_protect_cleanup
%!   cd(where);
%!   rmdir(folder);
%!   grid_config('machines', before.machines, 'kind', before.kind);
%! end_unwind_protect
